//! Clients of the browser's debugging protocol from outside: who they are, and whether their input
//! may pass.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use helmdeck_link::ByteStream;
use serde_json::json;
use time::OffsetDateTime;

use crate::{Caller, Session, SessionError, lifecycle::Lifecycle};

/// More clients than this of one session are refused: each has its own events.
const MAX_CLIENTS: u64 = 16;
/// As long as the link waits for a browser that is being started again.
const DEADLINE: Duration = Duration::from_secs(30);

/// An open connection. Dropping it ends it.
pub struct CdpClient {
    session: Session,
    caller: Caller,
    began: Instant,
    sent: AtomicU64,
}

impl Session {
    /// Opens a connection to the session's browser: messages ended by NULs, as on its pipe.
    pub async fn open_cdp(
        &self,
        caller: Caller,
    ) -> Result<(CdpClient, Box<dyn ByteStream>), SessionError> {
        self.adoption().await;
        drop(self.begin(Lifecycle::begin_use)?);
        if self.inner.cdp_clients.fetch_add(1, Ordering::AcqRel) >= MAX_CLIENTS {
            self.inner.cdp_clients.fetch_sub(1, Ordering::AcqRel);
            let id = self.id().clone();
            return Err(SessionError::TooManyClients { id, limit: MAX_CLIENTS });
        }
        let sent = AtomicU64::new(0);
        let client = CdpClient { session: self.clone(), caller, began: Instant::now(), sent };
        let stream = self.inner.link.cdp().await;
        let stream = stream.map_err(|error| self.link_failed(error, DEADLINE))?;
        client.note("cdp_connect", json!({}), Duration::ZERO);
        Ok((client, stream))
    }
}

impl CdpClient {
    /// Whose browser it is.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// A message goes to the browser.
    pub fn touch(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.session.touch();
    }

    /// Whether input may pass now: not while a person drives, unless it is this one.
    pub fn may_drive(&self) -> Result<(), SessionError> {
        self.session.may_drive(&self.caller).map(|_| ())
    }

    fn note(&self, action: &str, detail: serde_json::Value, took: Duration) {
        let (by, at) = (self.session.actor(&self.caller), OffsetDateTime::now_utc());
        self.session.record(by, action, detail, "ok", at, took);
    }
}

impl Drop for CdpClient {
    fn drop(&mut self) {
        self.session.inner.cdp_clients.fetch_sub(1, Ordering::AcqRel);
        let detail = json!({ "messages": self.sent.load(Ordering::Relaxed) });
        self.note("cdp_disconnect", detail, self.began.elapsed());
    }
}
