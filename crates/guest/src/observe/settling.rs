//! Waits until the screen and the browser are quiet.

use std::time::{Duration, Instant};

use helmdeck_browser::PageWatch;
use helmdeck_display::{
    DisplayError,
    observe::{Activity, Decision, Quiet},
};
use tokio::{
    pin, select,
    time::{sleep_until, timeout},
};

use super::Observing;
use crate::error::GuestError;

/// How long a program may take to handle its input, before it counts as done.
const HANDLED: Duration = Duration::from_secs(2);
/// After a program has handled its input, its picture takes this long to appear.
const APPEARS: Duration = Duration::from_millis(100);
/// How long a program that the action started may take to open a window.
const OPENS: Duration = Duration::from_secs(3);
/// How often windows are listed while one is awaited.
const LIST: Duration = Duration::from_millis(40);
/// How long one wait for a quiet document lasts, without a screen.
const SLICE: Duration = Duration::from_millis(500);

/// How a wait ended.
pub struct Settled {
    /// Whether everything became quiet in time.
    pub settled: bool,
    /// From the action to the last change.
    took: Duration,
}

impl Settled {
    pub fn ms(&self) -> u32 {
        u32::try_from(self.took.as_millis()).unwrap_or(u32::MAX)
    }
}

impl Observing {
    /// Waits until everything is quiet, or the time is over.
    pub(super) async fn settle(&self, ended: Instant) -> Result<Settled, GuestError> {
        let rule = Quiet { quiet: self.settle.quiet(), timeout: self.settle.timeout() };
        let settle = helmdeck_display::observe::Settle::new(ended, rule);
        let handled = timeout(HANDLED.min(rule.timeout), self.handled());
        pin!(handled);
        // When the program had handled its input.
        let mut done: Option<Instant> = None;
        // When a window was last awaited.
        let mut opening: Option<Instant> = None;
        loop {
            // Created before the look at what is known, so that no news is missed.
            let (changed, news) = (self.changed(), self.news());
            let now = Instant::now();
            let mut activity = self.activity(now);
            match done {
                None => activity.busy = true,
                Some(done) => {
                    // The rest of the quiet time may be over already.
                    let since = (done + APPEARS).checked_sub(rule.quiet);
                    activity.idle_since = activity.idle_since.max(since);
                }
            }
            activity.idle_since = activity.idle_since.max(opening);
            let until = match settle.decide(now, &activity) {
                Decision::Wait(until) => until,
                Decision::TimedOut => return Ok(self.settled(ended, false)),
                Decision::Settled => {
                    if self.is_opening(rule, ended).await? {
                        opening = Some(Instant::now() + LIST);
                        continue;
                    }
                    if self.is_still(rule, ended).await {
                        return Ok(self.settled(ended, true));
                    }
                    continue;
                }
            };
            select! {
                _ = &mut handled, if done.is_none() => done = Some(Instant::now()),
                () = sleep_until(until.into()) => {}
                changed = changed => changed?,
                () = news => {}
            }
        }
    }

    fn settled(&self, ended: Instant, settled: bool) -> Settled {
        let Activity { changed, idle_since, .. } = self.activity(Instant::now());
        let last = changed.max(idle_since).map(|last| last.saturating_duration_since(ended));
        Settled { settled, took: last.unwrap_or_default() }
    }

    /// What is known now.
    fn activity(&self, now: Instant) -> Activity {
        let page = self.page.as_ref().map(|page| page.activity(now)).unwrap_or_default();
        let changed = match &self.screen {
            Some(screen) => screen.watch.last_change(&self.given()),
            None => page.changed,
        };
        Activity {
            changed,
            busy: page.busy,
            busy_until: page.busy_until.filter(|until| *until > now),
            idle_since: page.idle_since,
        }
    }

    /// Waits until the programs have read the input of the action and drawn.
    async fn handled(&self) {
        if let Some(screen) = &self.screen {
            // The screen is lost; the next look at it tells.
            let _ = screen.display.delivered().await;
        }
        if let Some(page) = &self.page {
            page.drawn().await;
        }
    }

    /// Whether a program that the action started has not opened its window yet: one that `launch`
    /// started, or one that connected to the X server since.
    async fn is_opening(&self, rule: Quiet, ended: Instant) -> Result<bool, GuestError> {
        let Some(screen) = &self.screen else { return Ok(false) };
        let limit = OPENS.min(rule.timeout.saturating_sub(rule.quiet + LIST));
        if ended.elapsed() >= limit {
            return Ok(false);
        }
        let (before, now) = (&screen.windows, screen.display.seen_windows().await?);
        let opened = now.window_opened(before);
        Ok(!opened && (self.launches || now.program_is_starting(before)))
    }

    /// Whether the page agrees that nothing moves. Without a screen, waits a moment for that.
    async fn is_still(&self, rule: Quiet, ended: Instant) -> bool {
        let Some(page) = &self.page else { return true };
        let end = ended + rule.timeout;
        let left = end.saturating_duration_since(Instant::now());
        if self.screen.is_some() {
            page.look().await;
        } else {
            page.calm(rule.quiet, left.min(SLICE.max(rule.quiet))).await;
        }
        let now = Instant::now();
        let activity = page.activity(now);
        !activity.busy && activity.busy_until.is_none_or(|until| until <= now)
    }

    /// Waits for a change of the screen after this call.
    fn changed(&self) -> impl Future<Output = Result<(), DisplayError>> + use<'_> {
        let changed = self.screen.as_ref().map(|screen| screen.watch.changed());
        async move {
            match changed {
                Some(changed) => changed.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Waits for news of the browser after this call.
    fn news(&self) -> impl Future<Output = ()> + use<'_> {
        let news = self.page.as_ref().map(PageWatch::news);
        async move {
            match news {
                Some(news) => news.await,
                None => std::future::pending().await,
            }
        }
    }
}
