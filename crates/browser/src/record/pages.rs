//! The pages that requests belong to.

use std::collections::VecDeque;

use helmdeck_cdp::Event;
use helmdeck_wire::browser::TabId;

use super::{
    events::{PageEvent, WillBeSent},
    shown,
};

const MAX_PAGES: usize = 300;
/// The most bytes of an address.
const MAX_URL: usize = 1 << 10;

/// The last pages of all tabs.
#[derive(Default)]
pub(crate) struct Pages {
    pages: VecDeque<Visited>,
    last: u64,
}

/// A page that was loaded in a tab.
#[derive(Debug, Clone)]
pub(crate) struct Visited {
    pub id: u64,
    tab: TabId,
    document: String,
    pub url: String,
    pub started: f64,
    pub at: f64,
    /// When the document was parsed, and when it was fully loaded.
    pub dom: Option<f64>,
    pub load: Option<f64>,
}

impl Pages {
    /// The page that a request belongs to. A request for a document begins a page.
    pub fn of(&mut self, tab: &TabId, told: &WillBeSent) -> u64 {
        let main = told.kind == "Document" && told.frame_id == tab.0;
        let mut here = self.pages.iter().rev().filter(|page| page.tab == *tab);
        let found = match main {
            true => here.find(|page| page.document == told.loader_id),
            false => here.next(),
        };
        if let Some(page) = found {
            return page.id;
        }
        self.last += 1;
        self.pages.push_back(Visited {
            id: self.last,
            tab: tab.clone(),
            document: told.loader_id.clone(),
            url: shown(&told.document_url, MAX_URL),
            started: told.timestamp,
            at: told.wall_time,
            dom: None,
            load: None,
        });
        if self.pages.len() > MAX_PAGES {
            self.pages.pop_front();
        }
        self.last
    }

    /// The page that a tab shows; zero if unknown.
    pub fn shown(&self, tab: &TabId) -> u64 {
        self.pages.iter().rev().find(|page| page.tab == *tab).map_or(0, |page| page.id)
    }

    /// Records load progress of a tab's page.
    pub fn went_on(&mut self, tab: &TabId, event: &Event) {
        let dom = match event.method.as_str() {
            "Page.domContentEventFired" => true,
            "Page.loadEventFired" => false,
            _ => return,
        };
        let Ok(PageEvent { timestamp }) = event.read() else { return };
        if let Some(page) = self.pages.iter_mut().rev().find(|page| page.tab == *tab) {
            let done = if dom { &mut page.dom } else { &mut page.load };
            done.get_or_insert(timestamp);
        }
    }

    pub fn list(&self) -> Vec<Visited> {
        self.pages.iter().cloned().collect()
    }
}
