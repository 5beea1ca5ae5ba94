//! Options of commands that create tokens.

use std::time::Duration;

const MAX_LABEL: usize = 100;

/// A label as tokens have it.
pub fn label(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_LABEL).contains(&text.chars().count()) && !text.contains(char::is_control);
    fits.then(|| text.to_owned()).ok_or(format!("expected 1 to {MAX_LABEL} printable characters"))
}

/// A time as people write it: 90s, 30m, 12h, 7d.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => 0,
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds)) {
        Some(total) if total > 0 => Ok(Duration::from_secs(total)),
        _ => Err("expected a number with s, m, h or d, such as 12h".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        for text in ["", "h", "0h", "-1h", "1w", "1.5h", "99999999999999999999d"] {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }
}
