//! Tokens, as listed for those who manage them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::scope::ScopeName;

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
    /// The MCP client that `/api/v1/connect/{client}` created it for, such as `claude-code`.
    #[serde(default)]
    pub made_for: Option<String>,
    /// When it was last used; null if never.
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

/// Create a token for an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Label, such as the name of the program that uses it. The action log shows it.
    #[schemars(length(min = 1, max = 100), regex(pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"))]
    #[schemars(extend("x-expected" = "printable text"))]
    pub label: String,
    /// Scopes; `sessions:*` by default. Your own token must cover them.
    #[serde(default)]
    #[schemars(with = "Option<Vec<ScopeName>>", length(min = 1, max = 20))]
    pub scopes: Option<Vec<String>>,
    /// Seconds until it expires; 30 days by default, one year at most.
    #[serde(default)]
    #[schemars(range(min = 60, max = 31_536_000))]
    pub ttl_s: Option<u64>,
    /// Owner of its sessions; you by default. Only an admin may name another.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub subject: Option<String>,
}

/// A new token. The token itself is only in this reply.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    /// Send it as `Authorization: Bearer <token>`.
    pub token: String,
    /// Id, to revoke it.
    pub id: String,
    /// Label.
    pub label: String,
    /// Owner of its sessions.
    pub subject: String,
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
}

/// Tokens that the caller may see. Old ones are eventually removed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// Newest first.
    pub tokens: Vec<TokenInfo>,
}
