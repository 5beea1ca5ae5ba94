//! What a sandbox's labels say about its session, so that a restarted server knows it again.

use std::{collections::BTreeMap, time::Duration};

use helmdeck_wire::{attach::Attached, session::SessionSpec};
use rustix::system::sysinfo;
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
    /// The same moment in seconds since the machine started, which no setting of the clock moves.
    /// A sandbox does not outlive the machine's run, so it is this one.
    #[serde(default)]
    pub created_uptime_s: Option<u64>,
    /// As asked for, defaults filled in, values of the environment taken out.
    pub spec: SessionSpec,
    /// What of somebody's own it is, if it was attached. Such a record is in no label.
    #[serde(default)]
    pub attached: Option<Attached>,
}

impl Record {
    /// The record of a session that is asked for now.
    pub fn new(owner: String, spec: SessionSpec) -> Self {
        let created_at = OffsetDateTime::now_utc();
        Self { owner, created_at, created_uptime_s: Some(uptime_s()), spec, attached: None }
    }

    /// How long ago it was asked for.
    pub fn age(&self) -> Duration {
        self.age_at(OffsetDateTime::now_utc(), uptime_s())
    }

    /// A record without the uptime has only the clock, which may have been set: a moment that is
    /// yet to come is taken for now.
    fn age_at(&self, now: OffsetDateTime, uptime_s: u64) -> Duration {
        match self.created_uptime_s {
            Some(then) => Duration::from_secs(uptime_s.saturating_sub(then)),
            None => Duration::try_from(now - self.created_at).unwrap_or_default(),
        }
    }

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

/// Seconds since the machine started.
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
    fn the_age_is_the_time_that_passed_wherever_the_clock_was_set() {
        let created_at = OffsetDateTime::UNIX_EPOCH + 1_000_000 * HOUR;
        let session = record(created_at, Some(500));
        for now in [created_at, created_at + 5 * HOUR, created_at - 5 * HOUR] {
            assert_eq!(session.age_at(now, 560), Duration::from_secs(60), "{now}");
        }
        assert_eq!(session.age_at(created_at, 499), Duration::ZERO);
    }

    #[test]
    fn a_record_of_an_earlier_version_has_the_clock_and_is_never_of_the_future() {
        let created_at = OffsetDateTime::UNIX_EPOCH + 1_000_000 * HOUR;
        let mut written = serde_json::to_value(record(created_at, Some(7))).unwrap();
        written.as_object_mut().unwrap().remove("created_uptime_s");
        let session: Record = serde_json::from_value(written).unwrap();
        assert_eq!(session.age_at(created_at + HOUR, 9), HOUR);
        assert_eq!(session.age_at(created_at - HOUR, 9), Duration::ZERO);
        assert_eq!(session.age_at(OffsetDateTime::UNIX_EPOCH, 9), Duration::ZERO);
    }

    #[test]
    fn a_new_record_is_of_now() {
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
