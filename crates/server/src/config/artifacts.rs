//! Settings of artifacts.

use std::time::Duration;

use helmdeck_wire::size::Bytes;

use super::layers::{ConfigError, Layers};

/// How long and how much to keep.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactSettings {
    /// `HELMDECK_ARTIFACT_TTL`: how long an artifact is kept; 0 keeps it until it is deleted. Applies to
    /// artifacts that are stored from now on. Default 7d.
    pub ttl: Option<Duration>,
    /// `HELMDECK_ARTIFACT_QUOTA`: how many bytes the artifacts of one token subject may have together;
    /// 0 for no limit. Default 10g.
    pub quota: Option<Bytes>,
    /// `HELMDECK_ARTIFACT_JANITOR_INTERVAL`: how often expired artifacts are deleted. Default 1h.
    pub janitor_interval: Duration,
}

impl ArtifactSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            ttl: layers.value(
                "artifact_ttl",
                "a time such as 7d, 12h or 30m, or 0 for forever",
                |text| if text.trim() == "0" { Some(None) } else { duration(text).map(Some) },
                || Some(Duration::from_secs(7 * DAY)),
            )?,
            quota: layers.value(
                "artifact_quota",
                "a size such as 10g, or 0 for no limit",
                |text| if text.trim() == "0" { Some(None) } else { text.parse().ok().map(Some) },
                || Some(Bytes(10 << 30)),
            )?,
            janitor_interval: layers.value(
                "artifact_janitor_interval",
                "a time such as 1h or 10m",
                duration,
                || Duration::from_secs(HOUR),
            )?,
        })
    }
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// Longer times make no difference.
const LONGEST: u64 = 100 * 366 * DAY;
const UNITS: [(&str, u64); 4] = [("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", 1)];

/// `7d`, `12h`, `30m` or `90s`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| {
        let number = text.strip_suffix(name).filter(|digits| is_number(digits))?;
        Some((number.parse::<u64>().ok()?, *unit))
    })?;
    let seconds = number.checked_mul(unit)?;
    (1..=LONGEST).contains(&seconds).then(|| Duration::from_secs(seconds))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The time as it is written in settings.
pub(super) fn show(time: Duration) -> String {
    let seconds = time.as_secs();
    let unit = UNITS.iter().find(|(_, unit)| seconds.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{seconds}s"), |(name, unit)| format!("{}{name}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_a_unit() {
        for (text, seconds, shown) in [
            ("7d", 7 * DAY, "7d"),
            ("168h", 7 * DAY, "7d"),
            ("30m", 1800, "30m"),
            ("90s", 90, "90s"),
        ] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
            assert_eq!(show(Duration::from_secs(seconds)), shown);
        }
        for bad in
            ["", "7", "d", "0d", "-1h", "1.5h", "1w", "+1h", "99999999999999999999d", "99999999d"]
        {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }
}
