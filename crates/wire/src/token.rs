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
    /// The MCP client it was made for by `/api/v1/connect/{client}`, such as `claude-code`.
    #[serde(default)]
    pub made_for: Option<String>,
    /// When it was last used; empty if it never was.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub last_used_at: Option<OffsetDateTime>,
    /// The MCP client that last connected with it.
    #[serde(default)]
    pub mcp_client: Option<McpClient>,
}

/// A program that connected over MCP, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpClient {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The revision of MCP that it speaks.
    pub protocol_version: String,
    /// How it connects: `http`, `sse` or `stdio`.
    pub transport: String,
    /// When it first connected with this token.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub first_seen: OffsetDateTime,
    /// When it last connected.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen: OffsetDateTime,
}

/// Make a token for an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// What the token is for, such as the name of a program. The action log shows it.
    #[schemars(length(min = 1, max = 100))]
    pub label: String,
    /// What it allows; `sessions:*` if not given. No more than your own token allows.
    #[serde(default)]
    #[schemars(length(min = 1, max = 20))]
    pub scopes: Option<Vec<String>>,
    /// Seconds until it expires; 30 days if not given, a year at most.
    #[serde(default)]
    #[schemars(range(min = 60, max = 31_536_000))]
    pub ttl_s: Option<u64>,
    /// Whose sessions it uses: you, if not given. Only an admin may name another.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub subject: Option<String>,
}

/// A token that was just made. The token itself is shown this once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    /// Send it as `Authorization: Bearer <token>`.
    pub token: String,
    /// Names it, to revoke it.
    pub id: String,
    /// What it is for.
    pub label: String,
    /// Whose sessions it uses.
    pub subject: String,
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
}

/// Tokens that the caller may see. Old ones are eventually removed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// Newest first.
    pub tokens: Vec<TokenInfo>,
}
