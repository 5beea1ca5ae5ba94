//! Runs an attached session, whose guest connects to the server and may reconnect.

use std::time::Duration;

use helmdeck_task::BoxFuture;
use helmdeck_wire::{guest::Stage, session::EndReason};
use tokio::time::sleep;

use super::{Adopted, Started, adopt, begin_life, fail, failure, heard, over, stop};
use crate::{Attachment, Session, session::Failure};

/// How long the program of an attached session may be disconnected.
const GRACE: Duration = Duration::from_secs(30);
/// Pause between two attempts to reach the guest.
const PAUSE: Duration = Duration::from_millis(250);

/// End reason of a session whose guest is hostile or broken.
const TOO_MUCH: &str = "`helmdeck attach` reported more or reconnected more often than \
                        the server accepts: its connection was closed";

/// Runs the session until it ends.
pub(crate) fn drive_attached(session: Session, attachment: Attachment) -> BoxFuture<'static, ()> {
    Box::pin(run(session, attachment))
}

async fn run(session: Session, attachment: Attachment) {
    let ended = tokio::select! {
        ended = attend(&session, &attachment) => Some(ended),
        () = over(&session) => None,
    };
    if let Some((reason, failure)) = ended {
        fail(&session, reason, failure);
    }
    stop(&session, &attachment).await;
}

/// Reads the guest's reports, and continues when it reconnects in time.
async fn attend(session: &Session, attachment: &Attachment) -> (EndReason, Failure) {
    let clock = &session.inner.clock;
    let mut deadline = clock.now() + GRACE;
    loop {
        let adopted = tokio::select! {
            adopted = adopt(session, attachment) => Some(adopted),
            () = clock.sleep_until(deadline) => None,
        };
        let failed = match adopted {
            Some(Ok(Adopted::Current(Started { mut reports, .. }))) if attachment.may_come() => {
                attachment.wait_no_more();
                begin_life(session);
                if let Some((end, reason, log_tail)) = heard(session, &mut reports).await {
                    return (end, Failure { stage: None, reason, log_tail });
                }
                deadline = clock.now() + GRACE;
                session.lost_its_guest(attachment, deadline);
                None
            }
            Some(Ok(Adopted::Outdated)) => {
                let reason = "`helmdeck attach` has another version than the server".to_owned();
                return (EndReason::StartFailed, failure(Stage::Sandbox, reason));
            }
            Some(Err(failed)) => Some(failed),
            Some(Ok(Adopted::Current(_))) | None => None,
        };
        if attachment.reported_too_much() {
            let failure = Failure { stage: None, reason: TOO_MUCH.into(), log_tail: String::new() };
            return (EndReason::GuestLost, failure);
        }
        if clock.now() >= deadline {
            let reason = format!("`helmdeck attach` was disconnected for {} s", GRACE.as_secs());
            let reason =
                failed.map_or(reason.clone(), |failed| format!("{reason}: {}", failed.reason));
            return (
                EndReason::GuestLost,
                Failure { stage: None, reason, log_tail: String::new() },
            );
        }
        sleep(PAUSE).await;
    }
}
