//! Tokens, as listed for those who manage them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A token, without the secret itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenInfo {
    /// Id, to revoke it.
    pub id: String,
    /// Who uses it.
    pub subject: String,
    /// Label: the program that it was created for, if known.
    pub client: Option<String>,
    /// Whether a person uses it: it was created by a login or with `helmdeck token --human`.
    #[serde(default)]
    pub human: bool,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it expires.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
    /// When it was revoked.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub revoked_at: Option<OffsetDateTime>,
}

/// Tokens that the caller may see. Old ones are eventually removed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// Newest first.
    pub tokens: Vec<TokenInfo>,
}
