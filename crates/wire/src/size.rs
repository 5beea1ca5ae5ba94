//! Human-readable sizes: `1920x1080`, `512m`.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The size of a screen, `WIDTHxHEIGHT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// 320 to 7680 pixels.
    pub width: u16,
    /// 200 to 4320 pixels.
    pub height: u16,
}

impl Geometry {
    /// Checks the limits.
    pub fn new(width: u32, height: u32) -> Result<Self, SizeError> {
        match (u16::try_from(width), u16::try_from(height)) {
            (Ok(width @ 320..=7680), Ok(height @ 200..=4320)) => Ok(Self { width, height }),
            _ => Err(SizeError::Geometry(format!("{width}x{height}"))),
        }
    }
}

impl Default for Geometry {
    fn default() -> Self {
        Self { width: 1920, height: 1080 }
    }
}

impl fmt::Display for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Geometry {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        // Accept the depth that Xvfb users add: 1920x1080x24.
        let text = text.strip_suffix("x24").unwrap_or(text);
        let bad = || SizeError::Geometry(text.to_owned());
        let (width, height) = text.split_once('x').ok_or_else(bad)?;
        Self::new(width.parse().map_err(|_| bad())?, height.parse().map_err(|_| bad())?)
    }
}

/// An amount of memory: a number of bytes with an optional `k`, `m`, `g` (powers of 1024).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in [("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)] {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{}{unit}", self.0 / size);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl FromStr for Bytes {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let bad = || SizeError::Bytes(text.to_owned());
        let lower = text.trim().to_ascii_lowercase();
        let trimmed = lower.trim_end_matches("ib").trim_end_matches('b');
        let (digits, unit) = match trimmed.char_indices().last() {
            Some((at, 'k')) => (trimmed.get(..at), 1 << 10),
            Some((at, 'm')) => (trimmed.get(..at), 1 << 20),
            Some((at, 'g')) => (trimmed.get(..at), 1 << 30),
            _ => (Some(trimmed), 1_u64),
        };
        let number: u64 = digits.unwrap_or_default().parse().map_err(|_| bad())?;
        match number.checked_mul(unit) {
            Some(bytes) if bytes > 0 => Ok(Self(bytes)),
            _ => Err(bad()),
        }
    }
}

/// A size that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Not a screen size, or outside the limits.
    #[error("{0:?} is not a screen size: expected WIDTHxHEIGHT from 320x200 to 7680x4320")]
    Geometry(String),
    /// Not an amount of memory.
    #[error("{0:?} is not an amount of memory: expected a number with k, m or g, such as 512m")]
    Bytes(String),
}

/// Implements both types as JSON strings.
macro_rules! string_in_json {
    ($type:ident, $name:literal, $pattern:literal, $example:literal, $expected:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "pattern": $pattern,
                    "examples": [$example],
                    "x-expected": $expected,
                })
            }
        }
    };
}

string_in_json!(
    Geometry,
    "Geometry",
    "^[0-9]+x[0-9]+(x24)?$",
    "1920x1080",
    "WIDTHxHEIGHT from 320x200 to 7680x4320"
);
string_in_json!(
    Bytes,
    "Bytes",
    "^[0-9]+([kmgKMG]([iI]?[bB])?)?$",
    "512m",
    "a number with k, m or g, such as 512m"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!("1280x720".parse(), Geometry::new(1280, 720));
        assert_eq!("1280x720x24".parse(), Geometry::new(1280, 720));
        assert_eq!("1g".parse(), Ok(Bytes(1 << 30)));
        assert_eq!("512MiB".parse(), Ok(Bytes(512 << 20)));
        assert_eq!("4096".parse(), Ok(Bytes(4096)));
        assert_eq!(Bytes(512 << 20).to_string(), "512m");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x", "319x200", "320x199", "7681x200", "-1x-1", "1920"] {
            assert!(text.parse::<Geometry>().is_err(), "{text:?}");
        }
        for text in ["", "g", "-1g", "0", "1.5g", "99999999999999999999g", "17179869184g"] {
            assert!(text.parse::<Bytes>().is_err(), "{text:?}");
        }
    }
}
