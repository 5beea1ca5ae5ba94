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

/// Where a session is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Not ready yet.
    Starting,
    /// Calls are answered.
    Running,
    /// Its guest is of another version: it lives, and cannot act.
    Outdated,
    /// Nothing happens any more.
    Over(Ending),
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Why.
    pub reason: EndReason,
    /// When, by the clock.
    pub at: OffsetDateTime,
}

/// How long a session may live.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// From creation, whatever happens.
    pub wall_clock: Option<Duration>,
    /// From the last call.
    pub idle: Option<Duration>,
    /// Actions.
    pub max_tasks: Option<u64>,
}

/// The state that decisions are made on.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    limits: Limits,
    created: Instant,
    last_call: Instant,
    /// Calls under way keep a session from being idle.
    busy: usize,
    /// So do commands that run in it.
    executing: bool,
    tasks: u64,
    phase: Phase,
}

/// Why a call is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not ready yet.
    Starting,
    /// Of another version.
    Outdated,
    /// Over.
    Over(Ending),
    /// All of `max_tasks` are done or under way.
    NoTasksLeft(u64),
}

impl Lifecycle {
    /// A session that was asked for at `created`.
    pub fn new(limits: Limits, created: Instant) -> Self {
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

    /// Where it is.
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether a guest is there to be asked for a last thing.
    pub fn has_guest(&self) -> bool {
        match self.phase {
            Phase::Starting | Phase::Outdated => false,
            Phase::Over(Ending { reason, .. }) => {
                !matches!(reason, EndReason::GuestLost | EndReason::StartFailed)
            }
            Phase::Running => true,
        }
    }

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<Ending> {
        match self.phase {
            Phase::Over(ending) => Some(ending),
            Phase::Starting | Phase::Running | Phase::Outdated => None,
        }
    }

    /// Actions admitted so far.
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

    /// The actions that an adopted session had done before.
    pub fn set_tasks(&mut self, tasks: u64) {
        self.tasks = tasks;
    }

    /// Its guest turned out to be of another version.
    pub fn outdated(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Outdated;
        }
    }

    /// The start is complete. A session that was ended meanwhile stays so.
    pub fn ready(&mut self, now: Instant) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
            self.last_call = now;
        }
    }

    /// It is over; the first reason stays.
    pub fn end(&mut self, reason: EndReason, at: OffsetDateTime) {
        if !matches!(self.phase, Phase::Over(_)) {
            self.phase = Phase::Over(Ending { reason, at });
        }
    }

    /// Admits an action, or says why not.
    pub fn begin_task(&mut self, now: Instant) -> Result<(), Refusal> {
        let spent = self.limits.max_tasks.filter(|limit| self.tasks >= *limit);
        if let (Phase::Running, Some(limit)) = (&self.phase, spent) {
            return Err(Refusal::NoTasksLeft(limit));
        }
        self.begin_use(now)?;
        // An attached guest may say that it has done any number of them.
        self.tasks = self.tasks.saturating_add(1);
        Ok(())
    }

    /// Admits what keeps a session busy and is no action, or says why not.
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

    /// What was admitted is done, whatever came of it.
    pub fn finish(&mut self, now: Instant) {
        self.busy = self.busy.saturating_sub(1);
        self.last_call = now;
    }

    /// Commands run in it, or none do any more.
    pub fn execute(&mut self, executing: bool, now: Instant) {
        self.executing = executing;
        self.last_call = now;
    }

    /// Somebody uses it by hand.
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

    /// The earliest moment at which [`Self::due`] may change by itself.
    pub fn next_check(&self) -> Option<Instant> {
        [self.wall_clock_end(), self.idle_end()].into_iter().flatten().min()
    }

    /// The moment of the wall-clock end, if there is one.
    pub fn wall_clock_end(&self) -> Option<Instant> {
        self.limits.wall_clock.map(|limit| self.created + limit)
    }

    /// The moment of the idle end; none while a call is under way or a command runs, or without a limit.
    pub fn idle_end(&self) -> Option<Instant> {
        let waiting = self.phase == Phase::Running && self.busy == 0 && !self.executing;
        self.limits.idle.filter(|_| waiting).map(|limit| self.last_call + limit)
    }
}

/// The status of a session that is over for this reason.
pub fn status_of(reason: EndReason) -> Status {
    if is_failure(reason) { Status::Error } else { Status::Terminated }
}

/// Whether something broke, rather than ran out or was asked for.
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

    fn running(limits: Limits) -> (Lifecycle, Instant) {
        let start = Instant::now();
        let mut life = Lifecycle::new(limits, start);
        life.ready(start);
        (life, start)
    }

    #[test]
    fn a_session_without_limits_lives_on() {
        let (life, start) = running(Limits::default());
        assert_eq!(life.due(start + 1_000_000 * SECOND), None);
        assert_eq!(life.next_check(), None);
    }

    #[test]
    fn the_wall_clock_counts_from_creation_even_while_starting() {
        let start = Instant::now();
        let limits = Limits { wall_clock: Some(10 * SECOND), ..Limits::default() };
        let life = Lifecycle::new(limits, start);
        assert_eq!(life.due(start + 9 * SECOND), None);
        assert_eq!(life.due(start + 10 * SECOND), Some(EndReason::WallClock));
    }

    #[test]
    fn a_call_puts_the_idle_end_off_and_a_long_call_is_not_idle() {
        let (mut life, start) = running(Limits { idle: Some(10 * SECOND), ..Limits::default() });
        life.begin_task(start + 9 * SECOND).unwrap();
        assert_eq!(life.due(start + 60 * SECOND), None);
        life.finish(start + 60 * SECOND);
        assert_eq!(life.due(start + 69 * SECOND), None);
        assert_eq!(life.due(start + 70 * SECOND), Some(EndReason::Idle));
        assert_eq!(life.next_check(), Some(start + 70 * SECOND));
    }

    #[test]
    fn a_command_that_runs_keeps_a_session_from_being_idle() {
        let limits = Limits { idle: Some(10 * SECOND), max_tasks: Some(1), ..Limits::default() };
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
        let (mut life, start) = running(Limits { max_tasks: Some(2), ..Limits::default() });
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
        let (mut life, start) = running(Limits { idle: Some(SECOND), ..Limits::default() });
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
        let mut life = Lifecycle::new(Limits::default(), Instant::now());
        assert_eq!(life.begin_task(Instant::now()), Err(Refusal::Starting));
        assert_eq!(life.status(), Status::Starting);
    }
}
