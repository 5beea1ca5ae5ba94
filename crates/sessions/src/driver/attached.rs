//! Leads a session whose guest connects to us, and may come back when it was gone for a while.

use std::{sync::Arc, time::Duration};

use helmdeck_runtime::Runtime;
use helmdeck_wire::session::EndReason;
use tokio::time::{Instant as Moment, sleep, timeout_at};

use super::{Adopted, Started, adopt, begin_life, fail, failure, heard, over, stop};
use crate::{Session, session::Failure};
use helmdeck_wire::guest::Stage;

/// How long the program that attached a session may be gone.
const GRACE: Duration = Duration::from_secs(30);
/// Between two tries to hear of it.
const PAUSE: Duration = Duration::from_millis(250);

/// Leads it until it is over.
pub(crate) async fn drive_attached(session: Session, runtime: Arc<dyn Runtime>) {
    let ended = tokio::select! {
        ended = attend(&session, &*runtime) => Some(ended),
        () = over(&session) => None,
    };
    if let Some((reason, failure)) = ended {
        fail(&session, reason, failure);
    }
    stop(&session, &*runtime).await;
}

/// Listens to the guest, and again whenever it comes back in time.
async fn attend(session: &Session, runtime: &dyn Runtime) -> (EndReason, Failure) {
    let mut deadline = Moment::now() + GRACE;
    loop {
        let adopted = timeout_at(deadline, adopt(session, runtime)).await;
        let failed = match adopted {
            Ok(Ok(Adopted::Current(Started { mut reports, .. }))) => {
                begin_life(session);
                if let Some((end, reason, log_tail)) = heard(session, &mut reports).await {
                    return (end, Failure { stage: None, reason, log_tail });
                }
                deadline = Moment::now() + GRACE;
                None
            }
            Ok(Ok(Adopted::Outdated)) => {
                let reason = "`helmdeck attach` is of another version than the server".to_owned();
                return (EndReason::StartFailed, failure(Stage::Sandbox, reason));
            }
            Ok(Err(failed)) => Some(failed),
            Err(_) => None,
        };
        if Moment::now() >= deadline {
            let reason = format!("`helmdeck attach` is gone for {} s", GRACE.as_secs());
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
