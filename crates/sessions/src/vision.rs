//! What a session tells and records of runs of vision.

use std::sync::Arc;

use helmdeck_wire::{guest::LimitSites, site::Site};
use serde_json::Value;

use crate::{Caller, EventKind, Session, history::Attempt};

impl Session {
    /// Tells listeners that a run of vision changed.
    pub fn vision_changed(&self, run: Value) {
        self.tell(EventKind::Vision(Arc::new(run)));
    }

    /// Records that a caller steered a run of vision, in the journal.
    pub fn vision_steered(&self, caller: &Caller, action: &'static str, detail: Value) {
        let mut attempt = Attempt::named(self, caller.actor(), action, detail);
        attempt.outcome = "ok";
    }

    /// Limits the sites that the browser opens, and returns what was refused meanwhile. `None` ends the limit. Without
    /// a browser, nothing is limited.
    pub async fn limit_sites(&self, sites: Option<Vec<Site>>) -> Vec<String> {
        let limited = self.inner.link.limit_sites(&LimitSites { sites }).await;
        limited.map(|refused| refused.urls).unwrap_or_default()
    }

    /// Whether a live view of it is open.
    pub fn is_watched(&self) -> bool {
        !self.inner.viewers.lock().is_empty()
    }
}
