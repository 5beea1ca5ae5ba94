//! How a session that runs is lost, and what its guest says before.

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

/// How often to look whether a sandbox whose guest cannot be asked still runs.
const GONE_CHECK: Duration = Duration::from_secs(2);

/// Waits until the guest reports a loss, or is itself lost.
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
    // The kernel takes whichever part it likes; that one is not what went wrong.
    let (end, reason) = if ran_out_of_memory(session, runtime).await {
        (EndReason::OutOfMemory, format!("the session used more memory than it may: {reason}"))
    } else {
        (end, reason)
    };
    (end, Failure { stage: None, reason, log_tail })
}

/// Reads reports until one is of a loss: why the session ends, in words, and the end of its log.
/// Nothing if the reports end.
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

/// The browser's window is elsewhere.
pub(super) fn moved(session: &Session, window: Option<BrowserWindow>) {
    *session.inner.browser_window.lock() = window;
    session.tell(EventKind::Changed);
}

/// Waits until the sandbox no longer runs. For guests whose reports we could not read; they end
/// their sandbox when they have been alone for too long.
pub(super) async fn gone(session: &Session, runtime: &dyn Runtime) {
    let clock = &session.inner.clock;
    loop {
        clock.sleep_until(clock.now() + GONE_CHECK).await;
        // A runtime that does not answer says nothing about the sandbox.
        let Ok(sandboxes) = runtime.list().await else { continue };
        if !sandboxes.iter().any(|found| found.running && found.id == session.inner.sandbox) {
            return;
        }
    }
}

/// What a sandbox that is gone said last.
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
