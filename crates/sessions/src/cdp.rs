//! Outside clients of the browser's debugging protocol: who they are, and whether their input is
//! accepted.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use helmdeck_link::ByteStream;
use helmdeck_wire::guest::OneClient;
use serde_json::json;
use time::OffsetDateTime;

use crate::{Caller, Session, SessionError, history::Attempt, lifecycle::Lifecycle};

/// Maximum number of clients per session. Each has its own events.
const MAX_CLIENTS: u64 = 16;

/// An open connection. Dropping it closes the connection.
pub struct CdpClient {
    session: Session,
    caller: Caller,
    began: Instant,
    sent: AtomicU64,
    _place: Place,
}

/// Counts one client.
struct Place(Session);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.inner.cdp_clients.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Session {
    /// Opens a connection to the session's browser. Messages end with NUL, as on its pipe.
    pub async fn open_cdp(
        &self,
        caller: Caller,
    ) -> Result<(CdpClient, Box<dyn ByteStream>), SessionError> {
        let mut attempt = Attempt::named(self, caller.actor(), "cdp_connect", json!({}));
        let opened = self.try_open_cdp(&caller).await;
        attempt.outcome = opened.as_ref().map_or_else(SessionError::code, |_| "ok");
        let (place, stream) = opened?;
        let (session, began) = (self.clone(), Instant::now());
        let sent = AtomicU64::new(0);
        Ok((CdpClient { session, caller, began, sent, _place: place }, stream))
    }

    async fn try_open_cdp(
        &self,
        caller: &Caller,
    ) -> Result<(Place, Box<dyn ByteStream>), SessionError> {
        self.adoption().await;
        drop(self.begin(Lifecycle::begin_use)?);
        let taken = self.inner.cdp_clients.fetch_add(1, Ordering::AcqRel);
        let place = Place(self.clone());
        if taken >= MAX_CLIENTS {
            let id = self.id().clone();
            return Err(SessionError::TooManyClients { id, limit: MAX_CLIENTS });
        }
        let client = OneClient { key: caller.token.clone() };
        let stream = self.inner.link.cdp(&client).await;
        Ok((place, stream.map_err(|error| self.link_failed(error))?))
    }
}

impl CdpClient {
    /// The session that the connection belongs to.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Records activity: a message goes to the browser.
    pub fn touch(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.session.touch();
    }

    /// Whether input is accepted now. While a person has control, only that person's is.
    pub fn may_drive(&self) -> Result<(), SessionError> {
        self.session.may_drive(&self.caller).map(|_| ())
    }
}

impl Drop for CdpClient {
    fn drop(&mut self) {
        let detail = json!({ "messages": self.sent.load(Ordering::Relaxed) });
        let (by, at) = (self.caller.actor(), OffsetDateTime::now_utc());
        self.session.record(by, "cdp_disconnect", detail, "ok", at, self.began.elapsed());
    }
}
