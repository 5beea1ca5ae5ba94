//! The first page of a new session's browser.

use std::time::Duration;

use helmdeck_wire::{
    ActionCall,
    browser::{Navigate, Until},
    control::Hands,
};
use tokio::time::timeout;
use tracing::info;

use crate::{Session, SessionError, history::Attempt};

/// How long a page may delay the session's readiness.
const DEADLINE: Duration = Duration::from_secs(15);

impl Session {
    /// Opens `start_url`. If the page does not load, the session gets a note. Adopted sessions skip
    /// it.
    pub(crate) async fn open_start_url(&self) {
        let inner = &self.inner;
        let (Some(url), Some(creator)) = (&inner.record.spec.start_url, &inner.creator) else {
            return;
        };
        let navigate = Navigate {
            url: Some(url.clone()),
            history: None,
            wait_until: Until::Dom,
            tab: None,
            timeout_s: Default::default(),
        };
        let navigate = ActionCall::new(&navigate);
        let detail = navigate.detail.clone();
        let mut attempt = Attempt::named(self, creator.actor(), navigate.name, detail);
        let mark = inner.egress.mark();
        let opening = inner.link.act(&navigate, Hands::Agent, DEADLINE);
        let opened = match timeout(DEADLINE, opening).await {
            Ok(opened) => {
                opened.map(drop).map_err(|error| self.explained(mark, self.link_failed(error)))
            }
            Err(_) => Err(SessionError::Timeout { seconds: DEADLINE.as_secs() }),
        };
        attempt.outcome = opened.as_ref().map_or_else(SessionError::code, |()| "ok");
        if let Err(error) = opened {
            info!(session.id = self.id().as_str(), %error, "Failed to open the start page");
            *inner.start_note.lock() = Some(format!("start_url could not be opened: {error}"));
        }
    }
}
