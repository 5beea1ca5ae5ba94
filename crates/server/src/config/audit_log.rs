//! Retention of the audit log.

use std::str::FromStr;

use super::{
    layers::{ConfigError, Layers},
    whole,
};

/// The longest time, in days.
const MOST_DAYS: u32 = 36_500;

/// What to keep of the audit log.
#[derive(Debug, Clone, Copy)]
pub struct AuditLog {
    /// `HELMDECK_AUDIT_RETENTION`: how long rows of the [audit log](audit.md) are kept; 0 keeps them
    /// forever. Default `365d`.
    pub retention: Days,
}

/// A number of days; 0 means forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days(u32);

impl Days {
    /// As a duration; `None` for forever.
    pub fn duration(self) -> Option<time::Duration> {
        (self.0 > 0).then(|| time::Duration::days(self.0.into()))
    }
}

impl std::fmt::Display for Days {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            days => write!(f, "{days}d"),
        }
    }
}

impl FromStr for Days {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = match text.strip_suffix('d') {
            Some(number) => whole(number, 1, MOST_DAYS),
            None => whole(text, 0, 0),
        };
        number.map(Self).ok_or(())
    }
}

impl AuditLog {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let retention = layers.value(
            "audit_retention",
            "days such as 365d, from 1d to 36500d, or 0 to keep rows forever",
            |text| text.parse().ok(),
            || Days(365),
        )?;
        Ok(Self { retention })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_has_a_unit_and_zero_is_forever() {
        for text in ["0", "1d", "365d", "36500d"] {
            assert_eq!(text.parse::<Days>().unwrap().to_string(), text);
        }
        for wrong in ["", "d", "0d", "365", "12h", "-1d", "36501d"] {
            assert!(wrong.parse::<Days>().is_err(), "{wrong:?}");
        }
        assert_eq!(Days(0).duration(), None);
        assert_eq!(Days(2).duration(), Some(time::Duration::days(2)));
    }
}
