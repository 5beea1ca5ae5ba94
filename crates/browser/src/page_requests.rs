//! Tracks the requests that an action causes, apart from what a page asks all the time. Pure: time
//! is passed in.

use std::{
    collections::{HashMap, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::{Duration, Instant},
};

/// A request that takes longer waits for something that may not come, like a long poll.
const PATIENCE: Duration = Duration::from_secs(3);
/// A page that asked the same twice within this time before an action may ask it regularly.
const REGULAR: Duration = Duration::from_secs(30);
/// How much the pauses between regular requests may differ, as a factor.
const UNEVEN: u32 = 2;
/// Limits on remembered requests.
const MOST: usize = 256;

/// The requests of a tab.
#[derive(Debug, Default)]
pub(crate) struct PageRequests {
    under_way: HashMap<String, Request>,
    /// What was asked lately, by the hash of its address without the query.
    lately: VecDeque<Request>,
    /// When a request last ended that began at that time.
    ended: VecDeque<(Instant, Request)>,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    address: u64,
    begun: Instant,
}

impl PageRequests {
    pub fn begun(&mut self, id: &str, url: &str, now: Instant) {
        let request = Request { address: hash(url), begun: now };
        if self.lately.len() == MOST {
            self.lately.pop_front();
        }
        self.lately.push_back(request);
        if self.under_way.len() < MOST {
            self.under_way.insert(id.to_owned(), request);
        }
    }

    pub fn over(&mut self, id: &str, now: Instant) {
        let Some(request) = self.under_way.remove(id) else { return };
        if self.ended.len() == MOST {
            self.ended.pop_front();
        }
        self.ended.push_back((now, request));
    }

    /// The tab shows another document.
    pub fn left(&mut self) {
        self.under_way.clear();
        // What it asked says nothing about the next document.
        self.lately.clear();
    }

    /// Until when requests that an action caused are awaited; `None` if there are none. The action
    /// began at `since`.
    pub fn awaited(&self, since: Instant, now: Instant) -> Option<Instant> {
        let caused = self.under_way.values().filter(|request| self.is_caused(request, since));
        caused.map(|request| request.begun + PATIENCE).filter(|end| *end > now).max()
    }

    /// When the last of these requests ended.
    pub fn answered(&self, since: Instant) -> Option<Instant> {
        let caused = self.ended.iter().filter(|(_, request)| self.is_caused(request, since));
        caused.map(|(ended, _)| *ended).max()
    }

    fn is_caused(&self, request: &Request, since: Instant) -> bool {
        request.begun >= since && !self.is_regular(request, since)
    }

    /// Whether the page asked the same before the action, with even pauses. An agent that repeats
    /// an action repeats its requests, too, but not evenly.
    fn is_regular(&self, request: &Request, since: Instant) -> bool {
        let earlier = |other: &&Request| {
            other.address == request.address && other.begun < since && since - other.begun < REGULAR
        };
        let mut times = self.lately.iter().rev().filter(earlier).map(|other| other.begun);
        let (Some(last), Some(before)) = (times.next(), times.next()) else { return false };
        let (pause, usual) = (request.begun.saturating_duration_since(last), last - before);
        pause <= usual * UNEVEN && usual <= pause * UNEVEN
    }
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.split(['?', '#']).next().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_since_an_action_are_awaited_and_not_forever() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut asked = PageRequests::default();
        asked.begun("1", "http://a/events", start);
        assert_eq!(asked.awaited(at(100), at(100)), None);
        asked.begun("2", "http://a/save", at(110));
        assert_eq!(asked.awaited(at(100), at(120)), Some(at(110) + PATIENCE));
        assert_eq!(asked.awaited(at(100), at(110) + PATIENCE), None);
        asked.over("2", at(300));
        assert_eq!(
            (asked.awaited(at(100), at(310)), asked.answered(at(100))),
            (None, Some(at(300)))
        );
        assert_eq!(asked.answered(at(200)), None);
    }

    #[test]
    fn what_a_page_asks_regularly_is_not_awaited() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut asked = PageRequests::default();
        asked.begun("1", "http://a/poll?n=1", start);
        asked.over("1", at(50));
        asked.begun("2", "http://a/poll?n=2", at(1000));
        asked.over("2", at(1050));
        asked.begun("3", "http://a/poll?n=3", at(2000));
        assert_eq!(asked.awaited(at(1500), at(2001)), None);
    }

    #[test]
    fn a_repeated_action_is_awaited_again() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut asked = PageRequests::default();
        for (id, begun) in [("1", 0), ("2", 900), ("3", 9000)] {
            asked.begun(id, "http://a/save", at(begun));
            let awaited = asked.awaited(at(begun), at(begun + 1));
            assert_eq!(awaited, Some(at(begun) + PATIENCE), "{id}");
            asked.over(id, at(begun + 50));
        }
    }

    #[test]
    fn what_an_earlier_document_asked_does_not_count() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut asked = PageRequests::default();
        for (id, begun) in [("1", 0), ("2", 1000)] {
            asked.begun(id, "http://a/poll", at(begun));
            asked.over(id, at(begun + 50));
        }
        asked.left();
        asked.begun("3", "http://a/poll", at(2000));
        assert_eq!(asked.awaited(at(1500), at(2001)), Some(at(2000) + PATIENCE));
    }
}
