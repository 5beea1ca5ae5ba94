//! What was done in a session, by whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::SessionId;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// An agent's call, or a person's hand.
    pub kind: ActorKind,
    /// The token subject.
    pub subject: String,
}

/// What kind of actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// By a call of the API.
    Agent,
    /// By hand, in the live view.
    Human,
}

impl ActorKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Human => "human",
        }
    }
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionRecord {
    /// Grows with every action of any session.
    pub seq: u64,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// Where.
    pub session_id: SessionId,
    /// By whom.
    pub by: Actor,
    /// What: the last part of the operation's path.
    pub action: String,
    /// Where exactly and how; never what was typed.
    pub detail: Value,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// How long it took.
    pub duration_ms: u64,
}

/// What was done in one session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ActionList {
    /// Oldest first.
    pub actions: Vec<ActionRecord>,
}
