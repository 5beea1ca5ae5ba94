//! Tabs of the browser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use serde_json::json;

use super::{Patience, page::without_secrets};
use crate::action::action;

/// A tab, by the browser's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TabId(#[schemars(length(min = 1, max = 64))] pub String);

/// List, open, close or bring to the front tabs of the session's browser.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tabs {
    /// What to do; `list` if not given.
    #[serde(default)]
    pub action: TabAction,
    /// Which tab to close or to bring to the front; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// What a new tab shall show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100_000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: Option<String>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Tabs, "browser_tabs", TabList,
drives |this: &Self| this.action != TabAction::List,
lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "action": this.action, "tab": this.tab, "url": this.url.as_deref().map(without_secrets),
}));

/// What to do with tabs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TabAction {
    /// Say which there are.
    #[default]
    List,
    /// Open another, which becomes the active one.
    Open,
    /// Close one.
    Close,
    /// Make one the active one.
    Activate,
}

/// All tabs, after whatever was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TabList {
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
}

/// One tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// Its name.
    pub id: TabId,
    /// What it shows.
    pub url: String,
    /// The title of that.
    pub title: String,
    /// Whether calls that name no tab mean this one.
    pub active: bool,
}
