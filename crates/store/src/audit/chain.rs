//! Rows of the audit log as they are stored, and their hashes.

use helmdeck_wire::{
    SessionId,
    audit::{AuditRecord, Severity, format_at},
};
use ring::digest::{SHA256, digest};
use serde_json::json;
use sqlx::{Row as _, sqlite::SqliteRow};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::AuditEntry;
use crate::StoreError;

/// Version of the encoding that is hashed.
const ENCODING: u8 = 1;

/// The newest row.
pub(super) struct Head {
    pub id: i64,
    pub hash: String,
}

/// A row, with the texts that are hashed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub id: i64,
    pub at: String,
    pub event_type: String,
    pub severity: String,
    pub actor_subject: Option<String>,
    pub actor_label: Option<String>,
    pub human: bool,
    pub session_id: Option<String>,
    pub target: Option<String>,
    pub details: String,
    pub remote_address: Option<String>,
    pub previous_hash: String,
    pub hash: String,
}

/// The rows of these entries, after the head.
pub(super) fn link(head: &Head, entries: &[AuditEntry]) -> Vec<Row> {
    let (mut id, mut previous_hash) = (head.id, head.hash.clone());
    let rows = entries.iter().map(|entry| {
        id += 1;
        let actor = entry.actor.as_ref();
        let mut row = Row {
            id,
            at: format_at(entry.at),
            event_type: entry.event_type.to_owned(),
            severity: entry.severity.as_str().to_owned(),
            actor_subject: actor.map(|actor| actor.subject.clone()),
            actor_label: actor.and_then(|actor| actor.label.clone()),
            human: actor.is_some_and(|actor| actor.is_person()),
            session_id: entry.session.as_ref().map(|id| id.as_str().to_owned()),
            target: entry.target.clone(),
            details: entry.details_text(),
            remote_address: entry.address.map(|address| address.to_string()),
            previous_hash: previous_hash.clone(),
            hash: String::new(),
        };
        row.hash = row.expected_hash();
        previous_hash = row.hash.clone();
        row
    });
    rows.collect()
}

impl Row {
    /// SHA-256 of the row as a JSON array without spaces, in hexadecimal. The array holds the
    /// version of this encoding, the hash of the row before, and the columns in this order.
    pub fn expected_hash(&self) -> String {
        let columns = json!([
            ENCODING,
            self.previous_hash,
            self.id,
            self.at,
            self.event_type,
            self.severity,
            self.actor_subject,
            self.actor_label,
            self.human,
            self.session_id,
            self.target,
            self.details,
            self.remote_address,
        ]);
        let hash = digest(&SHA256, columns.to_string().as_bytes());
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub fn read(row: &SqliteRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get("id")?,
            at: row.try_get("at")?,
            event_type: row.try_get("event_type")?,
            severity: row.try_get("severity")?,
            actor_subject: row.try_get("actor_subject")?,
            actor_label: row.try_get("actor_label")?,
            human: row.try_get("human")?,
            session_id: row.try_get("session_id")?,
            target: row.try_get("target")?,
            details: row.try_get("details")?,
            remote_address: row.try_get("remote_address")?,
            previous_hash: row.try_get("previous_hash")?,
            hash: row.try_get("hash")?,
        })
    }

    pub fn into_record(self) -> Result<AuditRecord, StoreError> {
        let invalid = |field, value: &str| StoreError::Nonsense { field, value: value.to_owned() };
        Ok(AuditRecord {
            id: self.id.unsigned_abs(),
            at: OffsetDateTime::parse(&self.at, &Rfc3339).map_err(|_| invalid("at", &self.at))?,
            severity: Severity::parse(&self.severity)
                .ok_or_else(|| invalid("severity", &self.severity))?,
            details: serde_json::from_str(&self.details)
                .map_err(|_| invalid("details", &self.details))?,
            event_type: self.event_type,
            actor_subject: self.actor_subject,
            actor_label: self.actor_label,
            human: self.human,
            session_id: self.session_id.map(SessionId::new),
            target: self.target,
            remote_address: self.remote_address,
            previous_hash: self.previous_hash,
            hash: self.hash,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with another program: hashes must never change, or old logs cannot be verified.
    #[test]
    fn the_hash_of_a_row_is_the_same_in_every_version() {
        let row = Row {
            id: 7,
            at: "2026-01-02T03:04:05.000006Z".into(),
            event_type: "login.failed".into(),
            severity: "warning".into(),
            actor_subject: Some("é\"\n".into()),
            actor_label: None,
            human: true,
            session_id: None,
            target: Some("admin".into()),
            details: r#"{"count":2}"#.into(),
            remote_address: Some("192.0.2.7".into()),
            previous_hash: "0".repeat(64),
            hash: String::new(),
        };
        assert_eq!(
            row.expected_hash(),
            "dfa5d7550beff4ac5921a7068cbd945dc676b86701004037c7d99d32091a349a"
        );
    }
}
