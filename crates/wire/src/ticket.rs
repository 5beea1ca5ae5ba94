//! Tickets: the right to watch one session for a limited time without a token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::SessionId;

/// What a viewer may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Watch.
    #[default]
    View,
    /// Watch and take control.
    Control,
}

impl Role {
    /// Name in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Control => "control",
        }
    }
}

/// Create a ticket.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewTicket {
    /// What its holder may do.
    pub role: Role,
    /// Seconds during which new connections can be opened with it; defaults to 300.
    #[schemars(range(min = 1, max = 604_800))]
    pub ttl_seconds: Option<u64>,
    /// Whether several viewers may use it at once. Otherwise one connection of each kind can be
    /// open.
    pub reusable: bool,
    /// Seconds after which a connection made with it is closed. By default it can last as long as
    /// the session.
    #[schemars(range(min = 1, max = 604_800))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connection_s: Option<u64>,
    /// Who it is for. The action log shows it with the holder's actions.
    #[schemars(length(max = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A ticket. It is shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// Id, to revoke it.
    pub id: String,
    /// The ticket itself. Treat it like a password.
    pub ticket: String,
    /// What its holder may do.
    pub role: Role,
    /// Page that uses the ticket. It shows the session's desktop, or the browser of a headless
    /// session.
    pub url: String,
    /// Address for Playwright, Puppeteer and others to connect to the session's browser. Only with
    /// the role control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// When it expires. Open connections are not affected.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

/// Address of a session's live view.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VncUrl {
    /// The session.
    pub session_id: SessionId,
    /// Host of `url`.
    pub host: String,
    /// Port of `url`.
    pub port: String,
    /// Path of `url`.
    pub path: String,
    /// Open this in a browser. It contains a ticket.
    pub url: String,
    /// What the holder of the address may do.
    pub role: Role,
    /// When it expires. Open connections are not affected.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
    /// Status line of the agent; empty if it has set none.
    pub agent_status: String,
    /// Further remarks.
    pub notes: String,
}
