//! Who is signed in: cookies and what sites have stored, in the shape of Playwright's
//! `storageState`. All of it is secret.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::json;

use super::Patience;
use crate::action::action;

/// The most cookies, the most sites, and the most that one of them may have stored.
const MAX_COOKIES: usize = 5000;
const MAX_ORIGINS: usize = 200;
const MAX_ITEMS: usize = 10_000;

/// Read the browser's cookies and the local storage of its sites, in the shape of Playwright's
/// `storageState`: it holds the browser's logins, so treat it as a password.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportState {
    /// Sites to look into besides those of open pages and frames, such as `https://example.com`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub origins: Vec<Origin>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser ExportState, "browser_export_state", StorageState,
    lasts |this: &Self| this.timeout_s.duration());

/// Give the browser cookies and local storage that it, another session or Playwright has exported.
/// Pages that are open see the cookies with their next request; reload them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportState {
    /// What was exported.
    #[schemars(extend("x-secret" = true))]
    pub state: StorageState,
    /// Forget all cookies and all that sites have stored first. With an empty state, that is all.
    #[serde(default)]
    pub replace: bool,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser ImportState, "browser_import_state", Imported,
lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "cookies": this.state.cookies.len(), "origins": this.state.origins.len(),
    "replace": this.replace,
}));

/// How much was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// Always true; failures are error bodies.
    pub ok: bool,
    /// Cookies.
    pub cookies: usize,
    /// Sites whose local storage was written.
    pub origins: usize,
}

/// Cookies and local storage, as in Playwright's `storageState`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageState {
    /// Every cookie.
    #[serde(default, deserialize_with = "at_most::<MAX_COOKIES, _, _>")]
    #[schemars(length(max = 5000))]
    pub cookies: Vec<Cookie>,
    /// Local storage, site by site.
    #[serde(default, deserialize_with = "at_most::<MAX_ORIGINS, _, _>")]
    #[schemars(length(max = 200))]
    pub origins: Vec<OriginStorage>,
}

impl fmt::Debug for StorageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cookies, {} origins", self.cookies.len(), self.origins.len())
    }
}

/// A cookie.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host it is for; with a dot before it, also those below.
    pub domain: CookieDomain,
    /// The paths it is for begin like this.
    #[serde(default = "root")]
    pub path: String,
    /// When it ends, in seconds since 1970; -1 for one that ends with the browser.
    #[serde(default = "never")]
    pub expires: f64,
    /// Whether it is hidden from scripts.
    #[serde(default)]
    pub http_only: bool,
    /// Whether it is for https only.
    #[serde(default)]
    pub secure: bool,
    /// When requests from other sites carry it.
    #[serde(default)]
    pub same_site: SameSite,
    /// The site that must be in the address bar, for one that is kept apart for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
    /// Whether another site is in between there.
    #[serde(default, rename = "_crHasCrossSiteAncestor", skip_serializing_if = "Option::is_none")]
    pub cross_site_ancestor: Option<bool>,
}

fn root() -> String {
    "/".to_owned()
}

fn never() -> f64 {
    -1.0
}

/// When requests from other sites carry a cookie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SameSite {
    /// Never.
    Strict,
    /// When a link is followed.
    #[default]
    Lax,
    /// Always.
    None,
}

/// A host, perhaps with a dot before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct CookieDomain(
    #[schemars(length(min = 1, max = 255), regex(pattern = "^[A-Za-z0-9._:\\[\\]-]+$"))] String,
);

impl CookieDomain {
    /// A domain of the browser's own.
    pub fn new(domain: String) -> Option<Self> {
        is_host(&domain).then_some(Self(domain))
    }

    /// The host, if it is for that one alone.
    pub fn host(&self) -> Option<&str> {
        (!self.0.starts_with('.')).then_some(&self.0)
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for CookieDomain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = || D::Error::custom("expected a host, such as example.com");
        Self::new(String::deserialize(deserializer)?).ok_or_else(expected)
    }
}

fn is_host(text: &str) -> bool {
    let of_hosts = |c: char| c.is_ascii_alphanumeric() || "._:[]-".contains(c);
    (1..=255).contains(&text.len()) && text.chars().all(of_hosts)
}

/// What a site has stored.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OriginStorage {
    /// Which site.
    pub origin: Origin,
    /// Name by name.
    #[serde(default, deserialize_with = "at_most::<MAX_ITEMS, _, _>")]
    #[schemars(length(max = 10_000))]
    pub local_storage: Vec<StorageItem>,
}

/// One thing that a site has stored.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageItem {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A site as browsers tell them apart: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Origin(
    #[schemars(
        length(min = 8, max = 263),
        regex(pattern = "^https?://[A-Za-z0-9._\\[\\]-][A-Za-z0-9._:\\[\\]-]{0,254}$"),
        extend("x-expected" = "http or https, host and port alone: https://example.com")
    )]
    String,
);

impl Origin {
    /// The site of an address, if it has one whose pages store things.
    pub fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        let host = host.rsplit('@').next()?;
        Self::new(format!("{scheme}://{host}"))
    }

    fn new(text: String) -> Option<Self> {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        (is_host(host) && !host.starts_with(':')).then_some(Self(text))
    }

    /// As it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected =
            || D::Error::custom("expected http or https, host and port alone: https://example.com");
        Self::new(String::deserialize(deserializer)?).ok_or_else(expected)
    }
}

/// A list that is not too long.
fn at_most<'de, const MOST: usize, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let list = Vec::<T>::deserialize(deserializer)?;
    match list.len() {
        length if length > MOST => {
            Err(D::Error::custom(format!("{length} items: expected at most {MOST}")))
        }
        _ => Ok(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_scheme_host_and_port() {
        for good in ["https://example.com", "http://127.0.0.1:8080", "http://[::1]:5"] {
            assert!(serde_json::from_value::<Origin>(json!(good)).is_ok(), "{good}");
        }
        for bad in ["example.com", "https://a/b", "https://a/", "ftp://a", "https://", "https://é"]
        {
            assert!(serde_json::from_value::<Origin>(json!(bad)).is_err(), "{bad}");
        }
        let origin = |url| Origin::of(url).map(|origin| origin.0);
        assert_eq!(origin("https://me:x@a.example:1/b@c?d"), Some("https://a.example:1".into()));
        assert_eq!(origin("about:blank"), None);
        assert_eq!(origin("file:///etc/hosts"), None);
    }

    #[test]
    fn what_is_kept_of_an_import_is_how_much_it_was() {
        let cookie = json!({ "name": "sid", "value": "secret", "domain": "a.example" });
        let local = json!([{ "name": "token", "value": "secret" }]);
        let origins = json!([{ "origin": "https://a.example", "localStorage": local }]);
        let import: ImportState =
            serde_json::from_value(json!({ "state": { "cookies": [cookie], "origins": origins } }))
                .unwrap();
        let kept = crate::Action::detail(&import);
        assert_eq!(kept, json!({ "cookies": 1, "origins": 1, "replace": false }));
        assert!(!format!("{import:?}").contains("secret"));
    }
}
