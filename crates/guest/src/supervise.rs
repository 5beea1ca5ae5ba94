//! Reacts when a part of a running session ends.

use std::{sync::Arc, time::Duration};

use helmdeck_browser::AnyTab;
use helmdeck_cdp::Current;
use helmdeck_display::Display;
use helmdeck_wire::{
    error::with_causes,
    guest::{Begin, Part, Progress},
};
use serde::de::IgnoredAny;
use serde_json::json;
use time::OffsetDateTime;
use tokio::{
    process::Child,
    time::{Instant, sleep},
};

use crate::{browser::Browser, error::GuestError, log::Log, profile::StayClosed, reports::Reports};

/// How often Chromium is restarted in a headless session before the session ends.
const MAX_TRIES: u32 = 3;
/// The pause before the second restart; it doubles each time.
const BACK_OFF: Duration = Duration::from_millis(500);
/// The same for a desktop, which is useful without a browser, and the longest pause there.
const DESKTOP_BACK_OFF: Duration = Duration::from_secs(1);
const DESKTOP_PAUSE: Duration = Duration::from_secs(30);
/// After running this long, a browser gets all its restarts again.
const STABLE: Duration = Duration::from_secs(60);
/// How long one attempt waits for a browser.
const LOOK: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Lines of the log sent with a loss.
const TAIL_LINES: usize = 200;

/// Reports that a part is gone for good.
pub fn tell_lost(part: Part, reports: &Reports, log: &Log) {
    reports.tell(Progress::Lost { part, log_tail: log.tail(TAIL_LINES) });
}

/// Watches the X server; the session ends with it.
pub async fn watch_display(mut xvnc: Child, reports: Reports, log: Log) {
    let how = match xvnc.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    log.line("guest", &format!("the X server ended: {how}"));
    tell_lost(Part::Display, &reports, &log);
}

/// What is needed to restart a browser.
pub struct Parts {
    pub display: Option<Display>,
    pub begin: Begin,
    pub stay_closed: StayClosed,
}

/// The pause before the next restart; `None` if there is none.
fn pause(tries: u32, desktop: bool) -> Option<Duration> {
    let doubled = |first: Duration| match tries {
        0 => Duration::ZERO,
        tries => first.saturating_mul(2_u32.saturating_pow(tries - 1)),
    };
    if desktop {
        return Some(doubled(DESKTOP_BACK_OFF).min(DESKTOP_PAUSE));
    }
    (tries < MAX_TRIES).then(|| doubled(BACK_OFF))
}

/// The report of how Chromium ended and when it is restarted.
fn end_report(how: &str, pause: Duration) -> Progress {
    if pause.is_zero() {
        return Progress::BrowserEnded(how.to_owned());
    }
    let (hour, minute, second) = (OffsetDateTime::now_utc() + pause).to_hms();
    let next = format!("{how}; the next try is at {hour:02}:{minute:02}:{second:02} UTC");
    Progress::BrowserEnded(next)
}

/// Opens a tab whenever the session's own browser has none, so that there is always a window. Ends
/// when the browser is closed for good.
pub async fn keep_a_tab(current: Arc<Current>, stay_closed: StayClosed) {
    while !stay_closed.is_set() {
        let Ok(cdp) = current.own(LOOK).await else { continue };
        if let Ok(mut tabs) = AnyTab::of(&cdp, LOOK).await {
            while let Some(any) = tabs.next().await {
                if !any && !stay_closed.is_set() {
                    let params = json!({ "url": "about:blank" });
                    let method = "Target.createTarget";
                    // Fails only with the browser.
                    let _ = cdp.call::<IgnoredAny>(None, method, params, LOOK).await;
                }
            }
        }
        // After lost events, start over; the next browser may take some time.
        sleep(LOOK_AGAIN).await;
    }
}

/// Restarts Chromium when it ends, unless it was closed for good: a limited number of times without
/// a screen, without limit on a desktop.
pub async fn keep_browser(mut browser: Browser, parts: Parts, reports: Reports, log: Log) {
    let Parts { display, begin, stay_closed } = parts;
    let mut tries = 0;
    loop {
        let began = Instant::now();
        let mut how = browser.ended().await;
        log.line("guest", &format!("Chromium ended: {how}"));
        if stay_closed.is_set() {
            stay_closed.gone();
            return;
        }
        if began.elapsed() > STABLE {
            tries = 0;
        }
        loop {
            let Some(pause) = pause(tries, display.is_some()) else {
                tell_lost(Part::Browser, &reports, &log);
                return;
            };
            reports.tell(end_report(&how, pause));
            if !pause.is_zero() {
                browser.pause(&how, pause).await;
                if stay_closed.is_set() {
                    stay_closed.gone();
                    return;
                }
            }
            tries += 1;
            match browser.restart(&begin).await {
                Ok(()) => break,
                Err(error) => {
                    how = with_causes(&error);
                    log.line("guest", &how);
                }
            }
        }
        if let Some(display) = &display {
            match browser.present(display, tries == 1).await {
                Ok(()) => {}
                // The next iteration reports its end.
                Err(GuestError::Ended(_)) => continue,
                Err(error) => log.line("guest", &with_causes(&error)),
            }
        }
        reports.tell(Progress::BrowserBack);
        reports.tell(Progress::Event(format!("Chromium ended ({how}) and was restarted")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_headless_sessions_end_after_repeated_browser_failures() {
        let seconds = |tries| pause(tries, true).map(|pause| pause.as_secs());
        let pauses = [0, 1, 2, 3, 4, 5, 6, 7, u32::MAX].map(seconds);
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 30, 30, 30].map(Some));
        let pauses = [0, 1, 2].map(|tries| pause(tries, false));
        assert_eq!(pauses, [0, 500, 1000].map(|ms| Some(Duration::from_millis(ms))));
        assert_eq!(pause(MAX_TRIES, false), None);
    }
}
