//! Decides when the screen is quiet. Pure: times are passed in.

use std::time::{Duration, Instant};

/// When a wait ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// How long nothing may change.
    pub quiet: Duration,
    /// How long to wait in total.
    pub timeout: Duration,
}

/// A wait for a quiet screen, from the end of an action.
#[derive(Debug, Clone, Copy)]
pub struct Settle {
    since: Instant,
    rule: Quiet,
}

/// What is known at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// The last change on the screen that counts.
    pub changed: Option<Instant>,
    /// Whether something is under way that has not changed the screen yet, such as a navigation.
    pub busy: bool,
    /// Until when something is certain to change the screen, such as a transition.
    pub busy_until: Option<Instant>,
    /// When something like that last ended.
    pub idle_since: Option<Instant>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The screen is quiet.
    Settled,
    /// Decide again at this time, or after any change.
    Wait(Instant),
    /// The time is over.
    TimedOut,
}

impl Settle {
    /// A wait that began at `since`.
    pub fn new(since: Instant, rule: Quiet) -> Self {
        Self { since, rule }
    }

    /// When the wait began.
    pub fn since(&self) -> Instant {
        self.since
    }

    /// Decides by what is known `now`.
    pub fn decide(&self, now: Instant, activity: &Activity) -> Decision {
        let end = self.since + self.rule.timeout;
        let Activity { changed, busy, busy_until, idle_since } = *activity;
        let last =
            [changed, busy_until, idle_since].into_iter().flatten().fold(self.since, Instant::max);
        let quiet = last + self.rule.quiet;
        if !busy && quiet <= now {
            return Decision::Settled;
        }
        if end <= now {
            return Decision::TimedOut;
        }
        Decision::Wait(if busy { end } else { quiet.min(end) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Quiet =
        Quiet { quiet: Duration::from_millis(150), timeout: Duration::from_millis(1000) };

    /// Decides at a time, in milliseconds, and returns the time of the next decision.
    fn decide(now: u64, activity: impl Fn(&dyn Fn(u64) -> Option<Instant>) -> Activity) -> Answer {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        match Settle::new(start, RULE).decide(at(now), &activity(&|ms| Some(at(ms)))) {
            Decision::Settled => Answer::Settled,
            Decision::TimedOut => Answer::TimedOut,
            Decision::Wait(until) => Answer::Wait((until - start).as_millis()),
        }
    }

    #[derive(Debug, PartialEq, Eq)]
    enum Answer {
        Settled,
        Wait(u128),
        TimedOut,
    }

    #[test]
    fn an_action_without_any_change_settles_after_the_quiet_time() {
        let nothing = |_: &dyn Fn(u64) -> Option<Instant>| Activity::default();
        assert_eq!(decide(0, nothing), Answer::Wait(150));
        assert_eq!(decide(149, nothing), Answer::Wait(150));
        assert_eq!(decide(150, nothing), Answer::Settled);
    }

    #[test]
    fn each_change_begins_the_quiet_time_again() {
        let changed = |at: &dyn Fn(u64) -> Option<Instant>| Activity {
            changed: at(300),
            ..Activity::default()
        };
        assert_eq!(decide(310, changed), Answer::Wait(450));
        assert_eq!(decide(450, changed), Answer::Settled);
    }

    #[test]
    fn a_navigation_is_not_quiet_even_if_nothing_is_drawn() {
        let busy =
            |_: &dyn Fn(u64) -> Option<Instant>| Activity { busy: true, ..Activity::default() };
        assert_eq!(decide(500, busy), Answer::Wait(1000));
        let ended = |at: &dyn Fn(u64) -> Option<Instant>| Activity {
            idle_since: at(500),
            ..Activity::default()
        };
        assert_eq!(decide(510, ended), Answer::Wait(650));
    }

    #[test]
    fn a_transition_is_awaited_to_its_end() {
        let moving = |at: &dyn Fn(u64) -> Option<Instant>| Activity {
            busy_until: at(400),
            ..Activity::default()
        };
        assert_eq!(decide(200, moving), Answer::Wait(550));
        assert_eq!(decide(550, moving), Answer::Settled);
    }

    #[test]
    fn a_screen_that_never_rests_ends_at_the_time_out() {
        let restless = |at: &dyn Fn(u64) -> Option<Instant>| Activity {
            changed: at(990),
            ..Activity::default()
        };
        assert_eq!(decide(995, restless), Answer::Wait(1000));
        assert_eq!(decide(1000, restless), Answer::TimedOut);
    }
}
