//! Events of all sessions. The last thousand are kept, so that a listener that was disconnected for
//! a moment misses nothing.

use std::{collections::VecDeque, sync::Arc};

use helmdeck_wire::{SessionId, connect::Connected, history::ActionRecord, job::Job};
use parking_lot::Mutex;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::{control_lease::ControlChange, lifecycle::Ending};

/// How many events a listener may be behind.
const KEPT: usize = 1000;

/// Something that happened, mostly in a session.
#[derive(Debug, Clone)]
pub struct Event {
    /// Increases by one with every event since the server started.
    pub seq: u64,
    /// The session, if the event is about one.
    pub session: Option<SessionId>,
    /// Owner of the session, token or job. Others do not receive the event.
    pub owner: String,
    /// What happened.
    pub what: EventKind,
}

/// Kind of event.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// The session was created, or its status changed.
    Changed,
    /// The session is forgotten, with how it ended.
    Gone(Option<Ending>),
    /// An action was performed.
    Acted(Arc<ActionRecord>),
    /// The agent's status line changed.
    AgentStatus(String),
    /// The idle end moved; `None` while the session is in use.
    IdleEnd(Option<OffsetDateTime>),
    /// Control changed.
    Control(ControlChange),
    /// A job of the owner began, progressed or ended. Without its output.
    Job(Arc<Job>),
    /// A run of vision in the session changed: what it does now, without its steps.
    Vision(Arc<Value>),
    /// An MCP client connected with a token of the owner.
    McpClientConnected(Arc<Connected>),
}

/// A cheap handle to all events.
#[derive(Clone)]
pub struct Events {
    shared: Arc<Shared>,
}

struct Shared {
    kept: Mutex<VecDeque<Event>>,
    /// The number of the newest event.
    last: watch::Sender<u64>,
}

impl Default for Events {
    fn default() -> Self {
        let shared = Shared { kept: Mutex::default(), last: watch::Sender::new(0) };
        Self { shared: Arc::new(shared) }
    }
}

impl Events {
    pub(crate) fn tell(&self, session: &SessionId, owner: &str, what: EventKind) {
        self.add(Some(session.clone()), owner, what);
    }

    /// Tells an owner of something that is not about a session.
    pub fn tell_owner(&self, owner: &str, what: EventKind) {
        self.add(None, owner, what);
    }

    fn add(&self, session: Option<SessionId>, owner: &str, what: EventKind) {
        let mut kept = self.shared.kept.lock();
        let seq = *self.shared.last.borrow() + 1;
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Event { seq, session, owner: owner.to_owned(), what });
        // Inside the lock, so that numbers are announced in order.
        self.shared.last.send_replace(seq);
    }

    /// The number of the newest event.
    pub fn last(&self) -> u64 {
        *self.shared.last.borrow()
    }

    /// Listens for events after event `after`.
    pub fn after(&self, after: u64) -> Listener {
        Listener { events: self.clone(), heard: after, last: self.shared.last.subscribe() }
    }
}

/// A listener.
pub struct Listener {
    events: Events,
    heard: u64,
    last: watch::Receiver<u64>,
}

/// The listener was too far behind: events are lost.
#[derive(Debug, PartialEq, Eq)]
pub struct Lost;

impl Listener {
    /// Number of the last event received.
    pub fn last_received(&self) -> u64 {
        self.heard
    }

    /// The next event. After [`Lost`], continues with new events. Cancel-safe.
    pub async fn next(&mut self) -> Result<Event, Lost> {
        loop {
            match self.try_next() {
                Ok(Some(event)) => return Ok(event),
                // The sender lives as long as `events`.
                Ok(None) => drop(self.last.changed().await),
                Err(lost) => return Err(lost),
            }
        }
    }

    fn try_next(&mut self) -> Result<Option<Event>, Lost> {
        self.last.mark_unchanged();
        let kept = self.events.shared.kept.lock();
        let last = self.events.last();
        let first = kept.front().map_or(last + 1, |event| event.seq);
        if self.heard > last || self.heard + 1 < first {
            self.heard = last;
            return Err(Lost);
        }
        let index = usize::try_from(self.heard + 1 - first).unwrap_or(usize::MAX);
        let event = kept.get(index).cloned();
        self.heard += u64::from(event.is_some());
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(events: &Events, status: &str) {
        events.tell(&SessionId::new("s"), "ann", EventKind::AgentStatus(status.into()));
    }

    #[tokio::test]
    async fn a_listener_hears_what_it_missed_and_then_what_comes() {
        let events = Events::default();
        tell(&events, "one");
        tell(&events, "two");
        let mut listener = events.after(1);
        assert_eq!(listener.next().await.unwrap().seq, 2);
        let (event, ()) = tokio::join!(listener.next(), async {
            tokio::task::yield_now().await;
            tell(&events, "three");
        });
        assert_eq!(event.unwrap().seq, 3);
    }

    #[tokio::test]
    async fn a_listener_that_is_too_far_behind_gets_an_error() {
        let events = Events::default();
        let mut slow = events.after(0);
        for _ in 0..=KEPT {
            tell(&events, "x");
        }
        assert_eq!(slow.next().await.unwrap_err(), Lost);
        tell(&events, "y");
        assert_eq!(slow.next().await.unwrap().seq, KEPT as u64 + 2);
        let mut from_the_future = events.after(10_000_000);
        assert_eq!(from_the_future.next().await.unwrap_err(), Lost);
    }
}
