//! Pictures: pixels, scaling and encoding. Pure.

mod jpeg;
mod png;
mod resize;
pub(crate) mod stripes;

use std::{borrow::Cow, ops::Range};

use helmdeck_wire::screen::Format;

use crate::{error::DisplayError, segment::Region};
use stripes::{Stripes, in_parallel, threads};

/// The default JPEG quality: text stays readable and files small.
const JPEG_QUALITY: u8 = 80;
/// Of a usual screen.
const PIXELS_OF_A_STRIPE: usize = 1920 * stripes::ROWS as usize;
/// Smaller widths are not useful.
const MIN_WIDTH: u32 = 16;

/// Pixels in rows from the top left, three bytes each: red, green, blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgb: Vec<u8>,
}

/// How pixels are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Png,
    Webp,
    /// With a quality from 1 to 100.
    Jpeg(u8),
}

impl From<Format> for Coding {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => Self::Png,
            Format::Webp => Self::Webp,
            Format::Jpeg => Self::Jpeg(JPEG_QUALITY),
        }
    }
}

/// The image and position of the pointer.
pub(crate) struct Cursor {
    /// Its top left corner on the screen.
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u16,
    /// Rows of alpha, red, green and blue, with premultiplied alpha.
    pub(crate) argb: Vec<u32>,
}

impl Pixels {
    /// Converts the X server's format: blue, green, red and one unused byte.
    pub(crate) fn from_bgrx(width: u16, height: u16, bgrx: &[u8]) -> Self {
        let mut rgb = vec![0; bgrx.len() / 4 * 3];
        convert(bgrx, &mut rgb);
        Self { width: width.into(), height: height.into(), rgb }
    }

    /// Replaces whole rows by others in the X server's format.
    pub(crate) fn replace_rows(&mut self, first: u32, bgrx: &[u8]) {
        let from = first as usize * self.row_length();
        if let Some(rows) = self.rgb.get_mut(from..from + bgrx.len() / 4 * 3) {
            convert(bgrx, rows);
        }
    }

    /// The length of a row in bytes.
    fn row_length(&self) -> usize {
        self.width as usize * 3
    }

    /// The bytes of these rows.
    fn rows(&self, rows: Range<u32>) -> &[u8] {
        let at = |row: u32| row as usize * self.row_length();
        self.rgb.get(at(rows.start)..at(rows.end)).unwrap_or_default()
    }

    /// Draws the pointer over the pixels.
    pub(crate) fn draw(&mut self, cursor: &Cursor) {
        for (row, line) in cursor.argb.chunks(usize::from(cursor.width).max(1)).enumerate() {
            for (column, argb) in line.iter().enumerate() {
                let (column, row) = (column as i32, row as i32);
                if let Some(under) = self.pixel_mut(cursor.x + column, cursor.y + row) {
                    let [alpha, over @ ..] = argb.to_be_bytes();
                    for (under, over) in under.iter_mut().zip(over) {
                        let rest = u16::from(*under) * u16::from(255 - alpha) / 255;
                        *under = over.saturating_add(rest as u8);
                    }
                }
            }
        }
    }

    pub(crate) fn pixel_mut(&mut self, x: i32, y: i32) -> Option<&mut [u8]> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let width = self.width as usize;
        let at = (x < width).then_some((y * width + x) * 3)?;
        self.rgb.get_mut(at..at + 3)
    }

    /// A part of the picture, within its bounds.
    pub(crate) fn cropped(&self, region: Region) -> Cow<'_, Self> {
        let (width, height) = (u32::from(region.width), u32::from(region.height));
        if (width, height) == (self.width, self.height) {
            return Cow::Borrowed(self);
        }
        let bytes = |pixels: u16| usize::from(pixels) * 3;
        let mut rgb = Vec::with_capacity(bytes(region.width) * usize::from(region.height));
        let rows = self.rgb.chunks_exact(self.row_length().max(1));
        for row in rows.skip(region.y.into()).take(region.height.into()) {
            let part = row.get(bytes(region.x)..bytes(region.x) + bytes(region.width));
            rgb.extend_from_slice(part.unwrap_or_default());
        }
        Cow::Owned(Self { width, height, rgb })
    }

    /// Encodes the picture. `stripes` are those of the picture, and keep what is made.
    pub(crate) fn encoded(
        &self,
        coding: Coding,
        stripes: &Stripes,
    ) -> Result<Vec<u8>, DisplayError> {
        let encoded = match coding {
            Coding::Png => png::encode(self, stripes),
            Coding::Webp => self.webp(),
            Coding::Jpeg(quality) => jpeg::encode(self, stripes, quality),
        };
        encoded.map_err(DisplayError::Encode)
    }

    fn webp(&self) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut bytes = Vec::with_capacity(self.rgb.len() / 8);
        let encoder = image_webp::WebPEncoder::new(&mut bytes);
        encoder.encode(&self.rgb, self.width, self.height, image_webp::ColorType::Rgb8)?;
        Ok(bytes)
    }
}

/// Converts the X server's pixels, large pictures by several threads.
fn convert(bgrx: &[u8], rgb: &mut [u8]) {
    let pixels = bgrx.len() / 4;
    let threads = threads(pixels / PIXELS_OF_A_STRIPE);
    let band = pixels.div_ceil(threads).max(1);
    let bands = bgrx.chunks(band * 4).zip(rgb.chunks_mut(band * 3)).collect();
    in_parallel(threads, bands, |(bgrx, rgb): (&[u8], &mut [u8])| {
        let (from, _) = bgrx.as_chunks::<4>();
        let (to, _) = rgb.as_chunks_mut::<3>();
        for ([red, green, blue], [b, g, r, _]) in to.iter_mut().zip(from) {
            (*red, *green, *blue) = (*r, *g, *b);
        }
    });
}

/// The size at most `max_width` wide with the same aspect ratio, and screen pixels per pixel.
/// Never larger than the original.
pub(crate) fn narrow(width: u32, height: u32, max_width: u32) -> (u32, u32, f64) {
    let to = max_width.max(MIN_WIDTH).min(width);
    let scale = f64::from(to) / f64::from(width.max(1));
    (to, ((f64::from(height) * scale).round() as u32).max(1), scale)
}

/// The largest size inside `fit` x `fit` with the same aspect ratio, and screen pixels per pixel.
pub(crate) fn fit(width: u32, height: u32, fit: u32) -> (u32, u32, f64) {
    let scale = f64::from(fit) / f64::from(width.max(height).max(1));
    let side = |length: u32| ((f64::from(length) * scale).round() as u32).clamp(1, fit);
    (side(width), side(height), scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_fits_the_square_and_keeps_its_aspect_ratio() {
        assert_eq!(fit(800, 600, 1024), (1024, 768, 1.28));
        assert_eq!(fit(1, 512, 1024), (2, 1024, 2.0));
        assert_eq!(fit(4000, 1, 1024), (1024, 1, 0.256));
    }

    #[test]
    fn a_part_is_cut_out() {
        let pixels = Pixels { width: 3, height: 2, rgb: (0..18).collect() };
        let part = pixels.cropped(Region { x: 1, y: 1, width: 2, height: 1 });
        assert_eq!((part.width, part.height, &part.rgb[..]), (2, 1, &[12, 13, 14, 15, 16, 17][..]));
    }

    #[test]
    fn the_pointer_is_blended_and_cut_at_the_edges() {
        let mut pixels = Pixels { width: 2, height: 1, rgb: vec![100; 6] };
        let argb = vec![0xff01_0203, 0x8010_1010, 0, 0xffff_ffff];
        pixels.draw(&Cursor { x: 1, y: 0, width: 2, argb: argb.clone() });
        assert_eq!(pixels.rgb, [100, 100, 100, 1, 2, 3]);
        pixels.draw(&Cursor { x: -1, y: 0, width: 2, argb });
        assert_eq!(pixels.rgb, [65, 65, 65, 1, 2, 3]);
    }

    #[test]
    fn server_pixels_are_bgrx() {
        let pixels = Pixels::from_bgrx(1, 1, &[3, 2, 1, 0]);
        assert_eq!(pixels.rgb, [1, 2, 3]);
    }
}
