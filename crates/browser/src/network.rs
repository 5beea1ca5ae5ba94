//! Tracks the requests of a tab that are in progress. Pure: time is passed in.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// A page is idle when no request was in progress for this long.
pub(crate) const QUIET: Duration = Duration::from_millis(500);

/// The requests of a tab that are not answered yet.
pub(crate) struct Network {
    /// The document of each request.
    under_way: HashMap<String, String>,
    /// When a request last began or ended.
    last: Instant,
}

impl Network {
    pub fn new(now: Instant) -> Self {
        Self { under_way: HashMap::new(), last: now }
    }

    pub fn begun(&mut self, request: &str, document: &str, now: Instant) {
        self.under_way.insert(request.to_owned(), document.to_owned());
        self.last = now;
    }

    pub fn ended(&mut self, request: &str, now: Instant) {
        if self.under_way.remove(request).is_some() {
            self.last = now;
        }
    }

    /// The tab shows another document: requests of the previous one no longer count.
    pub fn left(&mut self, document: &str, now: Instant) {
        self.under_way.retain(|_, asker| asker == document);
        self.last = now;
    }

    /// When the tab becomes idle; `None` while requests are in progress.
    pub fn quiet_at(&self) -> Option<Instant> {
        self.under_way.is_empty().then(|| self.last + QUIET)
    }

    pub fn count(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_idle_half_a_second_after_its_last_request() {
        let start = Instant::now();
        let mut network = Network::new(start);
        assert_eq!(network.quiet_at(), Some(start + QUIET));

        network.begun("1", "a", start);
        network.begun("2", "a", start);
        network.ended("1", start + QUIET);
        assert_eq!((network.quiet_at(), network.count()), (None, 1));
        network.ended("2", start + QUIET);
        network.ended("2", start + 2 * QUIET);
        assert_eq!(network.quiet_at(), Some(start + 2 * QUIET));
    }

    #[test]
    fn requests_of_the_previous_document_are_forgotten() {
        let start = Instant::now();
        let mut network = Network::new(start);
        network.begun("1", "a", start);
        network.begun("2", "b", start);
        network.left("b", start);
        assert_eq!(network.count(), 1);
        network.ended("2", start);
        assert_eq!(network.quiet_at(), Some(start + QUIET));
    }
}
