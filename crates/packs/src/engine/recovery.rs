//! Jobs that an earlier server left behind.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use helmdeck_sessions::{Caller, Sessions};
use helmdeck_store::{JobFilter, StoredJob};
use helmdeck_wire::{ErrorCode, SessionId, job::JobState};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::time::timeout;
use tracing::{info, warn};

use super::{Engine, audited, run::Origin};
use crate::{PackError, PackResult};

/// How long a job waits for the end of its session.
const END_SESSION: Duration = Duration::from_secs(20);
/// How many sessions of earlier jobs end at a time.
const ENDING: usize = 32;
/// How often a job begins that may run again. It may be what stops the server.
const ATTEMPTS: u32 = 3;

/// A caller as it is stored with a job.
#[derive(Serialize, Deserialize)]
struct StoredCaller {
    subject: String,
    scopes: Vec<String>,
    token: String,
    kind: helmdeck_wire::history::ActorKind,
    label: Option<String>,
}

/// The caller as JSON.
pub fn write_caller(caller: &Caller) -> String {
    let Caller { subject, scopes, token, kind, label, .. } = caller.clone();
    let stored = StoredCaller { subject, scopes, token, kind, label };
    // Types of ours are always valid JSON.
    serde_json::to_string(&stored).unwrap_or_default()
}

fn read_caller(text: &str) -> Option<Caller> {
    let StoredCaller { subject, scopes, token, kind, label } = serde_json::from_str(text).ok()?;
    Some(Caller { subject, scopes, token, kind, label, ..Caller::default() })
}

impl Engine {
    /// Begins jobs again that an earlier server accepted and did not begin, or that may run twice.
    /// Ends the others with a reason. Sessions that belonged to them end.
    pub async fn recover(&self) -> PackResult<()> {
        let store = &self.shared.services.store;
        let filter =
            JobFilter { state: Some(JobState::Working), limit: u32::MAX, ..Default::default() };
        let mut left = store.jobs(&filter).await?;
        left.reverse();
        let ending = left.iter().filter_map(|job| {
            let id = job.own_session_id.clone()?;
            let caller = read_caller(&job.caller)?;
            Some(async move { end_session(&self.shared.services.sessions, &caller, &id).await })
        });
        stream::iter(ending).for_each_concurrent(ENDING, |ending| ending).await;
        for job in left {
            // A list has no inputs.
            if let Some(job) = store.job(&job.id).await? {
                self.recover_one(job).await?;
            }
        }
        Ok(())
    }

    async fn recover_one(&self, mut job: StoredJob) -> PackResult<()> {
        let caller = read_caller(&job.caller);
        job.own_session_id = None;
        let pack = self.pack(&job.pack).filter(|pack| pack.version == job.version);
        match (pack, caller) {
            (Some(pack), Some(caller))
                if job.started_at.is_none() || (pack.resumable && job.attempts < ATTEMPTS) =>
            {
                info!(job.id = job.id.as_str(), pack = job.pack, "Resuming job");
                job.started_at = None;
                self.enqueue(job, caller, pack, Origin::Recovered);
            }
            (Some(pack), Some(_)) if pack.resumable => {
                let why = format!("the server stopped {ATTEMPTS} times while it ran");
                self.interrupted(job, &why).await?;
            }
            (Some(_), _) => self.interrupted(job, "the server stopped while it ran").await?,
            (None, _) => self.interrupted(job, "this server does not have its pack").await?,
        }
        Ok(())
    }

    /// Ends a job that cannot go on. Its webhook is due.
    async fn interrupted(&self, mut job: StoredJob, why: &str) -> PackResult<()> {
        info!(job.id = job.id.as_str(), pack = job.pack, why, "Job was interrupted");
        let message = format!("{why}; it may have done part of its work");
        let error = PackError::new(ErrorCode::HandlerFailed, message)
            .hint("look at what it changed before you call it again");
        job.state = JobState::Failed;
        job.error = Some(error.body().clone());
        job.ended_at = Some(OffsetDateTime::now_utc());
        self.shared.services.store.end_job(&job).await?;
        audited::ended(&self.shared.services.audit, None, &job);
        Ok(())
    }
}

/// Ends the session of a job. It may be gone already.
pub async fn end_session(sessions: &Sessions, caller: &Caller, id: &SessionId) {
    let session = id.as_str();
    // A private session does not belong to the caller.
    let engine = Caller { scopes: vec!["admin".to_owned()], ..caller.clone() };
    match timeout(END_SESSION, sessions.end(&engine, id)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            warn!(session.id = session, %error, "Failed to end the session of a job");
        }
        // It goes on ending, without the job.
        Err(_) => warn!(session.id = session, "The session of a job takes long to end"),
    }
}
