//! Tickets: the right to watch one session, for a limited time, without a token.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::SessionId;

/// What a viewer may.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// See.
    #[default]
    View,
    /// See, and take control.
    Control,
}

impl Role {
    /// Its name in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Control => "control",
        }
    }
}

/// Ask for a ticket.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewTicket {
    /// What its holder may.
    pub role: Role,
    /// Seconds until no new connection is possible with it; 300 if not given.
    #[schemars(range(min = 1, max = 604_800))]
    pub ttl_seconds: Option<u64>,
    /// Whether several viewers may use it at once. Otherwise each kind of stream can be open once.
    pub reusable: bool,
    /// Seconds after which a connection made with it ends; it may last as long as the session if not
    /// given.
    #[schemars(range(min = 1, max = 604_800))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connection_s: Option<u64>,
    /// Who it is for, shown in the action log with what its holder does.
    #[schemars(length(max = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A ticket, shown once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// Names it, to revoke it.
    pub id: String,
    /// The ticket itself. Treat it as a password.
    pub ticket: String,
    /// What its holder may.
    pub role: Role,
    /// A page that uses it: it shows the session's desktop, or without one its browser.
    pub url: String,
    /// Where Playwright, Puppeteer and others connect to the session's browser with it, if its role
    /// is control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<String>,
    /// Until when connections can be opened with it.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
}

/// Where to watch a session's desktop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct VncUrl {
    /// Which session.
    pub session_id: SessionId,
    /// The host in `url`.
    pub host: String,
    /// The port in `url`.
    pub port: String,
    /// The page in `url`.
    pub path: String,
    /// Open this in a browser: it holds a ticket.
    pub url: String,
    /// What the holder of the address may do.
    pub role: Role,
    /// Until when connections can be opened with it.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub expires_at: OffsetDateTime,
    /// What the agent says it is doing; empty if it says nothing.
    pub agent_status: String,
    /// What else there is to know.
    pub notes: String,
}
