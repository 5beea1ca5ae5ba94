//! Jobs: calls of packs, and their results.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{ErrorBody, SessionId, id, names::names};

/// Id of a job.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct JobId(String);

impl From<String> for JobId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

impl JobId {
    /// Pattern of all ids that [`Self::from_random`] makes, and of their task ids.
    pub const PATTERN: &str = "^(pack_)?job-[0-9a-hjkmnp-tv-z]{12}$";
    /// What the pattern allows, for errors.
    pub const EXPECTED: &str = "the id of a job, `job-` and twelve letters or digits";

    /// Wraps text from a client. The job need not exist. Task ids of MCP are accepted too.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Self(id.strip_prefix("pack_").map(str::to_owned).unwrap_or(id))
    }

    /// A new id from random bytes: `job-` and twelve easily readable characters.
    pub fn from_random(bytes: [u8; 12]) -> Self {
        Self(id::readable("job-", bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the job as an MCP task.
    pub fn task_id(&self) -> String {
        format!("pack_{}", self.0)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for its turn or runs.
    Working,
    /// It succeeded, and has a result.
    Completed,
    /// It failed, and has an error.
    Failed,
    /// It was cancelled.
    Cancelled,
}

names! { JobState: Working "working", Completed "completed", Failed "failed", Cancelled "cancelled" }

/// A job. Packs that finish in time return it with their result; others return it while it works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Its id: `job.show`, `pack.status` and `pack.result` take it.
    pub job_id: JobId,
    /// The pack.
    pub pack: String,
    /// The pack's version, such as `v1`.
    pub version: String,
    /// Its state.
    pub state: JobState,
    /// Progress in percent.
    pub progress: u8,
    /// What it does now, or did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The pack's output, once completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Files that it created.
    #[serde(default)]
    pub artifacts: Vec<JobArtifact>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// How long it ran so far, in milliseconds.
    pub duration_ms: u64,
    /// Whether this is an earlier result, which the call accepted with `max_age_s`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// How old an earlier result is, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_s: Option<u64>,
    /// The session that it worked in, if that is still running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The same, to pass to other packs.
    #[serde(rename = "_session_id", default, skip_serializing_if = "Option::is_none")]
    pub next_session_id: Option<SessionId>,
    /// When it was submitted.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it began; absent while it waits for its turn.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub started_at: Option<OffsetDateTime>,
    /// When it ended.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<OffsetDateTime>,
}

/// A file that a job created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobArtifact {
    /// Its key, which other packs take.
    pub key: String,
    /// Where it can be downloaded.
    pub url: String,
    /// Size in bytes.
    pub size: u64,
    /// Media type.
    pub content_type: String,
}

/// Jobs, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JobList {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// How many are listed.
    pub count: usize,
    /// Pass it as `cursor` to get the next ones; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_names_the_same_job() {
        let id = JobId::from_random([1; 12]);
        assert_eq!(JobId::new(id.task_id()), id);
        assert_eq!(JobId::new(id.as_str()), id);
        let read: JobId = serde_json::from_value(id.task_id().into()).unwrap();
        assert_eq!((&read, serde_json::to_value(&read).unwrap()), (&id, id.as_str().into()));
    }

    #[test]
    fn a_state_has_one_name() {
        for state in JobState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(JobState::named(state.as_str()), Some(state));
        }
    }
}
