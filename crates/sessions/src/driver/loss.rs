//! How a running session is lost, and its guest's reports until then.

use std::time::Duration;

use helmdeck_runtime::Runtime;
use helmdeck_wire::{
    error::with_causes,
    guest::{Part, Progress},
    session::EndReason,
    window::BrowserWindow,
};
use tracing::info;

use super::{reports::Reports, usage};
use crate::{Session, events::EventKind, session::Failure};

/// How often to check whether a sandbox still runs if its guest cannot be asked.
const GONE_CHECK: Duration = Duration::from_secs(2);

/// Waits until the guest reports a loss, or is lost itself.
pub(super) async fn lost(
    session: &Session,
    runtime: &dyn Runtime,
    reports: &mut Reports,
) -> (EndReason, Failure) {
    let (end, reason, log_tail) = match heard(session, reports).await {
        Some(loss) => loss,
        None => {
            let reason = "the guest is gone".to_owned();
            (EndReason::GuestLost, reason, last_words(session, runtime).await)
        }
    };
    // The kernel may kill any part, so the lost part is not the cause.
    let (end, reason) = if ran_out_of_memory(session, runtime).await {
        (EndReason::OutOfMemory, format!("the session exceeded its memory limit: {reason}"))
    } else {
        (end, reason)
    };
    (end, Failure { stage: None, reason, log_tail })
}

/// Reads reports until one reports a loss: the end reason, a sentence, and the end of the log.
/// `None` if the reports end.
pub(super) async fn heard(
    session: &Session,
    reports: &mut Reports,
) -> Option<(EndReason, String, String)> {
    loop {
        match reports.next().await {
            Ok(Some(Progress::Event(event))) => {
                info!(session.id = session.id().as_str(), event, "Session reports");
            }
            Ok(Some(Progress::BrowserEnded(how))) => session.browser_ended(Some(how)),
            Ok(Some(Progress::BrowserBack)) => session.browser_ended(None),
            Ok(Some(Progress::PrivateEnded)) => session.private_ended(),
            Ok(Some(Progress::BrowserWindow(window))) => moved(session, window),
            Ok(Some(Progress::Executing(executing))) => session.executing(executing),
            Ok(Some(Progress::Lost { part, log_tail })) => {
                let end = match part {
                    Part::Display => EndReason::DisplayLost,
                    Part::Browser => EndReason::BrowserLost,
                    Part::Nest => EndReason::GuestLost,
                };
                return Some((end, format!("the {} is gone", name(part)), log_tail));
            }
            Ok(Some(Progress::Done(_) | Progress::Ready | Progress::Failed { .. })) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Updates the position of the browser's window.
pub(super) fn moved(session: &Session, window: Option<BrowserWindow>) {
    *session.inner.browser_window.lock() = window;
    session.tell(EventKind::Changed);
}

/// Waits until the sandbox no longer runs. For guests whose reports cannot be parsed. They end
/// their sandbox when no server contacts them for too long.
pub(super) async fn gone(session: &Session, runtime: &dyn Runtime) {
    let clock = &session.inner.clock;
    loop {
        clock.sleep_until(clock.now() + GONE_CHECK).await;
        // An unresponsive runtime says nothing about the sandbox.
        let Ok(sandboxes) = runtime.list().await else { continue };
        if !sandboxes.iter().any(|found| found.running && found.id == session.inner.sandbox) {
            return;
        }
    }
}

/// The last log lines of a sandbox that is gone.
pub(super) async fn last_words(session: &Session, runtime: &dyn Runtime) -> String {
    match runtime.connect(&session.inner.sandbox).await {
        Err(error) => with_causes(&error),
        Ok(_) => "the guest hung up".to_owned(),
    }
}

async fn ran_out_of_memory(session: &Session, runtime: &dyn Runtime) -> bool {
    usage(session, runtime).await.is_some_and(|usage| usage.out_of_memory > 0)
}

pub(super) fn name(part: Part) -> &'static str {
    match part {
        Part::Display => "X server",
        Part::Browser => "browser",
        Part::Nest => "nested sandbox",
    }
}
