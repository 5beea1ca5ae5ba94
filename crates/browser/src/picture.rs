//! Screenshots of a page.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_cdp::CdpError;
use helmdeck_wire::{
    browser::{PageScreenshot, Selector},
    screen::{Format, Picture},
    vendor_size::SizeRule,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    BrowserError,
    hit_test::Spot,
    locate::{Ask, Rect, Want},
    page_action::PageAction,
    world::Evaluated,
};

/// The longest page that the browser renders.
const MAX_LENGTH: f64 = 16_384.0;

#[derive(Deserialize)]
pub(crate) struct Captured {
    pub(crate) data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    css_content_size: Rect,
    css_visual_viewport: Viewport,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewport {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

impl PageAction {
    pub async fn screenshot(
        &mut self,
        shot: &PageScreenshot,
        number: u64,
    ) -> Result<Picture, BrowserError> {
        if !self.hands_off() {
            self.bring_to_front().await?;
        }
        let format = shot.format.unwrap_or_default();
        let part = match &shot.selector {
            Some(selector) => Some(self.clip(selector).await?),
            None if shot.full_page => Some(self.layout().await?.css_content_size),
            None => None,
        };
        let clip = match part {
            // The browser scales only parts.
            None if shot.size_rule.is_some() => {
                let view = self.layout().await?.css_visual_viewport;
                let (width, height) = (view.client_width, view.client_height);
                Some(Rect { x: view.page_x, y: view.page_y, width, height })
            }
            part => part,
        };
        let mut params = json!({
            "format": match format {
                Format::Png => "png",
                Format::Webp => "webp",
                Format::Jpeg => "jpeg",
            },
            "captureBeyondViewport": part.is_some(),
            "optimizeForSpeed": true,
        });
        let mut scale = 1.0;
        if let (Some(clip), Some(params)) = (clip, params.as_object_mut()) {
            let side = |length: f64| length.clamp(1.0, MAX_LENGTH);
            let (width, height) = (side(clip.width), side(clip.height));
            scale = shot.size_rule.map_or(1.0, |rule| fitting(rule, width, height));
            let clip = json!({
                "x": clip.x, "y": clip.y, "width": width, "height": height, "scale": scale,
            });
            // Without a clip, the browser takes half the time.
            if part.is_some() || scale < 1.0 {
                params.insert("clip".into(), clip);
            }
        }
        if format == Format::Webp
            && let Some(params) = params.as_object_mut()
        {
            params.insert("quality".into(), 100.into());
        }
        let session = self.page.session();
        let method = "Page.captureScreenshot";
        let captured: Captured = self.page.call(session, method, params, self.deadline).await?;
        let bytes = BASE64_STANDARD.decode(captured.data).map_err(|error| {
            CdpError::Nonsense(<serde_json::Error as serde::de::Error>::custom(error))
        })?;
        let (width, height) = size(&bytes).unwrap_or_default();
        let corner = part.map_or((0.0, 0.0), |part| (part.x, part.y));
        Ok(Picture {
            format,
            id: format!("page-{number}"),
            width,
            height,
            // Coordinates are not negative, and small.
            origin: (corner.0.max(0.0) as u32, corner.1.max(0.0) as u32),
            scale,
            bytes: bytes.into(),
        })
    }

    /// Where an element is on the page.
    async fn clip(&self, selector: &Selector) -> Result<Rect, BrowserError> {
        let ask = Ask { selector, want: Want::Visible, doing: "show", arguments: Value::Null };
        let found = self.find(&ask).await?;
        let rect = found.answer.r#box;
        let at = self.place(&found, Spot { x: rect.x, y: rect.y }).await?;
        let end = Spot { x: rect.x + rect.width, y: rect.y + rect.height };
        let end = self.place(&found, end).await?;
        let view = self.layout().await?.css_visual_viewport;
        let (x, y) = (at.x.min(end.x) + view.page_x, at.y.min(end.y) + view.page_y);
        Ok(Rect { x, y, width: (end.x - at.x).abs(), height: (end.y - at.y).abs() })
    }

    async fn layout(&self) -> Result<Layout, BrowserError> {
        let session = self.page.session();
        self.page.call(session, "Page.getLayoutMetrics", json!({}), self.deadline).await
    }

    /// A hidden tab is not rendered.
    async fn bring_to_front(&self) -> Result<(), BrowserError> {
        let session = self.page.session();
        let params = json!({ "expression": "document.hidden", "returnByValue": true });
        let hidden =
            self.page.call::<Evaluated>(session, "Runtime.evaluate", params, self.deadline).await?;
        if hidden.result.value == Value::Bool(true) {
            self.ask("Page.bringToFront", json!({})).await?;
        }
        Ok(())
    }
}

/// The scale at which a picture of this size is within the limits of the rule. The browser rounds
/// sizes to the nearest pixel.
fn fitting(rule: SizeRule, width: f64, height: f64) -> f64 {
    // Lengths are at most `MAX_LENGTH`.
    let (whole_width, whole_height) = (width as u32, height as u32);
    let (to_width, to_height) = rule.size(whole_width, whole_height);
    if (to_width, to_height) == (whole_width, whole_height) {
        return 1.0;
    }
    // The longer side decides: its scale is the more exact one. Half pixels are rounded down.
    let scale = if width >= height {
        f64::from(to_width) / f64::from(whole_width.max(1))
    } else {
        f64::from(to_height) / f64::from(whole_height.max(1))
    };
    scale * (1.0 - 1e-9)
}

/// The width and height in the header of an encoded picture.
fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let at = |index: usize| bytes.get(index).copied().map(u32::from);
    let big = |index: usize| Some(at(index)? << 8 | at(index + 1)?);
    let little = |index: usize| Some(at(index + 1)? << 8 | at(index)?);
    if bytes.starts_with(b"\x89PNG") {
        let long = |index: usize| Some(big(index)? << 16 | big(index + 2)?);
        return Some((long(16)?, long(20)?));
    }
    if bytes.starts_with(b"RIFF") {
        return match bytes.get(12..16)? {
            b"VP8X" => {
                let less_one = |index: usize| Some(at(index + 2)? << 16 | little(index)?);
                Some((less_one(24)? + 1, less_one(27)? + 1))
            }
            b"VP8L" => {
                let bits = little(23)? << 16 | little(21)?;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => Some((little(26)? & 0x3fff, little(28)? & 0x3fff)),
        };
    }
    // JPEG: read segments until one contains the size.
    let mut index = 2;
    while at(index)? == 0xff {
        let marker = at(index + 1)?;
        let says = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if says {
            return Some((big(index + 7)?, big(index + 5)?));
        }
        index += 2 + usize::try_from(big(index + 2)?).ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use helmdeck_wire::vendor_size::Vendor;

    use super::*;

    #[test]
    fn the_scale_gives_the_size_of_the_rule() {
        for vendor in [Vendor::Anthropic, Vendor::Openai, Vendor::Gemini] {
            for (width, height) in [(1280, 713), (1920, 1080), (1280, 9000), (2560, 1440), (30, 40)]
            {
                let rule = SizeRule::Vendor(vendor);
                let scale = fitting(rule, width.into(), height.into());
                let rounded = |length: u32| (f64::from(length) * scale).round() as u32;
                let (to_width, to_height) = rule.size(width, height);
                let (got_width, got_height) = (rounded(width), rounded(height));
                let near = |got: u32, to: u32| got == to || got + 1 == to;
                assert!(
                    near(got_width, to_width) && near(got_height, to_height),
                    "{width}x{height}"
                );
            }
        }
        assert_eq!(fitting(SizeRule::Vendor(Vendor::Openai), 1280.0, 713.0), 1.0);
    }

    #[test]
    fn the_size_is_read_from_the_header_of_a_picture() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x02\0\0\0\x03";
        assert_eq!(size(png), Some((258, 3)));
        let lossless = b"RIFF....WEBPVP8L....\x2f\x01\x80\0\0";
        assert_eq!(size(lossless), Some((2, 3)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xc0\0\x11\x08\0\x03\x01\x02";
        assert_eq!(size(jpeg), Some((258, 3)));
        assert_eq!(size(b""), None);
    }
}
