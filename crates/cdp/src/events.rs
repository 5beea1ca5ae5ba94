//! Events of the browser.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    CdpError,
    queue::{Next, Queue},
};

/// Limit on bytes queued for one listener; a slow one loses the oldest events.
const MAX_WAITING: usize = 16 << 20;

/// One event, as it arrived.
#[derive(Debug)]
pub struct Event {
    /// The name of the event, such as `Page.loadEventFired`.
    pub method: String,
    /// The parameters, not parsed.
    pub params: Option<Box<RawValue>>,
}

impl Event {
    pub(crate) fn new(method: &str, params: Option<&RawValue>) -> Self {
        Self { method: method.to_owned(), params: params.map(RawValue::to_owned) }
    }

    /// Parses the parameters. Unknown fields are ignored.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, CdpError> {
        let params = self.params.as_ref().map_or("{}", |params| params.get());
        serde_json::from_str(params).map_err(CdpError::Nonsense)
    }
}

/// The listener was too slow, and this many events were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} events were missed")]
pub struct Lagged(pub u64);

/// The events of one session since it was created. It never blocks the sender.
pub struct EventStream {
    inbox: Arc<Inbox>,
}

/// The sending side of a stream.
pub(crate) struct Inbox {
    events: Queue<Arc<Event>, ()>,
    prefix: Mutex<String>,
}

impl EventStream {
    pub(crate) fn new() -> (Self, Arc<Inbox>) {
        let inbox = Inbox { events: Queue::new(MAX_WAITING), prefix: Mutex::default() };
        let inbox = Arc::new(inbox);
        (Self { inbox: Arc::clone(&inbox) }, inbox)
    }

    /// Keeps only events whose method begins like this, such as `Network.`.
    #[must_use]
    pub fn only(self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.inbox.prefix.lock());
        self.inbox.events.retain(|event| event.method.starts_with(prefix));
        self
    }

    /// The next event; `None` when the session or the browser is gone. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<Arc<Event>, Lagged>> {
        match self.inbox.events.next().await {
            Next::Item(event) => Some(Ok(event)),
            Next::Lost(count) => Some(Err(Lagged(count))),
            Next::Ended(()) => None,
        }
    }
}

impl Inbox {
    pub fn wants(&self, method: &str) -> bool {
        method.starts_with(self.prefix.lock().as_str())
    }

    pub fn add(&self, event: Arc<Event>) {
        let bytes = event.method.len() + event.params.as_ref().map_or(0, |p| p.get().len());
        self.events.crowd_in(event, bytes);
    }

    pub fn end(&self) {
        self.events.end(());
    }
}
