//! Emulated location, language and preferences that pages see.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::Patience;
use crate::action::action;

/// Emulate a location, language, time zone or reader preferences in every page. Fields that are not
/// given keep their values. The emulation applies to all tabs and frames, including later ones, and
/// survives a restart of the browser.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulate {
    /// Geolocation reported to pages. Pages get it without a permission prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// Language reported to pages, for example `de-DE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 2, max = 32),
        regex(pattern = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$")
    )]
    pub locale: Option<String>,
    /// Time zone of pages, for example `Europe/Paris`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 64),
        regex(pattern = "^[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*$")
    )]
    pub timezone: Option<String>,
    /// Preferred colour scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether pages should reduce motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<bool>,
    /// Reset the whole emulation before applying the given fields.
    #[serde(default)]
    pub reset: bool,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Emulate, "browser_emulate", Emulated,
    lasts |this: &Self| this.timeout_s.duration());

/// The emulation in effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emulated {
    /// Always true; failures are error bodies.
    pub ok: bool,
    /// Everything that is emulated now.
    #[serde(flatten)]
    pub emulation: Emulation,
}

/// The emulated values. Pages see the real value of a field that is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Emulation {
    /// Geolocation reported to pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// Language reported to pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Time zone of pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Preferred colour scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Whether pages should reduce motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduced_motion: Option<bool>,
}

/// A location on earth.
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
    /// Accuracy in metres; defaults to 10.
    #[serde(default = "ten", deserialize_with = "between::<0, 10_000_000, _>")]
    #[schemars(range(min = 0, max = 10_000_000))]
    pub accuracy: f64,
}

fn ten() -> f64 {
    10.0
}

/// A preferred colour scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColorScheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// The browser's own default.
    NoPreference,
}

/// Deserializes a number and checks its range.
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
