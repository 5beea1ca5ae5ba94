//! Ends a guest without a server at the session's limits, or when it was orphaned too long.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use helmdeck_wire::guest::OrphanLimits;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::{log::Log, reports::Reports};

/// How often to check; limits are exact to a second.
const TICK: Duration = Duration::from_millis(500);

/// Counts actions, and records the time of the last one.
#[derive(Clone)]
pub struct Activity {
    last: Arc<Mutex<Instant>>,
    actions: Arc<AtomicU64>,
    /// The number of running commands.
    executing: Arc<Mutex<usize>>,
}

impl Default for Activity {
    fn default() -> Self {
        let last = Arc::new(Mutex::new(Instant::now()));
        Self { last, actions: Arc::default(), executing: Arc::default() }
    }
}

/// Keeps the session from being idle until dropped.
pub struct Executing {
    activity: Activity,
    reports: Reports,
}

impl Drop for Executing {
    fn drop(&mut self) {
        self.activity.touch();
        let mut executing = self.activity.executing.lock();
        *executing -= 1;
        if *executing == 0 {
            self.reports.tell_executing(false);
        }
    }
}

impl Activity {
    /// Records the start or end of an action.
    pub fn touch(&self) {
        *self.last.lock() = Instant::now();
    }

    /// Counts an action.
    pub fn count(&self) {
        self.actions.fetch_add(1, Ordering::Relaxed);
        self.touch();
    }

    /// Records the start of a command, which counts as an action.
    pub fn execute(&self, reports: &Reports) -> Executing {
        self.count();
        let mut executing = self.executing.lock();
        *executing += 1;
        if *executing == 1 {
            reports.tell_executing(true);
        }
        Executing { activity: self.clone(), reports: reports.clone() }
    }

    /// The time of the last use: now, while commands run.
    fn last(&self) -> Instant {
        if *self.executing.lock() > 0 { Instant::now() } else { *self.last.lock() }
    }

    /// The number of actions so far.
    pub fn actions(&self) -> u64 {
        self.actions.load(Ordering::Relaxed)
    }
}

/// Waits until the guest must end, and logs the reason. Never returns while a server watches,
/// because then the server decides.
pub async fn must_end(orphan_limits: OrphanLimits, reports: Reports, activity: Activity, log: Log) {
    let began = Instant::now();
    loop {
        sleep(TICK).await;
        let Some(since) = reports.alone_since() else { continue };
        let passed = |from: Instant, limit: u64| from.elapsed() >= Duration::from_millis(limit);
        let reason = if orphan_limits.wall_clock_ms.is_some_and(|limit| passed(began, limit)) {
            "the session reached its time limit"
        } else if orphan_limits
            .idle_ms
            .is_some_and(|limit| passed(activity.last().max(since), limit))
        {
            "the session was idle"
        } else if passed(since, orphan_limits.server_gone_ms) {
            "no server came back"
        } else {
            continue;
        };
        log.line("guest", &format!("ending: {reason}"));
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_not_idle_while_a_command_runs() {
        let (activity, reports) = (Activity::default(), Reports::default());
        let began = activity.last();
        let (one, two) = (activity.execute(&reports), activity.execute(&reports));
        assert_eq!(activity.actions(), 2);
        drop(one);
        let during = activity.last();
        assert!(during > began && activity.last() > during, "it moves by itself");
        drop(two);
        assert_eq!(activity.last(), activity.last());
    }
}
