//! Records how a job ended.

use std::{sync::Arc, time::Duration};

use helmdeck_store::{StoreError, StoredJob};
use helmdeck_wire::{ErrorCode, job::JobState};
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};
use tracing::{error, info};

use super::{
    Shared, audited,
    run::{Origin, Turn},
};
use crate::{PackError, PackResult};

/// How long the store may take to record the end of a job. Its own limits are shorter.
const SAVE: Duration = Duration::from_secs(20);
/// The first pause after a failure to save. Pauses double.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Records the end of a job. Until it is saved, the job works.
pub async fn finish(shared: &Arc<Shared>, turn: Turn, outcome: PackResult<Value>) {
    let Turn { mut job, caller, progress, origin, .. } = turn;
    job.ended_at = Some(OffsetDateTime::now_utc());
    {
        let progress = progress.lock();
        job.progress = progress.percent;
        job.message.clone_from(&progress.message);
        job.artifacts.clone_from(&progress.artifacts);
    }
    match outcome.map_err(PackError::of_job) {
        Ok(output) => {
            job.state = JobState::Completed;
            job.progress = 100;
            job.output = Some(output);
        }
        Err(error) => {
            let cancelled = error.code() == ErrorCode::Cancelled;
            job.state = if cancelled { JobState::Cancelled } else { JobState::Failed };
            job.error = Some(error.body().clone());
        }
    }
    let view = job.view(OffsetDateTime::now_utc());
    info!(
        job.id = job.id.as_str(),
        pack = job.pack,
        state = job.state.as_str(),
        error = job.error.as_ref().map(|error| error.error.as_str()),
        duration_ms = view.duration_ms,
        "Job ended"
    );
    let mut pause = FIRST_PAUSE;
    while let Err(why) = save(shared, &job, origin).await {
        error!(job.id = job.id.as_str(), why, "Failed to save the result of a job; trying again");
        progress.lock().set(1.0, format!("{why}; its result is saved as soon as possible"));
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    audited::ended(&shared.services.audit, Some(&caller), &job);
    shared.publish(&job.owner, &view);
    shared.live.lock().remove(&job.id);
}

/// Saves the end of a job. The error says why it is not saved.
async fn save(shared: &Shared, job: &StoredJob, origin: Origin) -> Result<(), &'static str> {
    let store = &shared.services.store;
    let saving = async {
        match origin {
            Origin::Call { reports: false } => store.save_job(job).await.map(|()| false),
            _ => store.end_job(job).await,
        }
    };
    match timeout(SAVE, saving).await {
        Ok(Ok(due)) => {
            if due {
                shared.webhooks.due.notify_one();
            }
            Ok(())
        }
        Ok(Err(StoreError::DiskFull(_))) => Err("the server's disk is full"),
        Ok(Err(error)) => {
            error!(job.id = job.id.as_str(), %error, "The store refused the result of a job");
            Err("the server's database failed")
        }
        Err(_) => Err("the server's database does not answer"),
    }
}
