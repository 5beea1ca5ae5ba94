//! What sessions may reach, for those who ask.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;

/// Ask what a session's connection to an address would meet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestEgress {
    /// A URL, a host, or `host:port`.
    #[schemars(length(min = 1, max = 4000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: String,
    /// A session, whose `proxy` is taken into account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// What a session's connection would meet. Nothing was connected.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EgressTested {
    /// Host and port.
    pub target: String,
    /// Whether a connection would be tried.
    pub allowed: bool,
    /// Every address of the host, judged; empty if it does not resolve, is refused by name, or is
    /// resolved by the session's `proxy`.
    pub addresses: Vec<JudgedAddress>,
    /// The same in words, with what can be done about a refusal.
    pub explanation: String,
}

/// An address, judged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JudgedAddress {
    /// The address.
    pub address: String,
    /// Whether it would be dialled.
    pub allowed: bool,
    /// The rule that refuses it, or the range of the allowlist that opens it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
