//! Events that may happen thousands of times a minute, such as refused connections. The first is
//! recorded at once; those of the next minute are counted and recorded together.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use time::OffsetDateTime;

use super::AuditEntry;

/// How long repetitions are counted.
pub(super) const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of kinds that are counted one by one in each group. Others of the group are
/// counted together.
const MAX_KINDS: usize = 50;
/// Maximum number of groups and kinds together.
const MAX_ALL: usize = 10_000;
/// The target of events that are counted together.
const OTHERS: &str = "others";

#[derive(Default)]
pub(super) struct Repeats {
    counted: Mutex<HashMap<(String, String), Counted>>,
}

struct Counted {
    since: Instant,
    /// Repetitions after the first.
    more: u64,
    entry: AuditEntry,
}

impl Repeats {
    /// Counts an event. Returns the entry to record now, if it is the first of its kind.
    pub fn add(
        &self,
        group: &str,
        kind: &str,
        entry: AuditEntry,
        now: Instant,
    ) -> Option<AuditEntry> {
        let mut counted = self.counted.lock();
        let key = (group.to_owned(), kind.to_owned());
        if let Some(known) = counted.get_mut(&key) {
            known.more += 1;
            known.entry = entry;
            return None;
        }
        let kinds = counted.keys().filter(|(other, _)| other == group).count();
        let (key, entry) = if kinds >= MAX_KINDS || counted.len() >= MAX_ALL {
            ((group.to_owned(), OTHERS.to_owned()), entry.target(OTHERS))
        } else {
            (key, entry)
        };
        if let Some(known) = counted.get_mut(&key) {
            known.more += 1;
            known.entry = entry;
            return None;
        }
        counted.insert(key, Counted { since: now, more: 0, entry: entry.clone() });
        Some(entry.detail("count", 1))
    }

    /// Entries for the repetitions of the windows that are over.
    pub fn due(&self, now: Instant) -> Vec<AuditEntry> {
        self.take(|counted| now.saturating_duration_since(counted.since) >= WINDOW)
    }

    /// Entries for all repetitions so far.
    pub fn all(&self) -> Vec<AuditEntry> {
        self.take(|_| true)
    }

    fn take(&self, is_over: impl Fn(&Counted) -> bool) -> Vec<AuditEntry> {
        let mut counted = self.counted.lock();
        let over = counted.extract_if(|_, counted| is_over(counted));
        let mut entries: Vec<_> = over
            .filter(|(_, counted)| counted.more > 0)
            .map(|(_, Counted { more, entry, .. })| entry.detail("count", more))
            .collect();
        entries.sort_by_key(|entry| entry.at);
        // They are recorded now; rows are in the order of their times.
        let now = OffsetDateTime::now_utc();
        entries.iter_mut().for_each(|entry| entry.at = now);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(host: &str) -> AuditEntry {
        AuditEntry::new("egress.denied").target(host)
    }

    fn told(entries: &[AuditEntry]) -> Vec<(String, u64)> {
        let told = |entry: &AuditEntry| {
            (entry.target.clone().unwrap(), entry.details["count"].as_u64().unwrap())
        };
        entries.iter().map(told).collect()
    }

    #[test]
    fn the_first_event_is_recorded_at_once_and_repetitions_together_after_a_minute() {
        let (repeats, begun) = (Repeats::default(), Instant::now());
        assert_eq!(told(&[repeats.add("s", "a", denied("a"), begun).unwrap()]), [("a".into(), 1)]);
        for _ in 0..5 {
            assert!(repeats.add("s", "a", denied("a"), begun).is_none());
        }
        assert!(repeats.add("s", "b", denied("b"), begun).is_some());
        assert!(repeats.add("t", "a", denied("a"), begun).is_some(), "another session");
        assert!(repeats.due(begun + WINDOW / 2).is_empty());
        assert_eq!(told(&repeats.due(begun + WINDOW)), [("a".into(), 5)]);
        assert!(repeats.all().is_empty());
        assert!(repeats.add("s", "a", denied("a"), begun).is_some(), "the next minute");
    }

    #[test]
    fn a_session_that_tries_many_hosts_fills_only_a_few_rows() {
        let (repeats, now) = (Repeats::default(), Instant::now());
        let host = |n: usize| format!("host{n}");
        let first = (0..1000).filter_map(|n| repeats.add("s", &host(n), denied(&host(n)), now));
        assert_eq!(first.count(), MAX_KINDS + 1);
        let others = (1000 - MAX_KINDS - 1) as u64;
        assert_eq!(told(&repeats.all()), [(OTHERS.to_owned(), others)]);
    }
}
