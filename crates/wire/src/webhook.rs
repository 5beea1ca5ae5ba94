//! Webhooks: what a job's end is reported to, and how that went.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{id, job::JobId, names::names};

/// Id of a delivery. Receivers get it as `webhook-id`, the same for every attempt.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DeliveryId(String);

impl DeliveryId {
    /// Wraps text from a client. The delivery need not exist.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// A new id from random bytes: `msg-` and twelve easily readable characters.
    pub fn from_random(bytes: [u8; 12]) -> Self {
        Self(id::readable("msg-", bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// State of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// The job has not ended.
    Waiting,
    /// The job has ended; an attempt is due or under way.
    Pending,
    /// The receiver accepted it.
    Delivered,
    /// The receiver refused it, or the last attempt failed. It can be replayed.
    Dead,
}

names! { DeliveryState: Waiting "waiting", Pending "pending", Delivered "delivered", Dead "dead" }

/// The delivery of a job's end to a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The job.
    pub job_id: JobId,
    /// The job's pack.
    pub pack: String,
    /// Where it is sent.
    pub url: String,
    /// Whether it is signed: the call had a `webhook_secret`.
    pub signed: bool,
    /// Its state.
    pub state: DeliveryState,
    /// How many attempts were made since it was created or replayed.
    pub attempts: u32,
    /// HTTP status of the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u16>,
    /// Why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When the next attempt is due.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub next_attempt_at: Option<OffsetDateTime>,
    /// When the call was made.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When the receiver accepted it.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub delivered_at: Option<OffsetDateTime>,
}

/// Deliveries, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryList {
    /// The deliveries.
    pub deliveries: Vec<Delivery>,
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
    fn a_state_has_one_name() {
        use DeliveryState::{Dead, Delivered, Pending, Waiting};
        for state in [Waiting, Pending, Delivered, Dead] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(DeliveryState::named(state.as_str()), Some(state));
        }
    }
}
