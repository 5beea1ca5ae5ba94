//! Points on a screen.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A coordinate in pixels of the session's screen, counted from the top left corner.
///
/// Models sometimes write `376.0`; fractions are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Px(#[schemars(with = "f64", range(min = 0, max = 65_535))] pub i32);

impl<'de> Deserialize<'de> for Px {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?.round();
        if (0.0..=65_535.0).contains(&value) {
            // In range, so the cast is exact.
            Ok(Self(value as i32))
        } else {
            Err(serde::de::Error::custom(format!("{value} is not a pixel: expected 0 to 65535")))
        }
    }
}

/// A point on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
}

/// A position in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pixel {
    /// Pixels from the left edge.
    pub x: i32,
    /// Pixels from the top edge.
    pub y: i32,
}

/// A rectangle on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Rect {
    /// Pixels from the left edge.
    pub x: i32,
    /// Pixels from the top edge.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_rounded_and_a_negative_number_refused() {
        let point: Point = serde_json::from_str(r#"{"x": 375.6, "y": 0}"#).unwrap();
        assert_eq!((point.x, point.y), (Px(376), Px(0)));
        assert!(serde_json::from_str::<Point>(r#"{"x": -1, "y": 0}"#).is_err());
    }
}
