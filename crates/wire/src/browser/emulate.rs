//! What pages are made to believe about where they are and who looks at them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::Patience;
use crate::action::action;

/// Make every page believe that it is elsewhere, or that its reader has other wishes: place,
/// language, time zone, colours, motion. What is not given stays as it is. It holds in every tab and
/// frame, also in those opened later, and also when the browser was restarted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulate {
    /// Where the browser says it is. Pages may ask for it without asking a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// The language of pages, for example `de-DE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 2, max = 32),
        regex(pattern = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$")
    )]
    pub locale: Option<String>,
    /// The clock's place, for example `Europe/Paris`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = "^[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*$")
    )]
    pub timezone: Option<String>,
    /// The colours that the reader prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether the reader wants less motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<bool>,
    /// Drop first all that was emulated so far.
    #[serde(default)]
    pub reset: bool,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Emulate, "browser_emulate", Emulated,
    lasts |this: &Self| this.timeout_s.duration());

/// What is in force now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emulated {
    /// Always true; failures are error bodies.
    pub ok: bool,
    /// All that pages are made to believe.
    #[serde(flatten)]
    pub emulation: Emulation,
}

/// What pages are made to believe. Of what is not given, they learn the truth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emulation {
    /// Where the browser says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// The language of pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The clock's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// The colours that the reader prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether the reader wants less motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<bool>,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geolocation {
    /// Degrees north of the equator.
    #[serde(deserialize_with = "between::<-90, 90, _>")]
    #[schemars(range(min = -90, max = 90))]
    pub latitude: f64,
    /// Degrees east of Greenwich.
    #[serde(deserialize_with = "between::<-180, 180, _>")]
    #[schemars(range(min = -180, max = 180))]
    pub longitude: f64,
    /// How many metres it may be off; 10 if not given.
    #[serde(default = "ten", deserialize_with = "between::<0, 10_000_000, _>")]
    #[schemars(range(min = 0, max = 10_000_000))]
    pub accuracy: f64,
}

fn ten() -> f64 {
    10.0
}

/// The colours that a reader prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// Whatever the browser has by itself.
    NoPreference,
}

/// A number that is not out of range.
fn between<'de, const LEAST: i32, const MOST: i32, D>(deserializer: D) -> Result<f64, D::Error>
where
    D: Deserializer<'de>,
{
    let number = f64::deserialize(deserializer)?;
    if (f64::from(LEAST)..=f64::from(MOST)).contains(&number) {
        return Ok(number);
    }
    Err(D::Error::custom(format!("{number} is out of range: expected {LEAST} to {MOST}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_on_earth() {
        let place = |value| serde_json::from_value::<Geolocation>(value);
        let paris = place(json!({ "latitude": 48.85, "longitude": 2 })).unwrap();
        assert_eq!((paris.latitude, paris.accuracy), (48.85, 10.0));
        for bad in [
            json!({ "latitude": 90.5, "longitude": 0 }),
            json!({ "latitude": 0, "longitude": -181 }),
            json!({ "latitude": 0, "longitude": 0, "accuracy": -1 }),
            json!({ "latitude": 0 }),
        ] {
            assert!(place(bad.clone()).is_err(), "{bad}");
        }
    }
}
