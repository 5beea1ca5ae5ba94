//! Open connections of each ticket. A viewer has one stream of each kind, and one events feed that
//! needs a stream next to it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use helmdeck_wire::ErrorCode;
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::Claims;
use crate::error::{ApiError, ApiResult};

/// How long an events feed may run without a stream of its ticket. Pages open both at once, and
/// reconnect.
const GRACE: Duration = Duration::from_secs(10);
/// With a reusable ticket, the number of feeds that may be open before their streams.
const FEEDS_AHEAD: usize = 4;

/// The streams that a ticket opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `/vnc`.
    Desktop,
    /// `/cdp-stream`.
    Browser,
    /// `/cdp`.
    Debugging,
}

/// All tickets with open connections.
#[derive(Clone)]
pub struct InUse {
    tickets: Arc<Mutex<HashMap<String, Ticket>>>,
    grace: Duration,
}

impl Default for InUse {
    fn default() -> Self {
        Self { tickets: Arc::default(), grace: GRACE }
    }
}

#[derive(Default)]
struct Ticket {
    open: Open,
    /// Notifies about changes.
    changed: watch::Sender<()>,
}

/// The open connections of one ticket.
#[derive(Default)]
struct Open {
    streams: HashMap<Kind, usize>,
    /// In the order in which they were opened.
    feeds: BTreeSet<u64>,
    next_feed: u64,
}

impl Open {
    fn streams(&self) -> usize {
        self.streams.values().sum()
    }

    /// Whether there is a stream for this feed.
    fn covers(&self, feed: u64) -> bool {
        self.feeds.iter().take_while(|other| **other < feed).count() < self.streams()
    }

    fn is_empty(&self) -> bool {
        self.feeds.is_empty() && self.streams() == 0
    }
}

impl InUse {
    /// Opens a stream, until the returned guard is dropped.
    pub fn stream(&self, claims: &Claims, kind: Kind) -> ApiResult<Stream> {
        self.change(&claims.jti, |open| {
            let count = open.streams.entry(kind).or_default();
            if *count > 0 && !claims.reusable {
                let message = "the ticket allows one viewer, and this stream is already open: close it \
                               first, or ask for a reusable ticket";
                return Err(ApiError::new(ErrorCode::TicketInUse, message));
            }
            *count += 1;
            Ok(())
        })?;
        Ok(Stream { tickets: self.clone(), id: claims.jti.clone(), kind })
    }

    /// Opens an events feed, until the returned guard is dropped.
    pub fn feed(&self, claims: &Claims) -> ApiResult<Feed> {
        let number = self.change(&claims.jti, |open| {
            let most = if claims.reusable { open.streams() + FEEDS_AHEAD } else { 1 };
            if open.feeds.len() >= most {
                let message = "the ticket already has an events feed for each viewer: close \
                               one first";
                return Err(ApiError::new(ErrorCode::TicketInUse, message));
            }
            let number = open.next_feed;
            open.next_feed += 1;
            open.feeds.insert(number);
            Ok(number)
        })?;
        let id = claims.jti.clone();
        let changed = self.tickets.lock().entry(id.clone()).or_default().changed.subscribe();
        Ok(Feed { tickets: self.clone(), id, number, changed, alone_since: None })
    }

    fn covers(&self, id: &str, feed: u64) -> bool {
        self.tickets.lock().get(id).is_some_and(|ticket| ticket.open.covers(feed))
    }

    fn change<T>(&self, id: &str, change: impl FnOnce(&mut Open) -> T) -> T {
        let mut tickets = self.tickets.lock();
        let ticket = tickets.entry(id.to_owned()).or_default();
        let outcome = change(&mut ticket.open);
        ticket.changed.send_replace(());
        if ticket.open.is_empty() {
            tickets.remove(id);
        }
        outcome
    }
}

/// A stream that was opened with a ticket.
pub struct Stream {
    tickets: InUse,
    id: String,
    kind: Kind,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.tickets.change(&self.id, |open| {
            if let Some(count) = open.streams.get_mut(&self.kind) {
                *count = count.saturating_sub(1);
            }
        });
    }
}

/// An events feed that was opened with a ticket.
pub struct Feed {
    tickets: InUse,
    id: String,
    number: u64,
    changed: watch::Receiver<()>,
    alone_since: Option<Instant>,
}

impl Feed {
    /// Waits until the feed has had no stream for the grace period. Cancel-safe.
    pub async fn left_alone(&mut self) {
        loop {
            self.changed.borrow_and_update();
            if self.tickets.covers(&self.id, self.number) {
                self.alone_since = None;
                // The sender lives as long as this feed.
                let _ = self.changed.changed().await;
                continue;
            }
            let since = *self.alone_since.get_or_insert_with(Instant::now);
            tokio::select! {
                () = sleep_until(since + self.tickets.grace) => return,
                _ = self.changed.changed() => {}
            }
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.tickets.change(&self.id, |open| open.feeds.remove(&self.number));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn ticket(reusable: bool) -> Claims {
        let claims = serde_json::json!({
            "sub": "ann", "token": "t", "session": "sess-a", "role": "control",
            "reusable": reusable, "jti": "tick-1", "exp": 0, "iss": "helmdeck-ticket",
        });
        serde_json::from_value(claims).unwrap()
    }

    fn refused<T>(opened: ApiResult<T>) -> ErrorCode {
        opened.err().unwrap().code
    }

    #[test]
    fn a_single_use_ticket_has_one_stream_of_each_kind_and_one_feed() {
        let (tickets, claims) = (InUse::default(), ticket(false));
        let desktop = tickets.stream(&claims, Kind::Desktop).unwrap();
        let _browser = tickets.stream(&claims, Kind::Browser).unwrap();
        let _feed = tickets.feed(&claims).unwrap();
        assert_eq!(refused(tickets.stream(&claims, Kind::Desktop)), ErrorCode::TicketInUse);
        assert_eq!(refused(tickets.feed(&claims)), ErrorCode::TicketInUse);
        drop(desktop);
        assert!(tickets.stream(&claims, Kind::Desktop).is_ok(), "closed, it can be opened again");
    }

    #[test]
    fn a_reusable_ticket_allows_a_feed_for_each_viewer_and_a_few_more() {
        let (tickets, claims) = (InUse::default(), ticket(true));
        let streams: Vec<_> =
            (0..3).map(|_| tickets.stream(&claims, Kind::Desktop).unwrap()).collect();
        let feeds: Vec<_> = (0..3 + FEEDS_AHEAD).map(|_| tickets.feed(&claims).unwrap()).collect();
        assert_eq!(refused(tickets.feed(&claims)), ErrorCode::TicketInUse);
        drop((streams, feeds));
        assert!(tickets.tickets.lock().is_empty(), "closed connections are forgotten");
    }

    /// Tickets whose feeds end at once without a stream.
    fn strict() -> InUse {
        InUse { grace: Duration::ZERO, ..InUse::default() }
    }

    #[tokio::test]
    async fn a_feed_ends_with_the_stream_beside_it() {
        let (tickets, claims) = (strict(), ticket(false));
        let mut feed = tickets.feed(&claims).unwrap();
        let stream = tickets.stream(&claims, Kind::Browser).unwrap();
        assert!(feed.left_alone().now_or_never().is_none(), "it continues next to its stream");
        drop(stream);
        tokio::time::timeout(GRACE, feed.left_alone()).await.expect("it ends");
    }

    #[tokio::test]
    async fn a_feed_without_a_stream_of_its_own_ends() {
        let (tickets, claims) = (strict(), ticket(true));
        let (mut first, mut second) =
            (tickets.feed(&claims).unwrap(), tickets.feed(&claims).unwrap());
        let _stream = tickets.stream(&claims, Kind::Desktop).unwrap();
        tokio::time::timeout(GRACE, second.left_alone()).await.expect("one stream, one feed");
        assert!(first.left_alone().now_or_never().is_none());
    }

    #[tokio::test]
    async fn events_do_not_prolong_a_feed_without_a_stream() {
        let (tickets, claims) = (InUse::default(), ticket(false));
        let mut feed = tickets.feed(&claims).unwrap();
        assert!(feed.left_alone().now_or_never().is_none());
        let since = feed.alone_since;
        assert!(feed.left_alone().now_or_never().is_none());
        assert!(since.is_some() && feed.alone_since == since);
    }
}
