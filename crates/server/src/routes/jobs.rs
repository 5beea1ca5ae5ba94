//! Jobs: calls of packs, and their results.

use std::{convert::Infallible, time::Duration};

use axum::{
    Extension, Json,
    extract::{Path, State},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use helmdeck_sessions::Caller;
use helmdeck_store::JobFilter;
use helmdeck_wire::job::{Job, JobId, JobList, JobState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::packs::start_named;
use crate::{
    App,
    error::ApiResult,
    tool::{Call, Outcome},
};

/// How long a connection is silent at most.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long to wait before a job is read again that this server does not run.
const PAUSE: Duration = Duration::from_secs(1);

/// Which jobs to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobQuery {
    /// Only jobs in this state.
    #[serde(default)]
    state: Option<JobState>,
    /// Only jobs of this pack.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pack: Option<String>,
    /// How many; 50 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// The `next_cursor` of the last page.
    #[serde(default)]
    #[schemars(length(max = 64))]
    cursor: Option<String>,
}

/// A job.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneJob {
    /// Id of the job. The id of an MCP task is accepted too.
    #[schemars(with = "String", extend("x-error" = "unknown_job"))]
    pub job_id: JobId,
}

/// A job, and how long to wait for it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitForJob {
    /// Id of the job.
    #[schemars(with = "String", extend("x-error" = "unknown_job"))]
    job_id: JobId,
    /// Seconds to wait until it ends, 0 to 45.
    #[serde(default)]
    #[schemars(range(min = 0, max = 45))]
    wait_s: u32,
}

/// What a job was called with.
#[derive(Serialize, JsonSchema)]
pub struct JobInput {
    /// The pack.
    pack: String,
    /// Its input, without the secret of a webhook.
    input: Map<String, Value>,
}

/// Lists jobs.
pub async fn list(call: Call, query: JobQuery) -> ApiResult<JobList> {
    let filter = JobFilter {
        owner: None,
        state: query.state,
        pack: query.pack,
        before: query.cursor.map(JobId::new),
        limit: query.limit.unwrap_or(50),
    };
    Ok(call.app.packs.jobs(&call.caller, filter).await?)
}

/// Shows a job.
pub async fn show(call: Call, wanted: WaitForJob) -> ApiResult<Job> {
    let wait = Duration::from_secs(u64::from(wanted.wait_s));
    match wanted.wait_s {
        0 => Ok(call.app.packs.job(&call.caller, &wanted.job_id).await?),
        _ => Ok(call.app.packs.wait(&call.caller, &wanted.job_id, wait).await?),
    }
}

/// Shows what a job was called with.
pub async fn input(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> ApiResult<Json<JobInput>> {
    let (pack, input) = app.packs.input(&caller, &JobId::new(id)).await?;
    let mut input = match input {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    input.remove("webhook_secret");
    Ok(Json(JobInput { pack, input }))
}

/// Cancels a job.
pub async fn cancel(call: Call, wanted: OneJob) -> ApiResult<Job> {
    Ok(call.app.packs.cancel(&call.caller, &wanted.job_id).await?)
}

/// Accepts `task_id` for `job_id`.
pub fn renamed(mut fields: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    if !fields.contains_key("job_id")
        && let Some(id) = fields.remove("task_id")
    {
        fields.insert("job_id".to_owned(), id);
    }
    Ok(fields)
}

/// Runs a job's pack again. The pack may have changed since, and checks the input again.
pub async fn rerun(call: Call, wanted: OneJob) -> ApiResult<Outcome> {
    let (name, input) = call.app.packs.input(&call.caller, &wanted.job_id).await?;
    let mut args = match input {
        Value::Object(input) => input,
        _ => Map::new(),
    };
    args.remove("webhook_secret");
    start_named(call, &name, args).await
}

/// Follows a job.
pub async fn events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> ApiResult<Response> {
    let id = JobId::new(id);
    let first = app.packs.job(&caller, &id).await?;
    let state = (app, caller, Some(first), None::<Job>);
    let events = stream::unfold(state, move |(app, caller, ready, last)| async move {
        let job = match (ready, last) {
            (Some(job), _) => job,
            (None, Some(last)) if last.state != JobState::Working => return None,
            (None, Some(last)) => changed(&app, &caller, &last).await?,
            (None, None) => return None,
        };
        let event = Event::default().event("job").json_data(&job).unwrap_or_default();
        Some((Ok::<_, Infallible>(event), (app, caller, None, Some(job))))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// Waits for a change of a job. `None` when the server stops.
pub async fn changed(app: &App, caller: &Caller, last: &Job) -> Option<Job> {
    loop {
        let works = tokio::select! {
            works = app.packs.changed(&last.job_id) => works,
            () = app.closing.cancelled() => return None,
        };
        let job = app.packs.job(caller, &last.job_id).await.ok()?;
        let differs = job.progress != last.progress
            || job.message != last.message
            || job.state != last.state
            || job.started_at != last.started_at;
        if differs {
            return Some(job);
        }
        if !works {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = app.closing.cancelled() => return None,
            }
        }
    }
}
