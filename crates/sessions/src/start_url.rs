//! The page that a new session's browser opens first.

use std::time::Duration;

use helmdeck_wire::{
    ActionCall,
    browser::{Navigate, Until},
    control::Hands,
};
use tokio::time::timeout;
use tracing::info;

use crate::{Session, SessionError, history::Attempt};

/// A session is not kept from being ready any longer by a page that does not load.
const DEADLINE: Duration = Duration::from_secs(15);

impl Session {
    /// Opens `start_url`, if this server was asked for one. A page that does not load leaves a note.
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
        let opening = inner.link.act(&navigate, Hands::Agent, DEADLINE);
        let opened = match timeout(DEADLINE, opening).await {
            Ok(opened) => opened.map(drop).map_err(|error| self.link_failed(error)),
            Err(_) => Err(SessionError::Timeout { seconds: DEADLINE.as_secs() }),
        };
        attempt.outcome = opened.as_ref().map_or_else(SessionError::code, |()| "ok");
        if let Err(error) = opened {
            info!(session.id = self.id().as_str(), %error, "The start page is not open");
            *inner.start_note.lock() = Some(format!("start_url could not be opened: {error}"));
        }
    }
}
