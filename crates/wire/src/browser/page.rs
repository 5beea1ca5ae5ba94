//! Whole pages: going there, waiting, reading, looking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Patience, Selector, TabId};
use crate::{
    action::action,
    screen::{Format, Picture},
};

/// Go to an address in the session's browser, and wait until it is loaded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Navigate {
    /// Where to; `https://` is added if there is no scheme, `http://` for localhost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100_000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: Option<String>,
    /// Instead of an address: `back`, `forward` or `reload`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// How far to wait.
    #[serde(default)]
    pub wait_until: Until,
    /// Which tab; the active one if not given.
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

/// An address less what may be a secret in it: user, query and fragment, and all of one that is data.
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
                // A user may stand before a host that has no scheme.
                None => shown.rsplit('@').next().unwrap_or_default().to_owned(),
            }
        }
    }
}

/// A step in the history of a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// The page before.
    Back,
    /// The page after.
    Forward,
    /// The same page again.
    Reload,
}

/// When a page counts as there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// With its pictures and styles.
    #[default]
    Load,
    /// When its document is read.
    Dom,
    /// When nothing was transferred for half a second after the load.
    NetworkIdle,
}

/// Where the browser is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Navigated {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The page's title.
    pub title: String,
    /// The status of the page's HTTP response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether a stored credential was used.
    pub vault: Vault,
}

/// Whether a stored credential was used.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Vault {
    /// Whether one fits the page.
    pub matched: bool,
}

/// What every action of the browser tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acted {
    /// Always true; failures are error bodies.
    pub ok: bool,
    /// The address of the tab afterwards.
    pub url: String,
    /// Which tab.
    #[schemars(with = "String")]
    pub tab: Option<TabId>,
    /// Tabs that opened meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<TabId>,
    /// Dialogs that appeared meanwhile, and how they were answered: a dialog never holds a call up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialogs: Vec<Dialog>,
    /// Files that began to be downloaded meanwhile, or became complete, in `Downloads` of the session's home.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<Downloaded>,
}

/// A dialog of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dialog {
    /// Which kind.
    pub kind: DialogKind,
    /// What it said.
    pub message: String,
    /// Whether it was answered with OK.
    pub accepted: bool,
}

/// A kind of dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DialogKind {
    /// Says something. Accepted.
    Alert,
    /// Asks a question. Dismissed, unless the action says otherwise.
    Confirm,
    /// Asks for a text. Dismissed, unless the action says otherwise.
    Prompt,
    /// Asks whether the page may be left. Accepted.
    Beforeunload,
}

/// A file that the browser downloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Downloaded {
    /// Where it is or will be, from the session's home on.
    pub path: String,
    /// Whether all of it is there.
    pub complete: bool,
    /// How many bytes it has, once complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A picture of the page alone, without the browser around it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageScreenshot {
    /// All of the page instead of what is in view.
    #[serde(default)]
    pub full_page: bool,
    /// Only this element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// How to encode it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser PageScreenshot, "browser_screenshot", Picture,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// Run JavaScript in the page, and answer with what it yields; promises are awaited.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Execute {
    /// An expression, or statements with `return`.
    #[schemars(length(min = 1, max = 1_000_000))]
    #[schemars(extend("x-missing" = "missing_script"))]
    pub script: String,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Execute, "browser_execute", Executed, lasts |this: &Self| this.timeout_s.duration(),
    kept |this: &Self| json!({ "characters": this.script.chars().count() }));

/// What a script yielded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// As JSON; null for what JSON cannot say.
    pub result: Value,
}

/// Wait for something on the page. What is given must all hold at once.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitFor {
    /// This element is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// This text is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: Option<String>,
    /// With true: element and text are *not* visible.
    #[serde(default)]
    pub gone: bool,
    /// The address contains this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: Option<String>,
    /// Nothing was transferred for half a second.
    #[serde(default)]
    pub network_idle: bool,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser WaitFor, "browser_wait_for", Waited,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// What was waited for has come.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PageWaited")]
pub struct Waited {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// How long it took.
    pub waited_ms: u64,
}

/// The page as a tree of what it means: roles, names, values, with refs to act on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Only what has changed since the snapshot with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Only this element and what is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// The most bytes; 50,000 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 500, max = 1_000_000))]
    pub max_bytes: Option<u32>,
    /// Which tab; the active one if not given.
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
    /// For `since`.
    pub id: u64,
    /// The page's title.
    pub title: String,
    /// One line for each element, indented: `button "Save" [ref=e12]`. In a long one, long texts are
    /// cut, with `…` at the end.
    pub snapshot: String,
    /// Whether it is only what has changed.
    pub delta: bool,
    /// Whether there is more than `max_bytes`.
    pub truncated: bool,
}

/// The page's text as Markdown, for reading.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Markdown {
    /// Only this element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// The most bytes; 200,000 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 500, max = 10_000_000))]
    pub max_bytes: Option<u32>,
    /// Which tab; the active one if not given.
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
    /// The text.
    pub content: String,
    /// Whether there is more than `max_bytes`.
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
