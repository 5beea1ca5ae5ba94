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
        let now = Instant::now();
        let ends = *self.ends.get_or_insert(now + limit);
        let pause = self.pause.max(at_least);
        if now + pause > ends {
            return false;
        }
        sleep(pause).await;
        self.pause = (self.pause * 2).min(PAUSES.1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_get_rarer_and_end_at_the_limit() {
        let mut retry = Retry::default();
        let limit = Duration::from_secs(60);
        let mut attempts = 0;
        let began = Instant::now();
        while retry.pause(Duration::ZERO, limit).await {
            attempts += 1;
        }
        assert!((10..30).contains(&attempts), "{attempts}");
        assert!(began.elapsed() <= limit);
        assert!(!Retry::default().pause(limit * 2, limit).await);
    }
}
