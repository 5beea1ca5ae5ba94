//! Private sign-in: a person has the browser to themselves, then the agent gets the signed-in page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A private sign-in in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrivateSignIn {
    /// The person who signs in.
    pub by: String,
    /// When it started.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub since: OffsetDateTime,
}

/// Result of a private sign-in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrivateEnded {
    /// The page that the agent has now; null if it was not kept.
    pub url: Option<String>,
}
