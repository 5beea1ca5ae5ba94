//! Pauses between attempts, during an outage of the server.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The first and the longest pause.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The attempts of one message.
pub struct Retry {
    ends: Option<Instant>,
    pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { ends: None, pause: PAUSES.0 }
    }
}

impl Retry {
    /// Whether an attempt has failed.
    pub fn has_failed(&self) -> bool {
        self.ends.is_some()
    }

    /// Pauses before the next attempt. False if it would be later than `limit` after the first
    /// failure.
    pub async fn pause(&mut self, at_least: Duration, limit: Duration) -> bool {
        let Some(pause) = self.next(Instant::now(), at_least, limit) else { return false };
        sleep(pause).await;
        true
    }

    fn next(&mut self, now: Instant, at_least: Duration, limit: Duration) -> Option<Duration> {
        let ends = *self.ends.get_or_insert(now + limit);
        let pause = self.pause.max(at_least);
        self.pause = (self.pause * 2).min(PAUSES.1);
        (now + pause <= ends).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_get_rarer_and_end_at_the_limit() {
        let mut retry = Retry::default();
        let (limit, began) = (Duration::from_secs(60), Instant::now());
        let (mut attempts, mut now) = (0, began);
        while let Some(pause) = retry.next(now, Duration::ZERO, limit) {
            now += pause;
            attempts += 1;
        }
        assert!((10..30).contains(&attempts), "{attempts}");
        assert!(now - began <= limit);
        assert_eq!(Retry::default().next(began, limit * 2, limit), None);
    }
}
