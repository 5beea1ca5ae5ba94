//! Screenshots, and the size of the screen.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{action::action, body::BytesReply, point::Rect, pointer::Px, vendor_size::SizeRule};

/// Encoding of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-aliases" = ["jpg"]))]
pub enum Format {
    /// Lossless; supported everywhere.
    #[default]
    Png,
    /// Lossless, about half the size of PNG.
    Webp,
    /// Lossy and small.
    #[serde(alias = "jpg")]
    Jpeg,
}

impl Format {
    /// Name in requests.
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

/// An encoded picture. It is sent as the body of a reply, with its metadata in headers.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Encoding of `bytes`.
    pub format: Format,
    /// Id of the picture, unique in its session.
    pub id: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Screen coordinates of the picture's top left corner.
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

/// Headers with a picture's metadata, on the API and on the link.
pub mod header {
    /// The picture's id.
    pub const ID: &str = "x-helmdeck-screenshot-id";
    /// `WIDTHxHEIGHT` of the picture.
    pub const SIZE: &str = "x-helmdeck-size";
    /// `X,Y`: screen coordinates of the picture's top left corner.
    pub const ORIGIN: &str = "x-helmdeck-origin";
    /// Picture pixels per screen pixel.
    pub const SCALE: &str = "x-helmdeck-scale";
    /// What the marks of a picture are on, in the order of their numbers: a JSON array of objects
    /// with `ref`, `role` and `name`.
    pub const MARKS: &str = "x-helmdeck-marks";
    /// With `settle`, whether the screen became quiet in time: `true` or `false`.
    pub const SETTLED: &str = "x-helmdeck-settled";
    /// All headers.
    pub const ALL: [&str; 6] = [ID, SIZE, ORIGIN, SCALE, MARKS, SETTLED];
}

/// Take a picture of the whole desktop.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screenshot {
    /// png, webp or jpeg. Defaults to the preference in `Accept`, then to png.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
    /// Scale down to this width, keeping the aspect ratio. The scale is in a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 7680))]
    pub max_width: Option<u32>,
    /// Scale down to the size that models of this vendor see as it is, or to given limits. The scale
    /// is in a header.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub size_rule: Option<SizeRule>,
    /// Draw the pointer into the picture.
    #[serde(default)]
    pub cursor: bool,
    /// Draw a number on every element that can be used, at most 100. The header `x-helmdeck-marks`
    /// says what each one is.
    #[serde(default)]
    pub marks: bool,
    /// Regions to paint over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub hide: Vec<Rect>,
}
action!(Screenshot, "screenshot", Picture, drives |_: &Self| false);

/// Take a picture of a region, scaled to fit into a square with its aspect ratio kept.
///
/// Origin and scale are in headers. Clicks still use coordinates of the whole screen.
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
    /// png, webp or jpeg. Defaults to the preference in `Accept`, then to png.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: Option<Format>,
    /// Side of the square; defaults to 1024.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 1024))]
    pub fit: Option<u32>,
}
action!(Zoom, "zoom", Picture, drives |_: &Self| false);

impl Zoom {
    /// Side of the square that the picture fits into if none is given, and the longest one, in pixels.
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

/// The new size of the screen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Resized {
    /// Always true.
    pub ok: bool,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}
