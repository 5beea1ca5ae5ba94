//! What was done in a session, by whom.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::SessionId;

/// Who did something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// An agent, a person who logged in, or the holder of a link.
    pub kind: ActorKind,
    /// The token subject; for a link, the subject that made it.
    pub subject: String,
    /// The label of the token or link, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Actor {
    /// Whether a person is behind it: someone who logged in, or who opened a link.
    pub fn is_person(&self) -> bool {
        self.kind != ActorKind::Agent
    }
}

/// What kind of actor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A program with its own token.
    #[default]
    Agent,
    /// A person who logged in, or whose token was made with `helmdeck token --human`.
    Human,
    /// Anyone with a ticket: the address of a live view, or of the browser's debugging protocol.
    Link,
}

impl ActorKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Human => "human",
            Self::Link => "link",
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
