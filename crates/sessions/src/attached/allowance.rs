//! Rate limit for reports of an attached guest. Each report costs log lines and events.

use std::time::{Duration, Instant};

/// Burst size. A guest that reconnects repeats all earlier reports.
const MOST: f64 = 5000.0;
/// Refill rate.
const PER_SECOND: f64 = 20.0;
/// A report costs one more unit for this many bytes.
const BYTES: f64 = 1024.0;
/// Cost of a reconnect, in addition to its reports.
const RETURN: f64 = 10.0;

/// The remaining budget. Time is passed in.
#[derive(Debug)]
pub(super) struct Allowance {
    left: f64,
    since: Instant,
}

impl Allowance {
    pub fn new(now: Instant) -> Self {
        Self { left: MOST, since: now }
    }

    /// Charges a report. Returns false from the first excess on.
    pub fn report(&mut self, bytes: usize, now: Instant) -> bool {
        // Reports are small enough for an exact conversion.
        self.spend(1.0 + bytes as f64 / BYTES, now)
    }

    /// Charges a connect or reconnect.
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
    fn a_guest_may_repeat_its_reports_and_then_report_at_a_steady_rate() {
        let start = Instant::now();
        let mut allowance = Allowance::new(start);
        assert!((0..4000).all(|_| allowance.report(100, start)));
        assert!((0..100_000).all(|second| allowance.report(2000, start + second * SECOND)));
    }

    #[test]
    fn an_exceeded_allowance_never_recovers() {
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
