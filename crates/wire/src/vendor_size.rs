//! The size at which models of a vendor see a picture as it is, and the tokens that it costs.
//!
//! Models resize pictures beyond their limits. A model then sees less, and points at coordinates of
//! a picture that the caller does not have. The rules here follow what the vendors publish:
//!
//! | vendor | limits | tokens |
//! |---|---|---|
//! | Anthropic, all models | 1568 pixels on the long edge, 1568 patches of 28×28 | one for each patch |
//! | Anthropic, Claude 4.7 and later | 2576 pixels, 4784 patches | one for each patch |
//! | OpenAI, GPT-5.2 and later, `detail` high, original or auto | 2048 pixels, 2500 patches of 32×32 | 1.2 for each patch |
//! | Gemini | 1152 pixels on the short edge: tiles of 768×768 | 258 for each tile |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What Gemini 3 models use for a picture of any size, at the default `media_resolution`.
pub const GEMINI_3_TOKENS: u32 = 1120;

/// Limits of a picture: those of a vendor's models, or given ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeRule {
    /// The limits of a vendor's models.
    Vendor(Vendor),
    /// Given limits.
    Limits(PictureLimits),
}

/// The vendor of the model that sees the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    /// Every Claude model.
    Anthropic,
    /// Claude 4.7 and later, which see more detail for up to three times the tokens.
    AnthropicHigh,
    /// GPT-5.2 and later.
    Openai,
    /// Every Gemini model.
    Gemini,
}

/// The largest picture that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub struct PictureLimits {
    /// Pixels on the longer side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 7680))]
    pub max_edge: Option<u32>,
    /// Pixels altogether.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 256, max = 33_177_600))]
    pub max_pixels: Option<u32>,
}

/// Limits of models that divide a picture into square patches.
struct Patches {
    /// The side of a patch, in pixels.
    side: u32,
    max_edge: u32,
    max_patches: u32,
}

const CLAUDE: Patches = Patches { side: 28, max_edge: 1568, max_patches: 1568 };
const CLAUDE_HIGH: Patches = Patches { side: 28, max_edge: 2576, max_patches: 4784 };
const GPT: Patches = Patches { side: 32, max_edge: 2048, max_patches: 2500 };
/// Tokens for ten patches.
const GPT_TOKENS: u64 = 12;

/// Gemini: the side of a tile, and its tokens.
const TILE: u32 = 768;
const TILE_TOKENS: u32 = 258;
/// Smaller pictures are one tile.
const ONE_TILE: u32 = 384;

impl SizeRule {
    /// The largest size within the limits that has the aspect ratio of the picture. Never larger
    /// than the picture.
    pub fn size(self, width: u32, height: u32) -> (u32, u32) {
        let (width, height) = (width.max(1), height.max(1));
        match self {
            Self::Vendor(Vendor::Anthropic) => CLAUDE.search(width, height),
            Self::Vendor(Vendor::AnthropicHigh) => CLAUDE_HIGH.search(width, height),
            Self::Vendor(Vendor::Openai) => GPT.shrink(width, height),
            Self::Vendor(Vendor::Gemini) => {
                let short = width.min(height);
                scaled(width, height, f64::from(short.min(TILE * 3 / 2)) / f64::from(short))
            }
            Self::Limits(limits) => limits.size(width, height),
        }
    }
}

impl Vendor {
    /// The tokens of a picture, by the vendor's published formula. A larger picture costs what it
    /// costs after the vendor has resized it.
    pub fn tokens(self, width: u32, height: u32) -> u32 {
        let (width, height) = SizeRule::Vendor(self).size(width, height);
        match self {
            Self::Anthropic => CLAUDE.count(width, height),
            Self::AnthropicHigh => CLAUDE_HIGH.count(width, height),
            Self::Openai => {
                let tenths = u64::from(GPT.count(width, height)) * GPT_TOKENS;
                u32::try_from(tenths.div_ceil(10)).unwrap_or(u32::MAX)
            }
            Self::Gemini if width.max(height) <= ONE_TILE => TILE_TOKENS,
            Self::Gemini => {
                // Two thirds of the short side, rounded down.
                let unit = (width.min(height) * 2 / 3).max(1);
                width.div_ceil(unit) * height.div_ceil(unit) * TILE_TOKENS
            }
        }
    }
}

impl PictureLimits {
    fn size(self, width: u32, height: u32) -> (u32, u32) {
        let (long, pixels) = (width.max(height), u64::from(width) * u64::from(height));
        let edge = self.max_edge.map_or(1.0, |edge| f64::from(edge) / f64::from(long));
        let area = self.max_pixels.map_or(1.0, |max| (f64::from(max) / pixels as f64).sqrt());
        let (mut width, mut height) = scaled(width, height, edge.min(area).min(1.0));
        // Rounding up a side can exceed the area by less than a row.
        let max_pixels = u64::from(self.max_pixels.unwrap_or(u32::MAX));
        while u64::from(width) * u64::from(height) > max_pixels {
            let long = if width >= height { &mut width } else { &mut height };
            *long -= 1;
        }
        (width, height)
    }
}

impl Patches {
    fn count(&self, width: u32, height: u32) -> u32 {
        width.div_ceil(self.side) * height.div_ceil(self.side)
    }

    fn fits(&self, width: u32, height: u32) -> bool {
        let whole = |length: u32| length.div_ceil(self.side) * self.side;
        whole(width).max(whole(height)) <= self.max_edge
            && self.count(width, height) <= self.max_patches
    }

    /// Anthropic's rule: the largest long side that fits, found by bisection.
    fn search(&self, width: u32, height: u32) -> (u32, u32) {
        if self.fits(width, height) {
            return (width, height);
        }
        if height > width {
            let (height, width) = self.search(height, width);
            return (width, height);
        }
        let ratio = f64::from(width) / f64::from(height);
        let short = |long: u32| ((f64::from(long) / ratio).round_ties_even() as u32).max(1);
        let (mut fitting, mut too_large) = (1, width);
        while fitting + 1 < too_large {
            let middle = fitting.midpoint(too_large);
            if self.fits(middle, short(middle)) {
                fitting = middle;
            } else {
                too_large = middle;
            }
        }
        (fitting, short(fitting))
    }

    /// OpenAI's rule: first the edge; then whole patches on the side that has the fewest pixels left
    /// over, if there are too many patches.
    fn shrink(&self, width: u32, height: u32) -> (u32, u32) {
        let long = width.max(height);
        let edge = f64::from(long.min(self.max_edge)) / f64::from(long);
        let (width, height) = scaled(width, height, edge);
        if self.count(width, height) <= self.max_patches {
            return (width, height);
        }
        let (wide, high) = (f64::from(width), f64::from(height));
        let side = f64::from(self.side);
        let factor = (side * side * f64::from(self.max_patches) / (wide * high)).sqrt();
        let whole = |length: f64| {
            let patches = length * factor / side;
            patches.floor().max(1.0) / patches
        };
        let factor = factor * whole(wide).min(whole(high));
        // A whole number may be a little less after the division.
        let pixels = |length: f64| ((length * factor + 1e-6).floor() as u32).max(1);
        (pixels(wide), pixels(high))
    }
}

fn scaled(width: u32, height: u32, scale: f64) -> (u32, u32) {
    let side = |length: u32| ((f64::from(length) * scale).round() as u32).max(1);
    (side(width), side(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(vendor: Vendor, width: u32, height: u32) -> (u32, u32) {
        SizeRule::Vendor(vendor).size(width, height)
    }

    /// The table of Anthropic's page about vision, and the scanned page in the one about coordinates.
    /// For 2000×1500, the table has 1269×952; the function on the second page returns 1270×952. Both
    /// are within the limits.
    #[test]
    fn sizes_and_tokens_of_anthropic_are_the_published_ones() {
        for (from, standard, tokens, high, high_tokens) in [
            ((200, 200), (200, 200), 64, (200, 200), 64),
            ((1000, 1000), (1000, 1000), 1296, (1000, 1000), 1296),
            ((1092, 1092), (1092, 1092), 1521, (1092, 1092), 1521),
            ((1920, 1080), (1456, 819), 1560, (1920, 1080), 2691),
            ((2000, 1500), (1270, 952), 1564, (2000, 1500), 3888),
            ((3840, 2160), (1456, 819), 1560, (2576, 1449), 4784),
            ((1075, 1520), (924, 1307), 33 * 47, (1075, 1520), 2145),
        ] {
            let (width, height) = from;
            assert_eq!(size(Vendor::Anthropic, width, height), standard, "{from:?}");
            assert_eq!(Vendor::Anthropic.tokens(width, height), tokens, "{from:?}");
            assert_eq!(size(Vendor::AnthropicHigh, width, height), high, "{from:?}");
            assert_eq!(Vendor::AnthropicHigh.tokens(width, height), high_tokens, "{from:?}");
        }
    }

    /// The examples of OpenAI's page about images: GPT-5.4 with high detail, and an older model.
    #[test]
    fn sizes_and_tokens_of_openai_are_the_published_ones() {
        assert_eq!(size(Vendor::Openai, 1024, 1024), (1024, 1024));
        assert_eq!(Vendor::Openai.tokens(1024, 1024), 1229);
        assert_eq!(size(Vendor::Openai, 2048, 2048), (1600, 1600));
        assert_eq!(Vendor::Openai.tokens(2048, 2048), 3000);
        let older = Patches { max_patches: 1536, ..GPT };
        // 1800×2400 becomes 1536×2048 by the edge, which does not change the result.
        assert_eq!(older.shrink(1800, 2400), (1056, 1408));
        assert_eq!(older.count(1056, 1408), 1452);
        // A usual screen is sent as it is.
        assert_eq!(size(Vendor::Openai, 1920, 1080), (1920, 1080));
        assert_eq!(size(Vendor::Openai, 3840, 2160), (2048, 1152));
    }

    /// The example of Google's page about image understanding.
    #[test]
    fn tokens_of_gemini_are_the_published_ones() {
        assert_eq!(Vendor::Gemini.tokens(384, 384), 258);
        assert_eq!(Vendor::Gemini.tokens(960, 540), 6 * 258);
        assert_eq!(Vendor::Gemini.tokens(1920, 1080), 6 * 258);
    }

    #[test]
    fn a_tile_of_gemini_is_not_scaled_down() {
        assert_eq!(size(Vendor::Gemini, 1920, 1080), (1920, 1080));
        assert_eq!(size(Vendor::Gemini, 3840, 2160), (2048, 1152));
        assert_eq!(size(Vendor::Gemini, 2160, 3840), (1152, 2048));
    }

    #[test]
    fn given_limits_hold_exactly() {
        let rule = |max_edge, max_pixels| SizeRule::Limits(PictureLimits { max_edge, max_pixels });
        assert_eq!(rule(Some(1568), None).size(1920, 1080), (1568, 882));
        assert_eq!(rule(Some(4000), None).size(1920, 1080), (1920, 1080));
        assert_eq!(rule(Some(1000), Some(250_000)).size(1000, 1000), (500, 500));
        for pixels in (256..2_000_000).step_by(7919) {
            let (width, height) = rule(None, Some(pixels)).size(1920, 1080);
            assert!(width * height <= pixels && (width + 2) * (height + 2) > pixels, "{pixels}");
        }
    }

    #[test]
    fn every_size_is_within_the_limits_and_is_kept_by_the_vendor() {
        let vendors = [Vendor::Anthropic, Vendor::AnthropicHigh, Vendor::Openai, Vendor::Gemini];
        for width in (1..8000).step_by(331) {
            for height in (1..5000).step_by(217) {
                for vendor in vendors {
                    let sent = size(vendor, width, height);
                    assert!(sent.0 <= width && sent.1 <= height, "{vendor:?} {width}x{height}");
                    assert_eq!(size(vendor, sent.0, sent.1), sent, "{vendor:?} {width}x{height}");
                }
            }
        }
    }

    #[test]
    fn a_rule_is_a_name_or_limits() {
        let parsed = |text: &str| serde_json::from_str::<SizeRule>(text).unwrap();
        assert_eq!(parsed(r#""anthropic_high""#), SizeRule::Vendor(Vendor::AnthropicHigh));
        let limits = PictureLimits { max_edge: Some(800), max_pixels: None };
        assert_eq!(parsed(r#"{"max_edge": 800}"#), SizeRule::Limits(limits));
    }
}
