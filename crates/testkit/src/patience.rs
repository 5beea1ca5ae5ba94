//! Polling with a deadline.

use std::time::{Duration, Instant};

/// Polling interval.
const STEP: Duration = Duration::from_millis(20);

/// Polls until there is a result. `None` if the deadline passes.
pub async fn eventually<T>(
    deadline: Duration,
    mut look: impl AsyncFnMut() -> Option<T>,
) -> Option<T> {
    let began = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return Some(seen);
        }
        if began.elapsed() > deadline {
            return None;
        }
        tokio::time::sleep(STEP).await;
    }
}
