//! Pictures of the screen, and its size.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{action::action, body::BytesReply, pointer::Px};

/// How a picture is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-aliases" = ["jpg"]))]
pub enum Format {
    /// Lossless, understood everywhere.
    #[default]
    Png,
    /// Lossless and about half the size of PNG.
    Webp,
    /// Lossy and small.
    #[serde(alias = "jpg")]
    Jpeg,
}

impl Format {
    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Webp => "webp",
            Self::Jpeg => "jpeg",
        }
    }

    /// The picture's media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Webp => "image/webp",
            Self::Jpeg => "image/jpeg",
        }
    }
}

/// An encoded picture. It travels as the body of a reply, its facts as headers.
#[derive(Debug, Clone)]
pub struct Picture {
    /// How `bytes` are encoded.
    pub format: Format,
    /// Names this picture among all of its session.
    pub id: String,
    /// Size of the picture in pixels.
    pub width: u32,
    /// Size of the picture in pixels.
    pub height: u32,
    /// The screen's pixel that the picture's top left corner shows.
    pub origin: (u32, u32),
    /// Picture pixels per screen pixel.
    pub scale: f64,
    /// The encoded picture.
    pub bytes: Bytes,
}

impl BytesReply for Picture {
    const DOC: &'static str = "A picture.";
    const MEDIA_TYPES: &'static [&'static str] = &["image/png", "image/webp", "image/jpeg"];
    const HEADERS: &'static [&'static str] = &header::ALL;

    fn media_type(&self) -> &'static str {
        self.format.media_type()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            (header::ID, self.id.clone()),
            (header::SIZE, format!("{}x{}", self.width, self.height)),
            (header::ORIGIN, format!("{},{}", self.origin.0, self.origin.1)),
            (header::SCALE, self.scale.to_string()),
        ]
    }

    fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

/// Headers that carry a picture's facts, on the API and on the link.
pub mod header {
    /// The picture's id.
    pub const ID: &str = "x-helmdeck-screenshot-id";
    /// `WIDTHxHEIGHT` of the picture.
    pub const SIZE: &str = "x-helmdeck-size";
    /// `X,Y`: the screen's pixel in the picture's top left corner.
    pub const ORIGIN: &str = "x-helmdeck-origin";
    /// Picture pixels per screen pixel.
    pub const SCALE: &str = "x-helmdeck-scale";
    /// All of them.
    pub const ALL: [&str; 4] = [ID, SIZE, ORIGIN, SCALE];
}

/// Take a picture of the whole desktop.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screenshot {
    /// png, webp or jpeg; else what `Accept` prefers; else png.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
    /// Scale down to this width, keeping the aspect; the scale is in a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 7680))]
    pub max_width: Option<u32>,
    /// Draw the pointer into the picture.
    #[serde(default)]
    pub cursor: bool,
}
action!(Screenshot, "screenshot", Picture, drives |_: &Self| false);

/// Take a picture of a region, scaled to fit inside 1024×1024 with its aspect kept.
///
/// Origin and scale are in headers. Later clicks still use coordinates of the whole screen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zoom {
    /// One corner.
    #[schemars(extend("x-error" = "invalid_region"))]
    pub x1: Px,
    /// One corner.
    #[schemars(extend("x-error" = "invalid_region"))]
    pub y1: Px,
    /// The opposite corner.
    #[schemars(extend("x-error" = "invalid_region"))]
    pub x2: Px,
    /// The opposite corner.
    #[schemars(extend("x-error" = "invalid_region"))]
    pub y2: Px,
    /// png, webp or jpeg; else what `Accept` prefers; else png.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
}
action!(Zoom, "zoom", Picture, drives |_: &Self| false);

impl Zoom {
    /// The picture fits inside a square of this many pixels.
    pub const FIT: u32 = 1024;
}

/// Change the size of the screen while the session runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// New width, 320 to 7680.
    #[schemars(range(min = 320, max = 7680))]
    #[schemars(extend("x-error" = "invalid_geometry"))]
    pub width: u32,
    /// New height, 200 to 4320.
    #[schemars(range(min = 200, max = 4320))]
    #[schemars(extend("x-error" = "invalid_geometry"))]
    pub height: u32,
}
action!(Resize, "resize", Resized);

/// The screen's size now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Resized {
    /// Always true.
    pub ok: bool,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}
