//! Pictures: pixels, scaling and encoding. Pure.

use std::borrow::Cow;

use fast_image_resize::{
    FilterType, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x3,
};
use helmdeck_wire::screen::Format;

use crate::{error::DisplayError, segment::Region};

/// Of a JPEG: text stays readable and files small.
const JPEG_QUALITY: u8 = 80;
/// Narrower pictures show nothing.
const MIN_WIDTH: u32 = 16;

/// Pixels in rows from the top left, three bytes each: red, green, blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgb: Vec<u8>,
}

/// How pixels become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Png,
    Webp,
    /// Of a quality from 1 to 100.
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

/// The pointer as it looks and where it is.
pub(crate) struct Cursor {
    /// Its top left corner on the screen.
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u16,
    /// Rows of alpha, red, green and blue, the colours multiplied by alpha.
    pub(crate) argb: Vec<u32>,
}

impl Pixels {
    /// From what the X server delivers: blue, green, red and one unused byte.
    pub(crate) fn from_bgrx(width: u16, height: u16, bgrx: &[u8]) -> Self {
        let mut rgb = vec![0; bgrx.len() / 4 * 3];
        let (from, _) = bgrx.as_chunks::<4>();
        let (to, _) = rgb.as_chunks_mut::<3>();
        for ([red, green, blue], [b, g, r, _]) in to.iter_mut().zip(from) {
            (*red, *green, *blue) = (*r, *g, *b);
        }
        Self { width: width.into(), height: height.into(), rgb }
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

    fn pixel_mut(&mut self, x: i32, y: i32) -> Option<&mut [u8]> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let width = self.width as usize;
        let at = (x < width).then_some((y * width + x) * 3)?;
        self.rgb.get_mut(at..at + 3)
    }

    /// The same picture in another size.
    pub(crate) fn scaled(&self, width: u32, height: u32) -> Result<Cow<'_, Self>, DisplayError> {
        if (width, height) == (self.width, self.height) {
            return Ok(Cow::Borrowed(self));
        }
        // For one type of pixel: the code for any of them takes a minute to compile.
        let from = TypedImageRef::<U8x3>::from_buffer(self.width, self.height, &self.rgb);
        let from = from.map_err(|error| DisplayError::Encode(error.into()))?;
        let mut rgb = vec![0; width as usize * height as usize * 3];
        let to = TypedImage::<U8x3>::from_buffer(width, height, &mut rgb);
        let mut to = to.map_err(|error| DisplayError::Encode(error.into()))?;
        let filter = ResizeAlg::Convolution(FilterType::Lanczos3);
        Resizer::new()
            .resize_typed(&from, &mut to, &ResizeOptions::new().resize_alg(filter))
            .map_err(|error| DisplayError::Encode(error.into()))?;
        Ok(Cow::Owned(Self { width, height, rgb }))
    }

    /// A part of the picture; what lies outside is not there.
    pub(crate) fn cropped(&self, region: Region) -> Cow<'_, Self> {
        let (width, height) = (u32::from(region.width), u32::from(region.height));
        if (width, height) == (self.width, self.height) {
            return Cow::Borrowed(self);
        }
        let bytes = |pixels: u16| usize::from(pixels) * 3;
        let rows = self.rgb.chunks_exact(self.width.max(1) as usize * 3);
        let rows = rows.skip(region.y.into()).take(region.height.into());
        let parts = rows.map(|row| row.get(bytes(region.x)..bytes(region.x) + bytes(region.width)));
        let rgb = parts.flatten().flatten().copied().collect();
        Cow::Owned(Self { width, height, rgb })
    }

    pub(crate) fn encoded(&self, coding: Coding) -> Result<Vec<u8>, DisplayError> {
        let encoded = match coding {
            Coding::Png => self.png(),
            Coding::Webp => self.webp(),
            Coding::Jpeg(quality) => self.jpeg(quality),
        };
        encoded.map_err(DisplayError::Encode)
    }

    fn png(&self) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut bytes = Vec::with_capacity(self.rgb.len() / 4);
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(bytes)
    }

    fn webp(&self) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut bytes = Vec::with_capacity(self.rgb.len() / 8);
        let encoder = image_webp::WebPEncoder::new(&mut bytes);
        encoder.encode(&self.rgb, self.width, self.height, image_webp::ColorType::Rgb8)?;
        Ok(bytes)
    }

    fn jpeg(&self, quality: u8) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut bytes = Vec::with_capacity(self.rgb.len() / 8);
        let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
        let (width, height) = (u16::try_from(self.width)?, u16::try_from(self.height)?);
        encoder.encode(&self.rgb, width, height, jpeg_encoder::ColorType::Rgb)?;
        Ok(bytes)
    }
}

/// The size at most `max_width` wide with the aspect kept, and picture pixels per pixel. Never larger.
pub(crate) fn narrow(width: u32, height: u32, max_width: u32) -> (u32, u32, f64) {
    let to = max_width.max(MIN_WIDTH).min(width);
    let scale = f64::from(to) / f64::from(width.max(1));
    (to, ((f64::from(height) * scale).round() as u32).max(1), scale)
}

/// The largest size inside `fit` x `fit` with the aspect kept, and picture pixels per pixel.
pub(crate) fn fit(width: u32, height: u32, fit: u32) -> (u32, u32, f64) {
    let scale = f64::from(fit) / f64::from(width.max(height).max(1));
    let side = |length: u32| ((f64::from(length) * scale).round() as u32).clamp(1, fit);
    (side(width), side(height), scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_fits_the_square_in_its_own_shape() {
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
    fn blue_comes_first_from_the_server() {
        let pixels = Pixels::from_bgrx(1, 1, &[3, 2, 1, 0]);
        assert_eq!(pixels.rgb, [1, 2, 3]);
    }
}
