//! Private sign-in: a person has a browser for themselves, and the agent gets the signed-in page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A private sign-in that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrivateSignIn {
    /// The person who signs in.
    pub by: String,
    /// Since when.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub since: OffsetDateTime,
}

/// What came of a private sign-in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrivateEnded {
    /// The page that the agent has now; null if nothing was handed over.
    pub url: Option<String>,
}
