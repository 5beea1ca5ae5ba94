//! What a sandbox's labels say about its session, so that a restarted server knows it again.

use std::collections::BTreeMap;

use helmdeck_wire::session::SessionSpec;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::spec;

/// The label that holds the record.
const LABEL: &str = "helmdeck.session";

/// A session, less what only its guest needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Whose it is.
    pub owner: String,
    /// When it was asked for.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// As asked for, defaults filled in, values of the environment taken out.
    pub spec: SessionSpec,
}

impl Record {
    /// The record as labels.
    pub fn to_labels(&self) -> BTreeMap<String, String> {
        let shown = Self { spec: spec::for_reply(&self.spec), ..self.clone() };
        // A record always is valid JSON; were it not, the sandbox would not be adopted.
        let text = serde_json::to_string(&shown).unwrap_or_default();
        [(LABEL.to_owned(), text)].into()
    }

    /// The record in these labels, if they are a session's.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> Option<Self> {
        serde_json::from_str(labels.get(LABEL)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_as_labels_without_its_secrets() {
        let env = [("KEY".to_owned(), "secret".to_owned())].into();
        let spec = SessionSpec { env, label: "é".into(), ..SessionSpec::default() };
        let created_at = OffsetDateTime::UNIX_EPOCH;
        let labels = Record { owner: "agent".into(), created_at, spec }.to_labels();
        assert!(!format!("{labels:?}").contains("secret"));
        let read = Record::from_labels(&labels).unwrap();
        assert_eq!((read.owner.as_str(), read.spec.label.as_str()), ("agent", "é"));
        assert!(read.spec.env.contains_key("KEY"));
        assert!(Record::from_labels(&BTreeMap::new()).is_none());
    }
}
