//! Tests of the egress policy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;

/// Test whether a session may connect to an address.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestEgress {
    /// A URL, a host, or `host:port`.
    #[schemars(length(min = 1, max = 4000))]
    #[schemars(extend("x-missing" = "missing_url"))]
    pub url: String,
    /// Session whose `proxy` is taken into account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Result of an egress test. No connection was made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EgressTested {
    /// Host and port.
    pub target: String,
    /// Whether a connection would be attempted.
    pub allowed: bool,
    /// Verdict for every address of the host. Empty if the host does not resolve, is refused by
    /// name, or is resolved by the session's `proxy`.
    pub addresses: Vec<JudgedAddress>,
    /// The verdict in words, with advice if it is a refusal.
    pub explanation: String,
}

/// An address and its verdict.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct JudgedAddress {
    /// The address.
    pub address: String,
    /// Whether it may be dialled.
    pub allowed: bool,
    /// The rule that refuses it, or the allowlist entry that allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
