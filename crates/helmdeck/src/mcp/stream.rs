//! The messages of a stream of events, which can be resumed if the connection breaks.

use std::time::Duration;

use http::HeaderName;
use tokio::time::Instant;

use super::http::Events;

/// The header that resumes a stream.
pub const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// A resumed stream that ends earlier, without anything new, is not known to the server.
const KNOWN_AFTER: Duration = Duration::from_secs(1);

/// Where a stream broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The id of the last event.
    pub id: String,
    /// Whether that event was a message.
    is_message: bool,
}

/// A stream.
pub struct Stream {
    events: Events,
    resumed_from: Option<Position>,
    last: Option<Position>,
    is_first: bool,
    has_news: bool,
    began: Instant,
    /// How long the server wants clients to wait before they reconnect.
    pub retry: Option<Duration>,
}

impl Stream {
    /// The stream of a response, which may resume an earlier one.
    pub fn new(events: Events, resumed_from: Option<Position>) -> Self {
        Self {
            events,
            last: resumed_from.clone(),
            resumed_from,
            is_first: true,
            has_news: false,
            began: Instant::now(),
            retry: None,
        }
    }

    /// The next message, or why there is none.
    pub async fn next(&mut self) -> Result<String, String> {
        loop {
            let event = self.events.next().await?;
            let is_first = std::mem::take(&mut self.is_first);
            self.retry = event.retry.or(self.retry);
            let is_message = !event.data.is_empty();
            // Some servers resume with the last message that was received.
            let known = self.resumed_from.as_ref().filter(|it| is_first && it.is_message);
            if known.is_some_and(|known| event.id.as_ref() == Some(&known.id)) {
                continue;
            }
            if let Some(id) = event.id {
                self.last = Some(Position { id, is_message });
            }
            if is_message {
                self.has_news = true;
                return Ok(event.data);
            }
        }
    }

    /// Where to resume the stream. `None` if the server cannot do that.
    pub fn position(&self) -> Option<Position> {
        let is_known =
            self.resumed_from.is_none() || self.has_news || self.began.elapsed() >= KNOWN_AFTER;
        self.last.clone().filter(|_| is_known)
    }
}
