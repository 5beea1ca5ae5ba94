//! The clock for limits and leases.

use std::time::{Duration, Instant};

use ::time::OffsetDateTime;
use tokio::{sync::watch, time::sleep};

/// The clock for limits and leases of sessions. Tests can advance it.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Offset from the machine's clock.
    ahead: Option<watch::Receiver<Duration>>,
}

/// Advances a [`Clock`].
#[derive(Debug, Clone)]
pub struct ClockControl {
    ahead: watch::Sender<Duration>,
}

impl Clock {
    /// A clock that can be advanced, and its control.
    pub fn controlled() -> (Self, ClockControl) {
        let (sender, receiver) = watch::channel(Duration::ZERO);
        (Self { ahead: Some(receiver) }, ClockControl { ahead: sender })
    }

    /// The time of day.
    pub fn now_utc(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc() + self.ahead.as_ref().map_or(Duration::ZERO, |it| *it.borrow())
    }

    /// The current time.
    pub fn now(&self) -> Instant {
        Instant::now() + self.ahead.as_ref().map_or(Duration::ZERO, |ahead| *ahead.borrow())
    }

    /// Waits until this time.
    pub async fn sleep_until(&self, time: Instant) {
        let mut clock = self.clone();
        loop {
            if let Some(ahead) = &mut clock.ahead {
                ahead.mark_unchanged();
            }
            let left = time.saturating_duration_since(clock.now());
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = sleep(left) => return,
                () = clock.set() => {}
            }
        }
    }

    /// Waits until the clock is advanced; forever if it cannot be.
    async fn set(&mut self) {
        if let Some(ahead) = &mut self.ahead
            && ahead.changed().await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}

impl ClockControl {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.ahead.send_modify(|ahead| *ahead += by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn sleep_until_ends_exactly_when_the_clock_reaches_the_time() {
        let (clock, control) = Clock::controlled();
        let due = clock.now() + HOUR;
        let waiting = clock.sleep_until(due);
        tokio::pin!(waiting);
        control.advance(HOUR / 2);
        assert!(futures_util::poll!(&mut waiting).is_pending());
        control.advance(HOUR / 2);
        waiting.await;
        assert!(clock.now() >= due);
        clock.sleep_until(due).await;
    }

    #[tokio::test]
    async fn the_default_clock_is_the_machines() {
        let (clock, control) = Clock::controlled();
        drop(control);
        clock.sleep_until(Instant::now() + Duration::from_millis(1)).await;
        Clock::default().sleep_until(Instant::now() + Duration::from_millis(1)).await;
    }
}
