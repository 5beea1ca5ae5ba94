//! Exports and imports the signed-in state: cookies, and the local storage of sites.
//!
//! Errors name the cookie or site, never its content.

use std::{collections::BTreeSet, time::Instant};

use helmdeck_wire::browser::{
    Cookie, CookieDomain, ExportState, ImportState, Imported, Origin, OriginStorage, SameSite,
    StorageItem, StorageState,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use crate::{BrowserError, hidden_page::Hidden, running::Running};

/// Limit on the storage of all sites together.
const MAX_BYTES: usize = 64 << 20;

const READ: &str = "() => Object.keys(localStorage)
    .map((name) => ({ name, value: localStorage.getItem(name) }))";
const WRITE: &str = "(items) => {
    try { for (const { name, value } of items) localStorage.setItem(name, value); return true }
    catch { return false } }";

/// A cookie as the browser reports it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportedCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    expires: f64,
    session: bool,
    http_only: bool,
    secure: bool,
    #[serde(default)]
    same_site: SameSite,
    #[serde(default)]
    partition_key: Option<PartitionKey>,
    #[serde(default)]
    partition_key_opaque: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartitionKey {
    top_level_site: String,
    has_cross_site_ancestor: bool,
}

#[derive(Deserialize)]
struct All {
    cookies: Vec<ReportedCookie>,
}

impl Running {
    /// Exports all cookies of the active tab's context, and the storage of the open and the
    /// requested origins.
    pub async fn export(
        &self,
        export: &ExportState,
        deadline: Instant,
    ) -> Result<StorageState, BrowserError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let context = self.context();
        let params = context.about(json!({}));
        let all: All = self.cdp.call(None, "Storage.getCookies", params, left).await?;
        let cookies = all.cookies.into_iter().filter_map(described).collect();
        let mut wanted: BTreeSet<Origin> = export.origins.iter().cloned().collect();
        let pages = self.known.tabs.lock().pages();
        for page in pages.iter().filter(|page| *page.context() == context) {
            wanted.extend(page.frames().iter().filter_map(|frame| Origin::of(&frame.url)));
        }
        let mut origins = Vec::new();
        let mut room = MAX_BYTES;
        let mut hidden = Hidden::open(&self.cdp, &context, deadline).await?;
        for origin in wanted {
            if !hidden.go(&origin).await? {
                let at = export.origins.iter().position(|named| *named == origin);
                let field = at.map_or("origins".to_owned(), |at| format!("origins[{at}]"));
                let why = format!("{UNKNOWN}: {}", origin.as_str());
                return Err(BrowserError::Field { field, why });
            }
            let local_storage: Vec<StorageItem> = hidden.run(READ, ()).await?;
            let size: usize =
                local_storage.iter().map(|item| item.name.len() + item.value.len()).sum();
            room = room.checked_sub(size).ok_or(BrowserError::Invalid {
                field: "origins",
                message: "the sites' storage exceeds 64 MiB; close pages, or name fewer origins",
            })?;
            if !local_storage.is_empty() {
                origins.push(OriginStorage { origin, local_storage });
            }
        }
        Ok(StorageState { cookies, origins })
    }

    /// Sets cookies and site storage in the active tab's context. Nothing changes if a cookie or an
    /// origin is invalid.
    pub async fn import(
        &self,
        import: &ImportState,
        deadline: Instant,
    ) -> Result<Imported, BrowserError> {
        let StorageState { cookies, origins } = &import.state;
        let context = self.context();
        let mut hidden = Hidden::open(&self.cdp, &context, deadline).await?;
        let settable: Vec<Value> = cookies.iter().map(settable).collect();
        if !settable.is_empty() && !hidden.takes(&settable).await? {
            return Err(refused(&hidden, cookies, &settable).await?);
        }
        let of = |index: usize| format!("state.origins[{index}]");
        for (index, stored) in origins.iter().enumerate() {
            if !hidden.go(&stored.origin).await? {
                return Err(BrowserError::Field { field: of(index), why: UNKNOWN.to_owned() });
            }
        }
        let left = || deadline.saturating_duration_since(Instant::now());
        if import.replace {
            let params = context.about(json!({}));
            self.cdp.call::<IgnoredAny>(None, "Storage.clearCookies", params, left()).await?;
            let everything = json!({ "origin": "*", "storageTypes": "all" });
            hidden.call::<IgnoredAny>("Storage.clearDataForOrigin", everything).await?;
        }
        if !settable.is_empty() {
            let params = context.about(json!({ "cookies": settable }));
            self.cdp.call::<IgnoredAny>(None, "Storage.setCookies", params, left()).await?;
        }
        for (index, stored) in origins.iter().enumerate() {
            let there = hidden.go(&stored.origin).await?;
            if !there || !hidden.run::<bool>(WRITE, &stored.local_storage).await? {
                let why = "this exceeds the browser's storage limit for one site".to_owned();
                return Err(BrowserError::Field { field: of(index), why });
            }
        }
        Ok(Imported { ok: true, cookies: cookies.len(), origins: origins.len() })
    }
}

const UNKNOWN: &str = "the browser cannot open this origin";

/// Finds the cookie that the browser refuses.
async fn refused(
    hidden: &Hidden,
    cookies: &[Cookie],
    settable: &[Value],
) -> Result<BrowserError, BrowserError> {
    for (index, (cookie, value)) in cookies.iter().zip(settable).enumerate() {
        if !hidden.takes(std::slice::from_ref(value)).await? {
            let field = format!("state.cookies[{index}]");
            let why = format!(
                "the browser refuses the cookie {:?} of {}: check its name and value, and that \
                 domain, path and secure fit together",
                cookie.name,
                cookie.domain.as_str(),
            );
            return Ok(BrowserError::Field { field, why });
        }
    }
    Ok(BrowserError::Field {
        field: "state.cookies".to_owned(),
        why: "the browser refuses these cookies together".to_owned(),
    })
}

/// A cookie in export format. Cookies bound to this browser are left out.
fn described(told: ReportedCookie) -> Option<Cookie> {
    if told.partition_key_opaque {
        return None;
    }
    let (site, ancestor) = match told.partition_key {
        Some(key) => (Some(key.top_level_site), Some(key.has_cross_site_ancestor)),
        None => (None, None),
    };
    Some(Cookie {
        name: told.name,
        value: told.value,
        domain: CookieDomain::new(told.domain)?,
        path: told.path,
        expires: if told.session { -1.0 } else { told.expires },
        http_only: told.http_only,
        secure: told.secure,
        same_site: told.same_site,
        partition_key: site,
        cross_site_ancestor: ancestor,
    })
}

/// A cookie in the format for setting it.
fn settable(cookie: &Cookie) -> Value {
    let mut facts = json!({
        "name": cookie.name,
        "value": cookie.value,
        "path": cookie.path,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": cookie.same_site,
    });
    let Some(set) = facts.as_object_mut() else { return facts };
    match cookie.domain.host() {
        // A host-only cookie. With a domain, it would also apply to subdomains.
        Some(host) => {
            let scheme = if cookie.secure { "https" } else { "http" };
            set.insert("url".to_owned(), format!("{scheme}://{host}/").into());
        }
        None => {
            set.insert("domain".to_owned(), cookie.domain.as_str().into());
        }
    }
    if cookie.expires >= 0.0 {
        set.insert("expires".to_owned(), cookie.expires.into());
    }
    if let Some(site) = &cookie.partition_key {
        let ancestor = cookie.cross_site_ancestor.unwrap_or_default();
        let key = json!({ "topLevelSite": site, "hasCrossSiteAncestor": ancestor });
        set.insert("partitionKey".to_owned(), key);
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_set_for_its_original_hosts() {
        let cookie = |value| settable(&serde_json::from_value(value).unwrap());
        let host = cookie(json!({
            "name": "a", "value": "1", "domain": "x.example", "path": "/p", "secure": true,
            "expires": -1, "sameSite": "Strict",
        }));
        assert_eq!(host["url"], "https://x.example/");
        assert_eq!((&host["path"], &host["sameSite"]), (&json!("/p"), &json!("Strict")));
        assert!(host.get("expires").is_none() && host.get("domain").is_none());
        let domain = cookie(json!({
            "name": "a", "value": "1", "domain": ".x.example", "expires": 9,
            "partitionKey": "https://top.example", "_crHasCrossSiteAncestor": true,
        }));
        assert_eq!((&domain["domain"], &domain["expires"]), (&json!(".x.example"), &json!(9.0)));
        assert_eq!(domain["partitionKey"]["hasCrossSiteAncestor"], true);
        assert!(domain.get("url").is_none());
    }
}
