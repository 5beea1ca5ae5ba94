//! What happened, as the applications themselves tell: logs of programs and pages, requests at the
//! site, and Chromium's own list of pages. Nothing here uses what observed actions report.

use std::time::Duration;

use helmdeck_testkit::eventually;
use serde_json::json;

use super::{
    case::{App, Case, Fact},
    stage::{ASK_OFFICE, Stage, Tried},
};

/// The kind whose action gives the keyboard to the browser itself.
const ADDRESS_BAR: &str = "address-bar";
/// How long a request may take to arrive at the site.
const ARRIVAL: Duration = Duration::from_millis(700);

impl Stage<'_> {
    /// Forgets what the preparation logged. Returns what is compared afterwards.
    pub(super) async fn clear_log(&self, case: &Case) -> Tried<String> {
        match case.app {
            App::Chromium => {
                self.testbed.pages.clear();
                self.browser("execute", json!({ "script": "log.length = 0" })).await?;
                Ok(String::new())
            }
            App::Gtk | App::Xterm => self.shell(&format!("cat {}", self.log_name())).await,
            App::LibreOffice => self.shell(&format!("{ASK_OFFICE} state")).await,
        }
    }

    /// What the application logged since then.
    pub(super) async fn read_log(&self, case: &Case, before: &str) -> Tried<Vec<String>> {
        match case.app {
            App::Chromium => self.read_page_log(case).await,
            App::Gtk | App::Xterm => {
                let text = self.shell(&format!("cat {}", self.log_name())).await?;
                Ok(text.lines().skip(before.lines().count()).map(str::to_owned).collect())
            }
            App::LibreOffice => {
                let after = self.shell(&format!("{ASK_OFFICE} state")).await?;
                Ok(super::office::facts(before, &after))
            }
        }
    }

    async fn read_page_log(&self, case: &Case) -> Tried<Vec<String>> {
        // The page of the case is in the first tab, also behind a new one.
        let tabs = self.tabs().await?;
        let tab = tabs.first().and_then(|tab| tab.get("id"));
        let script = json!({ "script": "globalThis.log ?? []", "tab": tab });
        let told = self.browser("execute", script).await;
        let told = told.ok().and_then(|reply| reply.get("result")?.as_array().cloned());
        let words = told.unwrap_or_default();
        let own = words.iter().filter_map(|word| word.as_str().map(str::to_owned));
        let mut log: Vec<_> = own.chain(self.testbed.pages.log()).collect();
        if case.answers
            && let Some(asked) = log.iter().position(|line| line == "dialog")
        {
            log.drain(..=asked);
        }
        // No page tells that the browser opened a tab by itself.
        if case.fact == Fact::TabOpened && self.count_pages().await > 1 {
            log.push("tab_opened".to_owned());
        }
        if case.kind == ADDRESS_BAR && self.address_bar_has_keyboard().await? {
            log.push("focus".to_owned());
        }
        Ok(log)
    }

    /// How many pages Chromium lists.
    pub(super) async fn count_pages(&self) -> usize {
        self.testbed.count_pages(&self.desk.id).await
    }

    /// Whether an address that is typed now is requested from the site. Shows another page if so.
    pub(super) async fn address_bar_has_keyboard(&self) -> Tried<bool> {
        self.testbed.pages.clear();
        let url = self.testbed.pages.typed_url();
        self.desktop("type", json!({ "text": url })).await?;
        self.desktop("key", json!({ "keys": "Return" })).await?;
        let requested = async || self.testbed.pages.was_typed().then_some(());
        Ok(eventually(ARRIVAL, requested).await.is_some())
    }

    /// Whether the page got a click at the centre of its window, as the page itself computes it.
    pub(super) async fn centre_was_clicked(&self) -> bool {
        let clicked = async || self.testbed.pages.click_from_centre();
        eventually(ARRIVAL, clicked).await.is_some_and(|(x, y)| x.abs() <= 4 && y.abs() <= 4)
    }
}
