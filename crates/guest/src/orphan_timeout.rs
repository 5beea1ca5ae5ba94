//! A guest without a server ends itself at the session's limits, or when it has been alone too long.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use helmdeck_wire::guest::Alone;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::{log::Log, reports::Reports};

/// How often to look; limits are exact to a second.
const TICK: Duration = Duration::from_millis(500);

/// Counts actions, and knows when the last one was.
#[derive(Clone)]
pub struct Activity {
    last: Arc<Mutex<Instant>>,
    actions: Arc<AtomicU64>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { last: Arc::new(Mutex::new(Instant::now())), actions: Arc::default() }
    }
}

impl Activity {
    /// An action begins or ends.
    pub fn touch(&self) {
        *self.last.lock() = Instant::now();
    }

    /// An action begins.
    pub fn count(&self) {
        self.actions.fetch_add(1, Ordering::Relaxed);
        self.touch();
    }

    /// Actions so far.
    pub fn actions(&self) -> u64 {
        self.actions.load(Ordering::Relaxed)
    }
}

/// Returns when the guest must end, for a reason it names. While a server watches, that is never:
/// the server decides.
pub async fn must_end(alone: Alone, reports: Reports, activity: Activity, log: Log) {
    let began = Instant::now();
    loop {
        sleep(TICK).await;
        let Some(since) = reports.alone_since() else { continue };
        let passed = |from: Instant, limit: u64| from.elapsed() >= Duration::from_millis(limit);
        let reason = if alone.wall_clock_ms.is_some_and(|limit| passed(began, limit)) {
            "the session's time is over"
        } else if alone
            .idle_ms
            .is_some_and(|limit| passed((*activity.last.lock()).max(since), limit))
        {
            "the session was idle"
        } else if passed(since, alone.server_gone_ms) {
            "no server came back"
        } else {
            continue;
        };
        log.line("guest", &format!("ending: {reason}"));
        return;
    }
}
