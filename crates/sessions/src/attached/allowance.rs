//! How much a guest that is not ours may report: each report costs us log lines and events.

use std::time::{Duration, Instant};

/// At once: one that comes back tells again all that it ever told.
const MOST: f64 = 5000.0;
/// Again in each second.
const PER_SECOND: f64 = 20.0;
/// A report costs one more for each so many bytes.
const BYTES: f64 = 1024.0;
/// What a guest that comes back costs, besides its reports.
const RETURN: f64 = 10.0;

/// What is left of it; the time is passed in.
#[derive(Debug)]
pub(super) struct Allowance {
    left: f64,
    since: Instant,
}

impl Allowance {
    pub fn new(now: Instant) -> Self {
        Self { left: MOST, since: now }
    }

    /// A report of so many bytes; false from the first on that is too much.
    pub fn report(&mut self, bytes: usize, now: Instant) -> bool {
        // No report is so large that it could not be told exactly.
        self.spend(1.0 + bytes as f64 / BYTES, now)
    }

    /// The guest is there, perhaps again.
    pub fn come(&mut self, now: Instant) -> bool {
        self.spend(RETURN, now)
    }

    pub fn is_spent(&self) -> bool {
        self.left < 0.0
    }

    fn spend(&mut self, cost: f64, now: Instant) -> bool {
        if self.is_spent() {
            return false;
        }
        let passed = now.saturating_duration_since(self.since).max(Duration::ZERO);
        self.left = (self.left + passed.as_secs_f64() * PER_SECOND).min(MOST) - cost;
        self.since = now;
        !self.is_spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_guest_may_tell_all_again_and_then_something_every_second_for_ever() {
        let start = Instant::now();
        let mut allowance = Allowance::new(start);
        assert!((0..4000).all(|_| allowance.report(100, start)));
        assert!((0..100_000).all(|second| allowance.report(2000, start + second * SECOND)));
    }

    #[test]
    fn more_than_that_is_too_much_and_stays_so() {
        let start = Instant::now();
        let mut many = Allowance::new(start);
        assert!(!(0..5000).all(|_| many.report(100, start)));
        assert!(!many.report(1, start + 1000 * SECOND) && many.is_spent());
        let mut large = Allowance::new(start);
        assert!(!(0..21).all(|_| large.report(256 << 10, start)));
        let mut restless = Allowance::new(start);
        assert!(!(0..2000).all(|n| restless.come(start + n * SECOND / 4)));
    }
}
