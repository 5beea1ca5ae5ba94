//! The idle end of a session: it is announced to listeners, and can be postponed.

use std::time::{Duration, Instant};

use serde_json::json;
use time::OffsetDateTime;

use crate::{
    Caller, Session, SessionError, events::EventKind, history::Attempt, lifecycle::Lifecycle,
};

/// Minimum interval between announcements. A busy session moves its end with every call.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// Smaller changes are not announced.
const SAME: Duration = Duration::from_secs(1);

impl Session {
    /// Postpones the idle end, as any call does.
    pub async fn keep_alive(&self, caller: &Caller) -> Result<(), SessionError> {
        self.adoption().await;
        let mut attempt = Attempt::named(self, caller.actor(), "keep_alive", json!({}));
        let kept = self.begin(Lifecycle::begin_use).map(drop);
        attempt.outcome = kept.as_ref().map_or_else(SessionError::code, |()| "ok");
        kept
    }

    /// When the session ends if it stays idle.
    pub(crate) fn idle_ends_at(&self) -> Option<OffsetDateTime> {
        let end = self.inner.life.lock().idle_end()?;
        Some(OffsetDateTime::now_utc() + end.saturating_duration_since(self.inner.clock.now()))
    }

    /// Announces the idle end if it moved. Returns when to check again.
    pub(crate) fn tell_idle_end(&self, told: &mut LastAnnouncement) -> Option<Instant> {
        let end = self.inner.life.lock().idle_end();
        match told.next(end, self.inner.clock.now()) {
            Next::Nothing => None,
            Next::Later(at) => Some(at),
            Next::Tell => {
                self.tell(EventKind::IdleEnd(self.idle_ends_at()));
                None
            }
        }
    }
}

/// The last announcement. Pure, with time passed in.
#[derive(Debug, Default)]
pub(crate) struct LastAnnouncement {
    end: Option<Instant>,
    at: Option<Instant>,
}

/// What to do about an idle end.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Nothing,
    Tell,
    Later(Instant),
}

impl LastAnnouncement {
    fn next(&mut self, end: Option<Instant>, now: Instant) -> Next {
        if self.is_known(end) {
            return Next::Nothing;
        }
        match self.at.map(|at| at + TELL_EVERY) {
            Some(later) if later > now => Next::Later(later),
            _ => {
                (self.end, self.at) = (end, Some(now));
                Next::Tell
            }
        }
    }

    fn is_known(&self, end: Option<Instant>) -> bool {
        match (self.end, end) {
            (None, None) => true,
            (Some(told), Some(end)) => {
                let moved = end.saturating_duration_since(told);
                moved.max(told.saturating_duration_since(end)) < SAME
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_end_is_announced_when_it_moves_at_a_limited_rate() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut told = LastAnnouncement::default();
        assert_eq!(told.next(None, start), Next::Nothing);
        assert_eq!(told.next(Some(start + 300 * second), start), Next::Tell);
        assert_eq!(told.next(Some(start + 300 * second + second / 2), start), Next::Nothing);
        // A call is in progress: the countdown stops, but not for every short call.
        assert_eq!(told.next(None, start), Next::Later(start + TELL_EVERY));
        assert_eq!(told.next(Some(start + 300 * second), start + second), Next::Nothing);
        assert_eq!(told.next(None, start + TELL_EVERY), Next::Tell);
        assert_eq!(told.next(Some(start + 310 * second), start + 10 * second), Next::Tell);
    }
}
