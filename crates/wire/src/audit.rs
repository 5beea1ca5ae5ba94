//! The audit log: who did what, in a chain of hashes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use crate::SessionId;

/// How important a row is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Expected use.
    #[default]
    Info,
    /// A refusal, or use that deserves a look.
    Warning,
    /// A failure of the server.
    Error,
}

impl Severity {
    /// Name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Info, Self::Warning, Self::Error].into_iter().find(|it| it.as_str() == name)
    }
}

/// One row of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRecord {
    /// Increases by one with every row.
    pub id: u64,
    /// When it happened, with microseconds.
    #[serde(
        serialize_with = "serialize_at",
        deserialize_with = "time::serde::rfc3339::deserialize"
    )]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// What happened: a noun and a verb, such as `login.failed`.
    pub event_type: String,
    /// How important it is.
    pub severity: Severity,
    /// Subject of the token that did it; null for the server itself.
    pub actor_subject: Option<String>,
    /// Label of that token or link.
    pub actor_label: Option<String>,
    /// Whether a person did it: with a login, a token of a person, or a link.
    pub human: bool,
    /// The session that it is about.
    pub session_id: Option<SessionId>,
    /// What it was done to: a host, a file, the id of a token.
    pub target: Option<String>,
    /// Details. Never bodies, tokens or typed text.
    pub details: Value,
    /// Where the request came from.
    pub remote_address: Option<String>,
    /// Hash of the row before.
    pub previous_hash: String,
    /// SHA-256 of this row and the hash before it, in hexadecimal.
    pub hash: String,
}

/// A page of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditPage {
    /// Newest first.
    pub entries: Vec<AuditRecord>,
    /// Number of rows on this page.
    pub count: u64,
    /// The `cursor` of the next page, with older rows; null on the last page.
    pub next_cursor: Option<u64>,
}

/// The time of a row as it is hashed: RFC 3339 in UTC with six digits after the second, so that
/// texts compare like times.
pub fn format_at(at: OffsetDateTime) -> String {
    // Only the last hours of the year 9999 have no time in UTC.
    let at = at.checked_to_offset(time::UtcOffset::UTC).unwrap_or(at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.microsecond()
    )
}

fn serialize_at<S: serde::Serializer>(at: &OffsetDateTime, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&format_at(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_fixed_width_so_that_texts_compare_like_times() {
        let at = OffsetDateTime::UNIX_EPOCH + time::Duration::days(20_000);
        let later = at + time::Duration::milliseconds(500);
        assert_eq!(format_at(at), "2024-10-04T00:00:00.000000Z");
        assert_eq!(format_at(later), "2024-10-04T00:00:00.500000Z");
        assert!(format_at(at) < format_at(later));
        let last = "9999-12-31T23:59:59-01:00";
        let last = OffsetDateTime::parse(last, &time::format_description::well_known::Rfc3339);
        let last = last.unwrap();
        assert_eq!(format_at(last), "9999-12-31T23:59:59.000000Z");
    }
}
