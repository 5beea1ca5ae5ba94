//! What a session tells and records of runs of vision.

use std::sync::Arc;

use helmdeck_link::LinkError;
use helmdeck_wire::{
    ErrorCode,
    guest::{LimitSites, RefusedSites},
    site::Site,
};
use serde_json::Value;

use crate::{Caller, EventKind, Session, SessionError, history::Attempt};

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

    /// Limits the sites that the browser opens, and returns what was refused and what began meanwhile. `None` ends the
    /// owner's limit. Without a browser, nothing is limited. While another caller has control, the tabs are theirs: the
    /// limit begins again with the next call after that.
    pub async fn limit_sites(
        &self,
        caller: &Caller,
        owner: &str,
        sites: Option<Vec<Site>>,
    ) -> Result<RefusedSites, SessionError> {
        let limits = sites.is_some();
        let is_held = || self.inner.lease.borrow().admit(&caller.token).is_err();
        if limits && is_held() {
            return Ok(RefusedSites::default());
        }
        let wanted = LimitSites { owner: owner.to_owned(), sites };
        let limited = self.inner.link.limit_sites(&wanted).await;
        if limits && is_held() {
            // Taken meanwhile. If this fails, the limit ends after some minutes.
            let ended = LimitSites { sites: None, ..wanted };
            let _ = self.inner.link.limit_sites(&ended).await;
        }
        match limited {
            Ok(refused) => Ok(refused),
            Err(LinkError::Refused(body)) if body.error == ErrorCode::CdpUnavailable => {
                Ok(RefusedSites::default())
            }
            Err(error) => Err(self.link_failed(error)),
        }
    }

    /// Whether a live view of it is open.
    pub fn is_watched(&self) -> bool {
        !self.inner.viewers.lock().is_empty()
    }
}
