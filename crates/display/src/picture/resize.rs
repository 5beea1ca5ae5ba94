//! Scaling of a part of a picture, in bands by several threads.

use std::borrow::Cow;

use fast_image_resize::{
    FilterType, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedCroppedImage, TypedImage, TypedImageRef},
    pixels::U8x3,
};

use super::{
    Pixels,
    stripes::{ROWS, in_parallel, threads},
};
use crate::{error::DisplayError, segment::Region};

impl Pixels {
    /// A part of the picture in another size.
    pub(crate) fn scaled(
        &self,
        region: Region,
        width: u32,
        height: u32,
    ) -> Result<Cow<'_, Self>, DisplayError> {
        let (from_width, from_height) = (u32::from(region.width), u32::from(region.height));
        if (width, height) == (from_width, from_height) {
            return Ok(self.cropped(region));
        }
        // One pixel type: the generic code takes a minute to compile.
        let from = TypedImageRef::<U8x3>::from_buffer(self.width, self.height, &self.rgb);
        let from = from.map_err(|error| DisplayError::Encode(error.into()))?;
        let (left, top) = (region.x.into(), region.y.into());
        let from = TypedCroppedImage::from_ref(&from, left, top, from_width, from_height);
        let from = from.map_err(|error| DisplayError::Encode(error.into()))?;
        let mut rgb = vec![0; width as usize * height as usize * 3];
        let threads = threads(height.div_ceil(ROWS) as usize);
        let band = (height as usize).div_ceil(threads).max(1);
        let bands = rgb.chunks_mut(band * width as usize * 3).enumerate().collect();
        // Small text stays sharper with the first; the second takes half the time.
        let filter =
            if width * 2 >= from_width { FilterType::Lanczos3 } else { FilterType::Hamming };
        let done = in_parallel(threads, bands, |(nth, rgb): (usize, &mut [u8])| {
            let rows = rgb.len() / (width as usize * 3).max(1);
            let mut to = TypedImage::<U8x3>::from_buffer(width, rows as u32, rgb)
                .map_err(|error| DisplayError::Encode(error.into()))?;
            let scale = f64::from(from_height) / f64::from(height.max(1));
            let options = ResizeOptions::new()
                .resize_alg(ResizeAlg::Convolution(filter))
                // Rows beyond the band are used at its edges, so that none of them shows.
                .crop(0.0, (nth * band) as f64 * scale, from_width.into(), rows as f64 * scale);
            let resized = Resizer::new().resize_typed(&from, &mut to, &options);
            resized.map_err(|error| DisplayError::Encode(error.into()))
        });
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(Cow::Owned(Self { width, height, rgb }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Pixels {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let rgb = pixels.flat_map(|(x, y)| [(x * 7) as u8, (y * 5) as u8, (x ^ y) as u8]).collect();
        Pixels { width, height, rgb }
    }

    #[test]
    fn bands_show_no_edges() {
        let pixels = picture(400, 300);
        let region = Region { x: 20, y: 10, width: 360, height: 270 };
        for (width, height) in [(480, 360), (200, 150), (1024, 768), (48, 36)] {
            let scaled = pixels.scaled(region, width, height).unwrap();
            let part = pixels.cropped(region);
            let from = TypedImageRef::<U8x3>::from_buffer(360, 270, &part.rgb).unwrap();
            let mut rgb = vec![0; scaled.rgb.len()];
            let mut to = TypedImage::<U8x3>::from_buffer(width, height, &mut rgb).unwrap();
            let filter = if width < 180 { FilterType::Hamming } else { FilterType::Lanczos3 };
            let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
            Resizer::new().resize_typed(&from, &mut to, &options).unwrap();
            let differences = scaled.rgb.iter().zip(&rgb).map(|(a, b)| a.abs_diff(*b));
            // Positions between pixels are rounded.
            assert!(differences.max() <= Some(1), "{width}x{height}");
        }
    }
}
