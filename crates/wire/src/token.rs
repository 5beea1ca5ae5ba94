//! Tokens, as those who look after them see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A token that was made, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenInfo {
    /// Names it, to revoke it.
    pub id: String,
    /// Who uses it.
    pub subject: String,
    /// Its label: the program it was made for, if that is known.
    pub client: Option<String>,
    /// Whether a person uses it: made by a login, or with `helmdeck token --human`.
    #[serde(default)]
    pub human: bool,
    /// What it allows.
    pub scopes: Vec<String>,
    /// When it was made.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// Until when it is good.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
    /// When it was revoked, if it was.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub revoked_at: Option<OffsetDateTime>,
}

/// The tokens that the caller may see and are not yet forgotten.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// Newest first.
    pub tokens: Vec<TokenInfo>,
}
