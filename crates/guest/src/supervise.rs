//! What happens when a part of a running session ends.

use std::time::Duration;

use helmdeck_display::Display;
use helmdeck_wire::{
    error::with_causes,
    guest::{Begin, Part, Progress},
};
use tokio::{
    process::Child,
    time::{Instant, sleep},
};

use crate::{
    browser::{self, Browser},
    log::Log,
    nest::Nest,
    profile::Leaving,
    reports::Reports,
};

/// Chromium is brought back this often before the session is given up.
const MAX_TRIES: u32 = 3;
/// The pause before the second try; it doubles with each further one.
const BACK_OFF: Duration = Duration::from_millis(500);
/// A browser that lived this long has earned its tries anew.
const STABLE: Duration = Duration::from_secs(60);
/// Lines of the log that go with a loss.
const TAIL_LINES: usize = 200;

/// Tells the server that a part is gone for good.
pub fn tell_lost(part: Part, reports: &Reports, log: &Log) {
    reports.tell(Progress::Lost { part, log_tail: log.tail(TAIL_LINES) });
}

/// Watches the X server, without which there is no session.
pub async fn watch_display(mut xvnc: Child, reports: Reports, log: Log) {
    let how = match xvnc.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    log.line("guest", &format!("the X server ended: {how}"));
    tell_lost(Part::Display, &reports, &log);
}

/// What a browser is started with again.
pub struct Parts {
    pub nest: Nest,
    pub display: Option<Display>,
    pub begin: Begin,
    pub leaving: Leaving,
}

/// Brings Chromium back when it ends, a few times, unless it was closed for good.
pub async fn keep_browser(mut browser: Browser, parts: Parts, reports: Reports, log: Log) {
    let Parts { nest, display, begin, leaving } = parts;
    let mut tries = 0;
    loop {
        let began = Instant::now();
        let how = browser.ended().await;
        log.line("guest", &format!("Chromium ended: {how}"));
        if leaving.is_set() {
            leaving.gone();
            return;
        }
        reports.tell(Progress::BrowserEnded(how.clone()));
        if began.elapsed() > STABLE {
            tries = 0;
        }
        loop {
            if tries == MAX_TRIES {
                tell_lost(Part::Browser, &reports, &log);
                return;
            }
            if tries > 0 {
                sleep(BACK_OFF * 2_u32.pow(tries - 1)).await;
            }
            tries += 1;
            match browser.restart(&nest, &begin).await {
                Ok(()) => break,
                Err(error) => log.line("guest", &with_causes(&error)),
            }
        }
        if let Some(display) = &display
            && let Err(error) = browser::present(display).await
        {
            log.line("guest", &with_causes(&error));
        }
        reports.tell(Progress::BrowserBack);
        reports.tell(Progress::Event(format!("Chromium ended ({how}) and was restarted")));
    }
}
