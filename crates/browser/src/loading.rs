//! Tracks whether a tab is on its way to another document. Pure: time is passed in.

use std::time::{Duration, Instant};

/// A requested navigation that does not begin within this time became something else, for example
/// a download.
const BEGINS: Duration = Duration::from_secs(1);

/// The main document of a tab.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loading {
    /// When a navigation was requested that has not begun.
    requested: Option<Instant>,
    /// Since when the document loads.
    since: Option<Instant>,
    /// When either of them last ended.
    ended: Option<Instant>,
}

impl Loading {
    pub fn new() -> Self {
        Self { requested: None, since: None, ended: None }
    }

    /// A navigation to another document was requested.
    pub fn requested(&mut self, now: Instant) {
        self.requested = Some(now);
    }

    pub fn started(&mut self, now: Instant) {
        self.since.get_or_insert(now);
        self.requested = None;
    }

    pub fn stopped(&mut self, now: Instant) {
        if self.since.is_some() || self.requested.is_some() {
            self.ended = Some(now);
        }
        (self.since, self.requested) = (None, None);
    }

    /// Whether the tab is loading.
    pub fn is_busy(&self, now: Instant) -> bool {
        let requested = self.requested.is_some_and(|at| now.saturating_duration_since(at) < BEGINS);
        self.since.is_some() || requested
    }

    /// When a requested navigation is given up; `None` if it began.
    pub fn gives_up(&self) -> Option<Instant> {
        self.requested.filter(|_| self.since.is_none()).map(|at| at + BEGINS)
    }

    /// When a navigation that is under way began.
    pub fn began(&self) -> Option<Instant> {
        self.since.or(self.requested)
    }

    /// When it last stopped loading.
    pub fn ended(&self) -> Option<Instant> {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_is_busy_from_the_request_until_the_document_is_loaded() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut loading = Loading::new();
        assert!(!loading.is_busy(start));
        loading.requested(start);
        assert!(loading.is_busy(at(10)));
        loading.started(at(100));
        assert!(loading.is_busy(at(30_000)));
        loading.stopped(at(30_001));
        assert!(!loading.is_busy(at(30_002)));
        assert_eq!(loading.ended(), Some(at(30_001)));
    }

    #[test]
    fn a_request_that_becomes_a_download_is_given_up() {
        let start = Instant::now();
        let mut loading = Loading::new();
        loading.requested(start);
        assert!(loading.is_busy(start + BEGINS / 2));
        assert!(!loading.is_busy(start + BEGINS));
        assert_eq!(loading.gives_up(), Some(start + BEGINS));
    }
}
