//! The time of a run. It does not pass while the run is paused or waits for a person.

use std::time::Duration;

use futures_util::future::pending;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// The clock of one run.
pub(super) struct Clock {
    stands: watch::Sender<bool>,
}

impl Clock {
    /// It runs.
    pub fn new() -> Self {
        Self { stands: watch::Sender::new(false) }
    }

    /// Stands still while something is waited for.
    pub async fn without<T>(&self, waiting: impl Future<Output = T>) -> T {
        self.stands.send_replace(true);
        let done = waiting.await;
        self.stands.send_replace(false);
        done
    }

    /// Waits until this time has passed.
    pub async fn passes(&self, time: Duration) {
        let (mut left, mut stands) = (time, self.stands.subscribe());
        loop {
            if stands.wait_for(|stands| !*stands).await.is_err() {
                return pending().await;
            }
            let since = Instant::now();
            tokio::select! {
                () = sleep(left) => return,
                _ = async { stands.wait_for(|stands| *stands).await.is_ok() } => {
                    left = left.saturating_sub(since.elapsed());
                }
            }
        }
    }
}
