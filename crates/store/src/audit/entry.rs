//! What a row of the audit log says.

use std::net::IpAddr;

use helmdeck_wire::{SessionId, audit::Severity, history::Actor};
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use crate::vault::{redact_used, redact_used_json};

/// Limit on texts, in characters.
const MAX_TEXT: usize = 300;
/// Limit on all details together, in bytes.
const MAX_DETAILS: usize = 4096;

/// Something that happened now, to be recorded by [`super::Audit::record`].
///
/// Details never hold request bodies, tokens, passwords or typed text. Long texts are cut.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    pub(super) at: OffsetDateTime,
    pub(super) event_type: &'static str,
    pub(super) severity: Severity,
    pub(super) actor: Option<Actor>,
    pub(super) address: Option<IpAddr>,
    pub(super) session: Option<SessionId>,
    pub(super) target: Option<String>,
    pub(super) details: Map<String, Value>,
}

impl AuditEntry {
    /// An entry of this type, a noun and a verb such as `token.created`. Without an actor, the
    /// server itself did it.
    pub fn new(event_type: &'static str) -> Self {
        Self {
            at: OffsetDateTime::now_utc(),
            event_type,
            severity: Severity::Info,
            actor: None,
            address: None,
            session: None,
            target: None,
            details: Map::new(),
        }
    }

    /// Who did it, and from which address if that is known: a caller or an actor.
    pub fn actor(mut self, actor: impl Into<Actor>) -> Self {
        let mut actor = actor.into();
        self.address = actor.address.or(self.address);
        actor.subject = printable(&actor.subject);
        actor.label = actor.label.as_deref().map(printable);
        self.actor = Some(actor);
        self
    }

    /// Where the request came from.
    pub fn address(self, address: IpAddr) -> Self {
        Self { address: Some(address), ..self }
    }

    /// How important it is; [`Severity::Info`] if not given.
    pub fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// The session that it is about.
    pub fn session(self, id: &SessionId) -> Self {
        Self { session: Some(SessionId::new(printable(id.as_str()))), ..self }
    }

    /// What it was done to. An empty text is left out.
    pub fn target(self, target: impl AsRef<str>) -> Self {
        let target = printable(target.as_ref());
        Self { target: Some(target).filter(|target| !target.is_empty()), ..self }
    }

    /// A detail. Null is left out.
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::Null => return self,
            Value::String(text) => Value::String(printable(&text)),
            other => other,
        };
        self.details.insert(name.to_owned(), value);
        self
    }

    /// When it happened.
    #[cfg(test)]
    pub(super) fn at(self, at: OffsetDateTime) -> Self {
        Self { at, ..self }
    }

    /// Replaces the secrets that this process used.
    pub(super) fn redact(&mut self) {
        if let Some(target) = self.target.take() {
            let target = redact_used(target.as_bytes());
            self.target = Some(String::from_utf8_lossy(&target).into_owned());
        }
        let details = std::mem::take(&mut self.details);
        if let Value::Object(details) = redact_used_json(Value::Object(details)) {
            self.details = details;
        }
    }

    /// The details as JSON, limited in size.
    pub(super) fn details_text(&self) -> String {
        let text = Value::Object(self.details.clone()).to_string();
        if text.len() <= MAX_DETAILS { text } else { json!({ "left_out": text.len() }).to_string() }
    }
}

/// A text on one line, limited in length.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_limited_in_size_and_texts_are_on_one_line() {
        let entry = AuditEntry::new("a.b")
            .target("x\r\n".to_owned() + &"y".repeat(1000))
            .detail("path", "a\nb")
            .detail("none", None::<String>);
        assert_eq!(entry.target.as_ref().unwrap().len(), MAX_TEXT);
        assert_eq!(entry.details_text(), r#"{"path":"ab"}"#);
        let long = AuditEntry::new("a.b").detail("list", vec!["x".repeat(100); 100]);
        assert_eq!(long.details_text(), r#"{"left_out":10310}"#);
    }
}
