//! The history of a session: who did what.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::SessionId;

/// Who performed an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// An agent, a person who logged in, or the holder of a link.
    pub kind: ActorKind,
    /// Subject of the token. For a link, the subject that created it.
    pub subject: String,
    /// The label of the token or link, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where the request came from, for the audit log. Not a part of histories.
    #[serde(skip)]
    pub address: Option<IpAddr>,
}

impl From<&Actor> for Actor {
    fn from(actor: &Actor) -> Self {
        actor.clone()
    }
}

impl Actor {
    /// Whether a person acts: they logged in, or opened a link.
    pub fn is_person(&self) -> bool {
        self.kind != ActorKind::Agent
    }
}

/// Kind of actor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A program with its own token.
    #[default]
    Agent,
    /// A person who logged in, or whose token was made with `helmdeck token --human`.
    Human,
    /// The holder of a ticket: the address of a live view, or of the browser's debugging protocol.
    Link,
}

impl ActorKind {
    /// Name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Human => "human",
            Self::Link => "link",
        }
    }
}

/// One recorded action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionRecord {
    /// Increases with every action of any session.
    pub seq: u64,
    /// When it started.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// The session.
    pub session_id: SessionId,
    /// Who performed it.
    pub by: Actor,
    /// The action: last part of the operation's path.
    pub action: String,
    /// Details, such as coordinates. Never what was typed.
    pub detail: Value,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// Recorded actions of one session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ActionList {
    /// Oldest first.
    pub actions: Vec<ActionRecord>,
}
