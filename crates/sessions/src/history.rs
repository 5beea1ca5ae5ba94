//! Records actions in a session and announces them to listeners.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_wire::history::{ActionRecord, Actor};
use time::OffsetDateTime;

use crate::{Session, events::EventKind};

impl Session {
    /// Sends an event to all listeners.
    pub(crate) fn tell(&self, what: EventKind) {
        self.inner.events.tell(&self.inner.id, &self.inner.record.owner, what);
    }

    /// Records an action and announces it.
    pub(crate) fn record(
        &self,
        by: Actor,
        action: &str,
        detail: serde_json::Value,
        outcome: &str,
        at: OffsetDateTime,
        took: Duration,
    ) {
        let record = ActionRecord {
            seq: self.inner.journal.number(),
            at,
            session_id: self.inner.id.clone(),
            by,
            action: action.to_owned(),
            detail,
            outcome: outcome.to_owned(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        self.note_agent(&record);
        self.audit_action(&record);
        self.tell(EventKind::Acted(Arc::new(record.clone())));
        self.inner.journal.add(self.inner.record.owner.clone(), record);
    }
}

/// An action in progress. It is recorded on drop, even if its caller disconnected.
pub(crate) struct Attempt {
    session: Session,
    pub by: Actor,
    action: &'static str,
    /// Details, such as coordinates.
    pub detail: serde_json::Value,
    at: OffsetDateTime,
    began: Instant,
    /// The result.
    pub outcome: &'static str,
}

impl Attempt {
    pub fn named(
        session: &Session,
        by: Actor,
        action: &'static str,
        detail: serde_json::Value,
    ) -> Self {
        let session = session.clone();
        let (at, began) = (OffsetDateTime::now_utc(), Instant::now());
        Self { session, by, action, detail, at, began, outcome: "cancelled" }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let (by, detail) = (self.by.clone(), self.detail.take());
        let took = self.began.elapsed();
        self.session.record(by, self.action, detail, self.outcome, self.at, took);
    }
}
