//! What callers read of a run.

use helmdeck_vision::{Outcome, Step, eyes::Spent};
use helmdeck_wire::{SessionId, history::Actor, job::JobId, nature::Style, point::Pixel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "VisionRunState")]
pub enum RunState {
    /// It works.
    Running,
    /// It waits for `vision.resume`.
    Paused,
    /// It waits for a person: `question` says for what.
    Waiting,
    /// It is over: `outcome` says how it ended.
    Ended,
}

/// A run of vision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VisionStatus {
    /// Id of the run.
    pub run_id: String,
    /// Its session.
    pub session_id: SessionId,
    /// The job of the pack that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<JobId>,
    /// Who began it.
    pub by: Actor,
    /// How it works: by names of elements, or by pictures and a model.
    pub mode: Style,
    /// What to reach.
    pub instruction: String,
    /// The model; absent if none is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Most replies of the model.
    pub max_steps: u32,
    /// What it does.
    pub state: RunState,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub began_at: OffsetDateTime,
    /// When it ended.
    #[serde(with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<OffsetDateTime>,
    /// Its steps so far.
    pub steps: Vec<Step>,
    /// What it used so far.
    pub spent: Spent,
    /// Where it acts now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Pixel>,
    /// What a person has to decide now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Answered>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why it ended like this.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What shows that the goal is reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What the model said at its end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
}

/// A question to a person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "VisionQuestion")]
pub struct Question {
    /// Its id, for the answer.
    pub id: String,
    /// What to decide.
    pub text: String,
    /// When it was asked.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub asked_at: OffsetDateTime,
    /// Without an answer until then, the answer is no.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "VisionDecision")]
pub enum Decision {
    /// The run may do it.
    Allow,
    /// The run ends.
    Deny,
}

/// A question that was decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "VisionAnswered")]
pub struct Answered {
    /// The question.
    pub question: String,
    /// The decision.
    pub decision: Decision,
    /// Who decided; absent if no person answered in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// When.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
}
