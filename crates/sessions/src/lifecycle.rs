//! When a session may act and when it must end: pure decisions, with time passed in.
//!
//! ```text
//! Starting ──ready──▶ Running ───end asked, limit reached, a part lost──▶ Over
//!     ├──other link version──▶ Outdated ──end asked, limit reached──▶ Over
//!     └──start failed, end asked──▶ Over
//! ```

use std::time::{Duration, Instant};

use helmdeck_wire::session::{EndReason, Status};
use time::OffsetDateTime;

/// Phase of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Not ready yet.
    Starting,
    /// Ready for calls.
    Running,
    /// Its guest has another version: it runs but cannot act.
    Outdated,
    /// Ended.
    Over(Ending),
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub reason: EndReason,
    /// When, in wall-clock time.
    pub at: OffsetDateTime,
}

/// Limits of a session's life.
#[derive(Debug, Clone, Copy, Default)]
pub struct LifetimeLimits {
    /// Time from creation.
    pub wall_clock: Option<Duration>,
    /// Time since the last call.
    pub idle: Option<Duration>,
    /// Number of actions.
    pub max_tasks: Option<u64>,
}

/// The state that decisions are based on.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    limits: LifetimeLimits,
    created: Instant,
    last_call: Instant,
    /// Calls in progress. They keep a session from being idle.
    busy: usize,
    /// Whether commands are running. They do the same.
    executing: bool,
    tasks: u64,
    phase: Phase,
}

/// Why a call is refused.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not ready yet.
    Starting,
    /// Created by another version.
    Outdated,
    /// Ended.
    Over(Ending),
    /// All `max_tasks` are done or in progress.
    NoTasksLeft(u64),
}

impl Lifecycle {
    /// A session created at `created`.
    pub fn new(limits: LifetimeLimits, created: Instant) -> Self {
        Self {
            limits,
            created,
            last_call: created,
            busy: 0,
            executing: false,
            tasks: 0,
            phase: Phase::Starting,
        }
    }

    /// The current phase.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether there may be a guest for final requests.
    pub fn has_guest(&self) -> bool {
        match self.phase {
            Phase::Starting | Phase::Outdated => false,
            Phase::Over(Ending { reason, .. }) => {
                !matches!(reason, EndReason::GuestLost | EndReason::StartFailed)
            }
            Phase::Running => true,
        }
    }

    /// How it ended.
    pub fn ending(&self) -> Option<Ending> {
        match self.phase {
            Phase::Over(ending) => Some(ending),
            Phase::Starting | Phase::Running | Phase::Outdated => None,
        }
    }

    /// Number of actions so far.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The phase as clients see it.
    pub fn status(&self) -> Status {
        match self.phase {
            Phase::Starting => Status::Starting,
            Phase::Running => Status::Running,
            Phase::Outdated => Status::Outdated,
            Phase::Over(ending) => status_of(ending.reason),
        }
    }

    /// Sets the number of actions that an adopted session had already performed.
    pub fn set_tasks(&mut self, tasks: u64) {
        self.tasks = tasks;
    }

    /// Marks the session as outdated: its guest has another version.
    pub fn outdated(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Outdated;
        }
    }

    /// Marks the session as ready, unless it has ended meanwhile.
    pub fn ready(&mut self, now: Instant) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
            self.last_call = now;
        }
    }

    /// Ends the session. The first reason stays.
    pub fn end(&mut self, reason: EndReason, at: OffsetDateTime) {
        if !matches!(self.phase, Phase::Over(_)) {
            self.phase = Phase::Over(Ending { reason, at });
        }
    }

    /// Admits an action, or refuses it.
    pub fn begin_task(&mut self, now: Instant) -> Result<(), Refusal> {
        let spent = self.limits.max_tasks.filter(|limit| self.tasks >= *limit);
        if let (Phase::Running, Some(limit)) = (&self.phase, spent) {
            return Err(Refusal::NoTasksLeft(limit));
        }
        self.begin_use(now)?;
        // An attached guest may report any number of actions.
        self.tasks = self.tasks.saturating_add(1);
        Ok(())
    }

    /// Admits an activity that is not an action, or refuses it.
    pub fn begin_use(&mut self, now: Instant) -> Result<(), Refusal> {
        match &self.phase {
            Phase::Starting => Err(Refusal::Starting),
            Phase::Outdated => Err(Refusal::Outdated),
            Phase::Over(ending) => Err(Refusal::Over(*ending)),
            Phase::Running => {
                self.busy += 1;
                self.last_call = now;
                Ok(())
            }
        }
    }

    /// Ends an admitted action or activity.
    pub fn finish(&mut self, now: Instant) {
        self.busy = self.busy.saturating_sub(1);
        self.last_call = now;
    }

    /// Records whether commands are running.
    pub fn execute(&mut self, executing: bool, now: Instant) {
        self.executing = executing;
        self.last_call = now;
    }

    /// Records manual activity.
    pub fn touch(&mut self, now: Instant) {
        self.last_call = now;
    }

    /// Why the session must end at `now`, if it must.
    pub fn due(&self, now: Instant) -> Option<EndReason> {
        if matches!(self.phase, Phase::Over(_)) {
            return None;
        }
        if self.wall_clock_end().is_some_and(|end| now >= end) {
            return Some(EndReason::WallClock);
        }
        if self.idle_end().is_some_and(|end| now >= end) {
            return Some(EndReason::Idle);
        }
        let spent = self.limits.max_tasks.is_some_and(|limit| self.tasks >= limit);
        (spent && self.busy == 0 && !self.executing).then_some(EndReason::MaxTasks)
    }

    /// The earliest time at which [`Self::due`] may change by itself.
    pub fn next_check(&self) -> Option<Instant> {
        [self.wall_clock_end(), self.idle_end()].into_iter().flatten().min()
    }

    /// When the wall-clock limit is reached.
    pub fn wall_clock_end(&self) -> Option<Instant> {
        self.limits.wall_clock.map(|limit| self.created + limit)
    }

    /// When the idle limit is reached; `None` without a limit, or while calls or commands are
    /// running.
    pub fn idle_end(&self) -> Option<Instant> {
        let waiting = self.phase == Phase::Running && self.busy == 0 && !self.executing;
        self.limits.idle.filter(|_| waiting).map(|limit| self.last_call + limit)
    }
}

/// The status of a session that ended for this reason.
pub fn status_of(reason: EndReason) -> Status {
    if is_failure(reason) { Status::Error } else { Status::Terminated }
}

/// Whether the reason is a failure, not a limit or a request.
fn is_failure(reason: EndReason) -> bool {
    match reason {
        EndReason::StartFailed
        | EndReason::GuestLost
        | EndReason::DisplayLost
        | EndReason::BrowserLost
        | EndReason::OutOfMemory => true,
        EndReason::Requested
        | EndReason::WallClock
        | EndReason::Idle
        | EndReason::MaxTasks
        | EndReason::ServerStopped => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn running(limits: LifetimeLimits) -> (Lifecycle, Instant) {
        let start = Instant::now();
        let mut life = Lifecycle::new(limits, start);
        life.ready(start);
        (life, start)
    }

    #[test]
    fn a_session_without_limits_lives_on() {
        let (life, start) = running(LifetimeLimits::default());
        assert_eq!(life.due(start + 1_000_000 * SECOND), None);
        assert_eq!(life.next_check(), None);
    }

    #[test]
    fn the_wall_clock_counts_from_creation_even_while_starting() {
        let start = Instant::now();
        let limits = LifetimeLimits { wall_clock: Some(10 * SECOND), ..LifetimeLimits::default() };
        let life = Lifecycle::new(limits, start);
        assert_eq!(life.due(start + 9 * SECOND), None);
        assert_eq!(life.due(start + 10 * SECOND), Some(EndReason::WallClock));
    }

    #[test]
    fn a_call_puts_the_idle_end_off_and_a_long_call_is_not_idle() {
        let (mut life, start) =
            running(LifetimeLimits { idle: Some(10 * SECOND), ..LifetimeLimits::default() });
        life.begin_task(start + 9 * SECOND).unwrap();
        assert_eq!(life.due(start + 60 * SECOND), None);
        life.finish(start + 60 * SECOND);
        assert_eq!(life.due(start + 69 * SECOND), None);
        assert_eq!(life.due(start + 70 * SECOND), Some(EndReason::Idle));
        assert_eq!(life.next_check(), Some(start + 70 * SECOND));
    }

    #[test]
    fn a_command_that_runs_keeps_a_session_from_being_idle() {
        let limits = LifetimeLimits {
            idle: Some(10 * SECOND),
            max_tasks: Some(1),
            ..LifetimeLimits::default()
        };
        let (mut life, start) = running(limits);
        life.begin_task(start).unwrap();
        life.execute(true, start);
        life.finish(start);
        assert_eq!(life.due(start + 3600 * SECOND), None);
        life.execute(false, start + 3600 * SECOND);
        assert_eq!(life.idle_end(), Some(start + 3610 * SECOND));
        assert_eq!(life.due(start + 3600 * SECOND), Some(EndReason::MaxTasks));
    }

    #[test]
    fn the_last_task_is_finished_before_the_session_ends() {
        let (mut life, start) =
            running(LifetimeLimits { max_tasks: Some(2), ..LifetimeLimits::default() });
        life.begin_task(start).unwrap();
        life.finish(start);
        life.begin_task(start).unwrap();
        assert_eq!(life.begin_task(start), Err(Refusal::NoTasksLeft(2)));
        assert_eq!(life.due(start), None);
        life.finish(start);
        assert_eq!(life.due(start), Some(EndReason::MaxTasks));
    }

    #[test]
    fn the_first_end_stays_and_nothing_is_admitted_after_it() {
        let (mut life, start) =
            running(LifetimeLimits { idle: Some(SECOND), ..LifetimeLimits::default() });
        let at = OffsetDateTime::UNIX_EPOCH;
        life.end(EndReason::Requested, at);
        life.end(EndReason::GuestLost, at + SECOND);
        life.ready(start);
        assert_eq!(life.status(), Status::Terminated);
        assert_eq!(
            life.begin_task(start),
            Err(Refusal::Over(Ending { reason: EndReason::Requested, at }))
        );
        assert_eq!(life.due(start + 60 * SECOND), None);
    }

    #[test]
    fn nothing_is_admitted_before_it_is_ready() {
        let mut life = Lifecycle::new(LifetimeLimits::default(), Instant::now());
        assert_eq!(life.begin_task(Instant::now()), Err(Refusal::Starting));
        assert_eq!(life.status(), Status::Starting);
    }
}
