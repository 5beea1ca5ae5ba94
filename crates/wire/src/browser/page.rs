//! Actions on whole pages: navigate, wait, read, take pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Patience, Selector, TabId};
use crate::{
    action::action,
    screen::{Format, Picture},
    vendor_size::SizeRule,
};

/// Navigate the session's browser to an address, and wait until the page is loaded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Navigate {
    /// The address. Without a scheme, `https://` is added, or `http://` for localhost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100_000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: Option<String>,
    /// A step in the history instead of an address: `back`, `forward` or `reload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// When the page counts as loaded.
    #[serde(default)]
    pub wait_until: Until,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Navigate, "browser_navigate", Navigated,
lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "url": this.url.as_deref().map(without_secrets), "history": this.history, "tab": this.tab,
}));

/// A URL without its possible secrets: user info, query and fragment. Of `data:`, `javascript:` and
/// `blob:` URLs only the scheme is left.
pub fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let shown = url.get(..end).unwrap_or_default();
    match shown.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => {
            let lower = shown.to_ascii_lowercase();
            let whole = ["data:", "javascript:", "blob:"];
            match whole.iter().find(|scheme| lower.starts_with(**scheme)) {
                Some(scheme) => (*scheme).to_owned(),
                // An address without a scheme can hold user info, too.
                None => shown.rsplit('@').next().unwrap_or_default().to_owned(),
            }
        }
    }
}

/// A step in a tab's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// The previous page.
    Back,
    /// The next page.
    Forward,
    /// Load the same page again.
    Reload,
}

/// When a page counts as loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// When images and style sheets are loaded.
    #[default]
    Load,
    /// When the document is parsed.
    Dom,
    /// When the page is loaded and the network was idle for half a second.
    NetworkIdle,
}

/// The page after a navigation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Navigated {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The page's title.
    pub title: String,
    /// HTTP status of the page's response, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether a stored credential was used.
    pub vault: Vault,
}

/// Whether a stored credential was used.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Vault {
    /// Whether a stored credential matches the page.
    pub matched: bool,
}

/// What every browser action reports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acted {
    /// Always true; failures are error bodies.
    pub ok: bool,
    /// The tab's address after the action.
    pub url: String,
    /// The tab that was used.
    #[schemars(with = "String")]
    pub tab: Option<TabId>,
    /// Tabs that opened during the action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<TabId>,
    /// Dialogs that opened during the action, and how they were answered. A dialog never blocks a
    /// call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// Downloads into the home's `Downloads` that started or completed during the action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Downloaded>,
}

/// A dialog of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dialog {
    /// Kind of dialog.
    pub kind: DialogKind,
    /// Text of the dialog.
    pub message: String,
    /// Whether it was answered with OK.
    pub accepted: bool,
}

/// A kind of dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DialogKind {
    /// Shows a message. Always accepted.
    Alert,
    /// Asks a question. Dismissed unless the action accepts dialogs.
    Confirm,
    /// Asks for a text. Dismissed unless the action accepts dialogs.
    Prompt,
    /// Asks whether to leave the page. Always accepted.
    Beforeunload,
}

/// A file that the browser downloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Downloaded {
    /// Path of the file, relative to the session's home.
    pub path: String,
    /// Whether the download is complete.
    pub complete: bool,
    /// Size in bytes, once complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// Take a picture of the page, without the browser's own controls.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageScreenshot {
    /// The whole page instead of the viewport.
    #[serde(default)]
    pub full_page: bool,
    /// Only this element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Encoding of the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
    /// Scale down to the size that models of this vendor see as it is, or to given limits. The scale
    /// is in a header.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub size_rule: Option<SizeRule>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser PageScreenshot, "browser_screenshot", Picture,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// Run JavaScript in the page and return its result. Promises are awaited.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Execute {
    /// An expression, or statements with `return`.
    #[schemars(length(min = 1, max = 1_000_000))]
    #[schemars(extend("x-missing" = "missing_script"))]
    pub script: String,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Execute, "browser_execute", Executed, lasts |this: &Self| this.timeout_s.duration(),
    kept |this: &Self| json!({ "characters": this.script.chars().count() }));

/// Result of a script.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The result as JSON; null if JSON cannot represent it.
    pub result: Value,
}

/// Wait for something on the page. All given conditions must hold at once.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitFor {
    /// Wait until this element is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Wait until this text is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: Option<String>,
    /// Wait until element and text are *not* visible instead.
    #[serde(default)]
    pub gone: bool,
    /// Wait until the address contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: Option<String>,
    /// Wait until the network was idle for half a second.
    #[serde(default)]
    pub network_idle: bool,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser WaitFor, "browser_wait_for", Waited,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// The conditions hold.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PageWaited")]
pub struct Waited {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// Time spent waiting.
    pub waited_ms: u64,
}

/// Read the page as an accessibility tree: roles, names, values, and refs to act on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Return only changes since the snapshot with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Only this element and its descendants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Maximum size in bytes; defaults to 50,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 500, max = 1_000_000))]
    pub max_bytes: Option<u32>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Snapshot, "browser_snapshot", SnapshotText,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// A snapshot.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotText {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// Pass it as `since` to get only the changes.
    pub id: u64,
    /// The page's title.
    pub title: String,
    /// One indented line for each element: `button "Save" [ref=e12]`. Long snapshots cut long texts
    /// and mark them with `…`.
    pub snapshot: String,
    /// Whether the snapshot holds only changes.
    pub delta: bool,
    /// Whether the snapshot was cut at `max_bytes`.
    pub truncated: bool,
}

/// Read the page's text as Markdown.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Markdown {
    /// Only this element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Maximum size in bytes; defaults to 200,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 500, max = 10_000_000))]
    pub max_bytes: Option<u32>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Markdown, "browser_markdown", MarkdownText,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// A page as Markdown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MarkdownText {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The page's title.
    pub title: String,
    /// The Markdown.
    pub content: String,
    /// Whether the text was cut at `max_bytes`.
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn an_address_is_kept_without_its_secrets() {
        for (url, kept) in [
            ("https://a.example/b/c?token=x#y", "https://a.example/b/c"),
            ("https://me:secret@a.example/b@c", "https://a.example/b@c"),
            ("a.example/b?c", "a.example/b"),
            ("data:text/html,<b>secret", "data:"),
            ("me:secret@a.example/b", "a.example/b"),
            ("JavaScript:steal(1)", "javascript:"),
            ("about:blank", "about:blank"),
        ] {
            assert_eq!(without_secrets(url), kept);
        }
    }
}
