//! Jobs as tasks of the tasks extension (`io.modelcontextprotocol/tasks`, 2026-07-28).
//!
//! A client that declares the extension gets a task instead of a handle, polls `tasks/get`, and finds
//! the reply of the tool there. Errors of packs are replies, so a task never fails by itself.

use std::time::Duration;

use helmdeck_wire::{
    ErrorCode, Scope,
    job::{Job, JobId, JobState},
};
use rmcp::{
    ErrorData,
    model::{
        CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, Task, TaskPayload,
        TaskStatus,
    },
};
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{client::Client, pack_call, reply};
use crate::{
    error::{ApiError, ApiResult},
    tool::{lacks, pack},
};

/// How long a call of a client with tasks waits before it returns one, in seconds.
pub const WAIT_S: u64 = 5;
/// How often clients should ask, in milliseconds.
pub const POLL_MS: u64 = 2000;
/// How long results are kept after the end of a job.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// The task of a job that works.
pub fn created(job: &Job) -> CreateTaskResult {
    CreateTaskResult::new(task(job))
}

/// Answers `tasks/get`.
pub async fn get(client: &Client, id: &str) -> Result<GetTaskResult, ErrorData> {
    let job = find(client, Scope::SESSIONS_READ, id).await?;
    let task = task(&job);
    let payload = match job.state {
        JobState::Working => TaskPayload::Working,
        JobState::Cancelled => TaskPayload::Cancelled,
        JobState::Completed | JobState::Failed => {
            let result = reply_of(client, job).await;
            match serde_json::to_value(result) {
                Ok(Value::Object(result)) => TaskPayload::Completed { result },
                _ => return Err(ErrorData::internal_error("the result is not an object", None)),
            }
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// Answers `tasks/update`. Jobs ask for nothing.
pub async fn update(client: &Client, id: &str) -> Result<(), ErrorData> {
    find(client, Scope::SESSIONS_ACT, id).await.map(drop)
}

/// Answers `tasks/cancel`. Has no effect on a task that has ended.
pub async fn cancel(client: &Client, id: &str) -> Result<Job, ErrorData> {
    let job = find(client, Scope::SESSIONS_ACT, id).await?;
    let cancelled = client.app.packs.cancel(&client.caller, &job.job_id).await;
    cancelled.map_err(|error| refusal(&error.into()))
}

/// The job of a task that the client may see.
pub async fn find(client: &Client, scope: Scope, id: &str) -> Result<Job, ErrorData> {
    let found = async {
        if !client.caller.may(scope) {
            return Err(lacks(scope));
        }
        Ok(client.app.packs.job(&client.caller, &JobId::new(id)).await?)
    };
    found.await.map_err(|error| refusal(&error))
}

/// The reply of the tool whose call became this job.
pub async fn reply_of(client: &Client, job: Job) -> CallToolResult {
    let session = job.session_id.clone();
    let replied: ApiResult<_> = async {
        pack_call::adopt(client, &job).await?;
        let outcome = pack::reply(job.clone())?;
        pack_call::replied(client, Some(&job), outcome).await
    }
    .await;
    replied.unwrap_or_else(|error| reply::failure_in(client, session.as_ref(), &error))
}

/// An error of the API as one of the protocol.
pub fn refusal(error: &ApiError) -> ErrorData {
    let message = error.body().message;
    match error.code {
        ErrorCode::UnknownJob => ErrorData::invalid_params(message, None),
        ErrorCode::Internal => ErrorData::internal_error(message, None),
        _ => ErrorData::invalid_request(message, None),
    }
}

fn task(job: &Job) -> Task {
    let status = match job.state {
        JobState::Working => TaskStatus::Working,
        JobState::Cancelled => TaskStatus::Cancelled,
        JobState::Completed | JobState::Failed => TaskStatus::Completed,
    };
    let mut task =
        Task::new(job.job_id.task_id(), status, written(job.created_at), written(updated(job)))
            .with_poll_interval_ms(POLL_MS);
    task.status_message = status_message(job);
    task.ttl_ms = ttl_ms(job);
    task
}

/// What a job does now, or why it failed.
pub fn status_message(job: &Job) -> Option<String> {
    let failure = job.error.as_ref().map(ToString::to_string);
    let message = failure.or_else(|| job.message.clone())?;
    match job.state {
        JobState::Working => Some(format!("{}%: {message}", job.progress)),
        _ => Some(message),
    }
}

/// When a job last changed its state.
pub fn updated(job: &Job) -> OffsetDateTime {
    job.ended_at.or(job.started_at).unwrap_or(job.created_at)
}

/// How long a job exists from its creation. Unlimited while it works.
pub fn ttl_ms(job: &Job) -> Option<u64> {
    let lived = job.ended_at? - job.created_at + KEPT;
    u64::try_from(lived.whole_milliseconds()).ok()
}

/// A time as the protocol writes it.
pub fn written(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}
