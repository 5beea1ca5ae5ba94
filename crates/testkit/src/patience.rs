//! Waiting for what will happen, for as long as it may take and no longer.

use std::time::{Duration, Instant};

/// How often to look.
const STEP: Duration = Duration::from_millis(20);

/// Looks again and again until there is something to see; nothing if there is none in time.
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
