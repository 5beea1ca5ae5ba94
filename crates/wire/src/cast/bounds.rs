//! Numbers and texts whose bounds are checked when they are parsed.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// An integer from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Whole<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Whole<MIN, MAX> {
    /// A constant whose bounds are checked at compile time.
    pub const fn of<const NUMBER: u32>() -> Self {
        const { assert!(MIN <= NUMBER && NUMBER <= MAX) };
        Self(NUMBER)
    }

    /// The number, if it is within bounds.
    pub fn new(number: u32) -> Option<Self> {
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    /// The number, clamped to the bounds.
    pub fn nearest(number: u32) -> Self {
        Self(number.clamp(MIN, MAX))
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        let refusal = || D::Error::custom(format!("{number}: expected {MIN} to {MAX}"));
        Self::new(number).ok_or_else(refusal)
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Whole{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A number from `-MAX` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct Within<const MAX: u32>(f64);

impl<const MAX: u32> Within<MAX> {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<'de, const MAX: u32> Deserialize<'de> for Within<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        if number.abs() <= f64::from(MAX) {
            return Ok(Self(number));
        }
        Err(D::Error::custom(format!("{number}: expected -{MAX} to {MAX}")))
    }
}

impl<const MAX: u32> JsonSchema for Within<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Within{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": -i64::from(MAX), "maximum": MAX })
    }
}

/// A text of at most `MAX` characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The error does not quote the text: it may be a password.
        match text.chars().nth(MAX) {
            None => Ok(Self(text)),
            Some(_) => Err(D::Error::custom(format!("expected at most {MAX} characters"))),
        }
    }
}

impl<const MAX: usize> JsonSchema for Text<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX, "x-secret": true })
    }
}

/// A coordinate on the page, in CSS pixels. It can be outside the page while the pointer drags out
/// of it.
pub type Place = Within<16384>;
/// Distance that the wheel scrolls, in CSS pixels.
pub type Turn = Within<100_000>;
/// JPEG quality.
pub type Quality = Whole<1, 100>;
/// Width or height of a picture.
pub type Side = Whole<16, 7680>;
/// Pictures per second.
pub type Pace = Whole<1, 60>;
/// Bit mask: Alt 1, Ctrl 2, Meta 4, Shift 8.
pub type Modifiers = Whole<0, 15>;
