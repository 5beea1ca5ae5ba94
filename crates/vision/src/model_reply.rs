//! What a model said in one reply.

use std::fmt;

use serde_json::Value;

use crate::action::Action;

/// One reply of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelReply {
    /// What it said in words.
    pub thought: String,
    /// What it wants done, in order.
    pub calls: Vec<Call>,
    /// What it said at the end, if it says that the goal is reached.
    pub done: Option<String>,
}

/// A call in a reply. Each gets one result.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its name.
    pub id: CallId,
    /// What to do, one after the other.
    pub actions: Result<Vec<Action>, Malformed>,
    /// What its vendor wants a person to decide first.
    pub safety: Vec<Safety>,
}

impl Call {
    /// A call that its vendor has no question about.
    pub fn new(id: CallId, actions: Result<Vec<Action>, Malformed>) -> Self {
        Self { id, actions, safety: Vec::new() }
    }
}

/// How a result refers to its call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallId {
    /// The vendor's id; empty in dialects of plain text.
    pub id: String,
    /// The function that was called.
    pub name: String,
    /// The set of tools that the function is part of.
    pub toolset: Option<String>,
}

/// A question of a vendor for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Safety {
    /// What it is about.
    pub message: String,
    /// What to send back if a person agrees.
    pub acknowledgement: Value,
}

/// A reply that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong and what to write instead, for the model.
    pub hint: String,
}

impl Malformed {
    /// With this hint.
    pub fn new(hint: impl Into<String>) -> Self {
        Self { hint: hint.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hint)
    }
}

impl ModelReply {
    /// All actions that can be understood, in order.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.calls.iter().filter_map(|call| call.actions.as_ref().ok()).flatten()
    }
}
