//! The record of a session in its sandbox's labels. A restarted server reads it to adopt the
//! session.

use std::{collections::BTreeMap, time::Duration};

use helmdeck_wire::{attach::Attached, session::SessionSpec};
use rustix::system::sysinfo;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::spec;

/// The label that holds the record.
const LABEL: &str = "helmdeck.session";

/// A session, without what only its guest needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Owner of the session.
    pub owner: String,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    /// The same time in seconds since boot, which is independent of clock changes. A sandbox does
    /// not survive a reboot, so the value always refers to the current boot.
    #[serde(default)]
    pub created_uptime_s: Option<u64>,
    /// The requested settings with defaults filled in and without values of `env`.
    pub spec: SessionSpec,
    /// The attached display or browser. Such a record is never stored in a label.
    #[serde(default)]
    pub attached: Option<Attached>,
}

impl Record {
    /// The record of a session that is created now.
    pub fn new(owner: String, spec: SessionSpec) -> Self {
        let created_at = OffsetDateTime::now_utc();
        Self { owner, created_at, created_uptime_s: Some(uptime_s()), spec, attached: None }
    }

    /// Time since its creation.
    pub fn age(&self) -> Duration {
        self.age_at(OffsetDateTime::now_utc(), uptime_s())
    }

    /// A record without the uptime only has the wall clock, which may have changed. A creation time
    /// in the future counts as now.
    fn age_at(&self, now: OffsetDateTime, uptime_s: u64) -> Duration {
        match self.created_uptime_s {
            Some(then) => Duration::from_secs(uptime_s.saturating_sub(then)),
            None => Duration::try_from(now - self.created_at).unwrap_or_default(),
        }
    }

    /// The record as labels.
    pub fn to_labels(&self) -> BTreeMap<String, String> {
        let shown = Self { spec: spec::for_reply(&self.spec), ..self.clone() };
        // Serialization cannot fail. If it did, the sandbox would not be adopted.
        let text = serde_json::to_string(&shown).unwrap_or_default();
        [(LABEL.to_owned(), text)].into()
    }

    /// The record in these labels. `None` if they are not a session's.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> Option<Self> {
        serde_json::from_str(labels.get(LABEL)?).ok()
    }
}

/// Seconds since boot.
fn uptime_s() -> u64 {
    u64::try_from(sysinfo().uptime).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn record(created_at: OffsetDateTime, created_uptime_s: Option<u64>) -> Record {
        let spec = SessionSpec::default();
        Record { owner: "agent".into(), created_at, created_uptime_s, spec, attached: None }
    }

    #[test]
    fn the_age_does_not_depend_on_clock_changes() {
        let created_at = OffsetDateTime::UNIX_EPOCH + 1_000_000 * HOUR;
        let session = record(created_at, Some(500));
        for now in [created_at, created_at + 5 * HOUR, created_at - 5 * HOUR] {
            assert_eq!(session.age_at(now, 560), Duration::from_secs(60), "{now}");
        }
        assert_eq!(session.age_at(created_at, 499), Duration::ZERO);
    }

    #[test]
    fn without_an_uptime_the_age_comes_from_the_clock_and_is_never_negative() {
        let created_at = OffsetDateTime::UNIX_EPOCH + 1_000_000 * HOUR;
        let mut written = serde_json::to_value(record(created_at, Some(7))).unwrap();
        written.as_object_mut().unwrap().remove("created_uptime_s");
        let session: Record = serde_json::from_value(written).unwrap();
        assert_eq!(session.age_at(created_at + HOUR, 9), HOUR);
        assert_eq!(session.age_at(created_at - HOUR, 9), Duration::ZERO);
        assert_eq!(session.age_at(OffsetDateTime::UNIX_EPOCH, 9), Duration::ZERO);
    }

    #[test]
    fn a_new_record_has_no_age() {
        let session = Record::new("agent".into(), SessionSpec::default());
        assert!(session.age() < HOUR && session.created_uptime_s > Some(0));
    }

    #[test]
    fn a_record_survives_as_labels_without_its_secrets() {
        let env = [("KEY".to_owned(), "secret".to_owned())].into();
        let spec = SessionSpec { env, label: "é".into(), ..SessionSpec::default() };
        let labels = Record::new("agent".into(), spec).to_labels();
        assert!(!format!("{labels:?}").contains("secret"));
        let read = Record::from_labels(&labels).unwrap();
        assert_eq!((read.owner.as_str(), read.spec.label.as_str()), ("agent", "é"));
        assert!(read.spec.env.contains_key("KEY"));
        assert!(Record::from_labels(&BTreeMap::new()).is_none());
    }
}
