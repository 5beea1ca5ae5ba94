//! Tabs of the browser.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use serde_json::json;

use super::{Patience, page::without_secrets};
use crate::action::action;

/// Id of a tab, assigned by the browser.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TabId(#[schemars(length(min = 1, max = 64))] pub String);

/// List, open, close or activate tabs of the session's browser.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tabs {
    /// What to do; defaults to `list`.
    #[serde(default)]
    pub action: TabAction,
    /// Tab to close or to activate; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Address for a new tab.
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
    /// List the tabs.
    #[default]
    List,
    /// Open a new tab and activate it.
    Open,
    /// Close a tab.
    Close,
    /// Activate a tab.
    Activate,
}

/// All tabs, after the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TabList {
    /// In the order in which they were opened.
    pub tabs: Vec<Tab>,
}

/// One tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tab {
    /// Id of the tab.
    pub id: TabId,
    /// Address of its page.
    pub url: String,
    /// Title of its page.
    pub title: String,
    /// Whether calls without a tab use this one.
    pub active: bool,
}
