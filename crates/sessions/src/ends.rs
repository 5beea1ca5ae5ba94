//! How sessions ended, for queries about sessions that are gone.

use std::{collections::VecDeque, sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use helmdeck_store::{End, EndDetails, Store, StoreError};
use helmdeck_wire::{SessionId, error::with_causes, session::EndReason};
use parking_lot::Mutex;
use time::OffsetDateTime;
use tokio::time::timeout;
use tracing::warn;

use crate::{Caller, Session, description, lifecycle::Ending, record::Record};

/// Maximum number of remembered sessions. The oldest are forgotten first.
const KEPT: u32 = 1000;
/// How long the end of a session waits for a disk that does not respond.
const DEADLINE: Duration = Duration::from_secs(2);

/// Known ends, in memory and in the store.
pub(crate) struct Ends {
    store: Store,
    /// Oldest first.
    known: Mutex<VecDeque<End>>,
}

impl Ends {
    pub async fn load(store: Store) -> Result<Self, StoreError> {
        let known = Mutex::new(store.ends().await?.into());
        Ok(Self { store, known })
    }

    /// How a session of the caller ended. An admin may ask about any session.
    pub fn of(&self, caller: &Caller, id: &SessionId) -> Option<Ending> {
        let known = self.known.lock();
        let end = known.iter().find(|end| end.session_id == *id)?;
        let visible = caller.owns(&end.owner);
        visible.then_some(Ending { reason: end.reason, at: end.ended_at })
    }

    /// Records the end of a session that ended while no server was running, unless it is known: at
    /// its limit if that has passed, otherwise now. Returns it if it is new.
    pub async fn add_found(&self, session_id: SessionId, record: Record) -> Option<End> {
        if self.known.lock().iter().any(|end| end.session_id == session_id) {
            return None;
        }
        let (age, now) = (record.age(), OffsetDateTime::now_utc());
        let limit = record.spec.timeout_seconds.map(Duration::from_secs);
        let (reason, ended_at) = match limit.and_then(|limit| age.checked_sub(limit)) {
            Some(ago) => (EndReason::WallClock, now - ago),
            None => (EndReason::GuestLost, now),
        };
        let ending = Ending { reason, at: ended_at };
        let session = description::of_record(&session_id, &record, ending);
        let session = serde_json::to_string(&session).ok();
        let end = End { session_id, owner: record.owner, reason, ended_at };
        self.add(end.clone(), EndDetails { session, picture: None }).await;
        Some(end)
    }

    /// Returns whether it was written to the store.
    async fn add(&self, end: End, details: EndDetails) -> bool {
        {
            let mut known = self.known.lock();
            // An attached session can end again after it was resumed.
            known.retain(|other| other.session_id != end.session_id);
            if known.len() >= KEPT as usize {
                known.pop_front();
            }
            known.push_back(end.clone());
        }
        let id = end.session_id.as_str();
        match timeout(DEADLINE, self.store.add_end(&end, &details, KEPT)).await {
            Ok(Ok(())) => return true,
            Ok(Err(problem)) => {
                warn!(session.id = id, error = with_causes(&problem), "Failed to store the end");
            }
            Err(_) => warn!(session.id = id, "Failed to store the end: the store takes too long"),
        }
        false
    }
}

impl Session {
    /// Stores how the session ended, its last description and its last picture, which outlive the
    /// session itself.
    pub(crate) async fn remember_end(&self, picture: Option<Bytes>) {
        let Some(Ending { reason, at }) = self.ended() else { return };
        let (session_id, owner) = (self.id().clone(), self.inner.record.owner.clone());
        let end = End { session_id, owner, reason, ended_at: at };
        self.inner.has_last_picture.store(picture.is_some(), Ordering::Relaxed);
        // Described for no particular caller.
        let described = self.describe(&Caller::default(), None).await;
        let session = serde_json::to_string(&described).ok();
        let details = EndDetails { session, picture: picture.map(Vec::from) };
        if !self.inner.journal.ends().add(end, details).await {
            self.inner.has_last_picture.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::session::{Session as Described, SessionSpec};

    use super::*;

    #[tokio::test]
    async fn an_end_is_shown_to_its_owner_only_and_survives_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let (id, at) = (SessionId::new("s"), OffsetDateTime::UNIX_EPOCH);
        let (owner, reason) = ("ann".to_owned(), EndReason::Idle);
        let end = End { session_id: id.clone(), owner, reason, ended_at: at };
        Ends::load(store.clone()).await.unwrap().add(end, EndDetails::default()).await;
        let ends = Ends::load(store.clone()).await.unwrap();
        let caller = |subject: &str| Caller { subject: subject.into(), ..Caller::default() };
        assert_eq!(ends.of(&caller("ann"), &id), Some(Ending { reason, at }));
        assert_eq!(ends.of(&caller("bob"), &id), None);
        assert_eq!(ends.of(&caller("ann"), &SessionId::new("t")), None);
        let record = |timeout_seconds| {
            let spec = SessionSpec { timeout_seconds, ..SessionSpec::default() };
            Record::new("ann".into(), spec)
        };
        ends.add_found(id.clone(), record(None)).await;
        assert_eq!(ends.of(&caller("ann"), &id), Some(Ending { reason, at }), "it was known");
        for (timeout, reason) in [
            (None, EndReason::GuestLost),
            (Some(900), EndReason::GuestLost),
            (Some(0), EndReason::WallClock),
        ] {
            let id = SessionId::new(format!("found {timeout:?}"));
            ends.add_found(id.clone(), record(timeout)).await;
            assert_eq!(ends.of(&caller("ann"), &id).unwrap().reason, reason);
            let kept = store.ended_session(&id, Some("ann")).await.unwrap().unwrap();
            let kept: Described = serde_json::from_str(&kept).unwrap();
            assert_eq!((kept.id, kept.end_reason), (id, Some(reason)));
        }
    }
}
