//! The tabs of a browser. Pure: fed by events.

use helmdeck_cdp::SessionId;
use helmdeck_wire::browser::{Tab, TabId};
use serde::Deserialize;

use crate::{context::Context, page::Page};

/// Pages of the browser itself that count as tabs.
const NEW_TAB: [&str; 4] = [
    "chrome://newtab",
    "chrome://new-tab-page",
    "chrome://new-tab-page-third-party",
    "chrome-search://",
];
/// Prefixes of pages that belong to the browser itself.
const INTERNAL: [&str; 4] =
    ["chrome://", "devtools://", "chrome-extension://", "chrome-untrusted://"];

/// A target as the browser describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Target {
    pub target_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub subtype: Option<String>,
    #[serde(rename = "browserContextId", default)]
    pub context: Context,
}

impl Target {
    /// Whether a person would call it a tab.
    pub fn is_tab(&self) -> bool {
        let page = self.kind == "page" && self.subtype.as_ref().is_none_or(String::is_empty);
        let begins = |prefix: &&str| self.url.starts_with(*prefix);
        page && (!INTERNAL.iter().any(begins) || NEW_TAB.iter().any(begins))
    }
}

/// The tabs, in the order in which they were opened.
#[derive(Default)]
pub(crate) struct Tabs {
    pages: Vec<Known>,
    /// The tab that was last opened or activated through us.
    chosen: Option<TabId>,
    /// The tab the agent used when a person took control.
    agents: Option<TabId>,
}

struct Known {
    page: Page,
    target: Target,
    /// A target that was a tab once stays one, whatever it shows later.
    tab: bool,
}

impl Tabs {
    pub fn attached(&mut self, page: Page, target: Target) {
        let tab = target.is_tab();
        self.pages.retain(|known| known.page.tab() != page.tab());
        self.pages.push(Known { page, target, tab });
    }

    /// Updates a target; returns whether anything changed.
    pub fn changed(&mut self, target: Target) -> bool {
        let mut pages = self.pages.iter_mut();
        let known = pages.find(|known| known.target.target_id == target.target_id);
        let Some(known) = known.filter(|known| known.target != target) else { return false };
        known.tab |= target.is_tab();
        known.target = target;
        true
    }

    pub fn detached(&mut self, session: &SessionId) {
        self.pages.retain(|known| known.page.session() != session);
    }

    pub fn choose(&mut self, tab: &TabId) {
        self.chosen = Some(tab.clone());
    }

    /// Remembers the active tab when a person takes control.
    pub fn remember(&mut self) {
        if self.agents.is_none() {
            self.agents = self.active().map(|page| page.tab().clone());
        }
    }

    /// Forgets the remembered tab: the agent chose one.
    pub fn forget(&mut self) {
        self.agents = None;
    }

    /// Makes the remembered tab active again when the agent continues. Returns it if it still
    /// exists and another tab was active.
    pub fn left(&mut self) -> Option<TabId> {
        let tab = self.agents.take()?;
        self.find(&tab)?;
        self.active().filter(|page| *page.tab() != tab)?;
        self.choose(&tab);
        Some(tab)
    }

    pub fn find(&self, tab: &TabId) -> Option<Page> {
        self.tabs().find(|known| known.page.tab() == tab).map(|known| known.page.clone())
    }

    /// The tab for calls that name none.
    pub fn active(&self) -> Option<Page> {
        let chosen = self.chosen.as_ref().and_then(|chosen| self.find(chosen));
        chosen.or_else(|| self.tabs().last().map(|known| known.page.clone()))
    }

    /// All attached pages, tabs or not.
    pub fn pages(&self) -> Vec<Page> {
        self.pages.iter().map(|known| known.page.clone()).collect()
    }

    pub fn list(&self) -> Vec<Tab> {
        let active = self.active().map(|page| page.tab().clone());
        let tab = |known: &Known| Tab {
            id: known.page.tab().clone(),
            url: known.target.url.clone(),
            title: known.target.title.clone(),
            active: active.as_ref() == Some(known.page.tab()),
        };
        self.tabs().map(tab).collect()
    }

    fn tabs(&self) -> impl Iterator<Item = &Known> {
        self.pages.iter().filter(|known| known.tab)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_browser_itself_are_not_tabs() {
        let target = |kind: &str, url: &str| Target {
            target_id: "1".into(),
            kind: kind.into(),
            title: String::new(),
            url: url.into(),
            subtype: None,
            context: Context::default(),
        };
        for url in ["about:blank", "https://a.example/", "chrome://newtab/", "data:text/html,a", ""]
        {
            assert!(target("page", url).is_tab(), "{url}");
        }
        for url in ["devtools://devtools/a", "chrome://settings/", "chrome-extension://a/b.html"] {
            assert!(!target("page", url).is_tab(), "{url}");
        }
        assert!(!target("iframe", "https://a.example/").is_tab());
        let prerendered =
            Target { subtype: Some("prerender".into()), ..target("page", "https://a/") };
        assert!(!prerendered.is_tab());
    }
}
