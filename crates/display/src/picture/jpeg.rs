//! JPEG: each stripe is encoded as a separate picture, and a restart marker joins it to the next.
//! Decoders begin anew at such a marker, as the encoder did.

use std::{collections::HashMap, error::Error};

use jpeg_encoder::{ColorType, Encoder};

use super::{
    Pixels,
    stripes::{ROWS, Stripes, in_parallel, rows, threads},
};

/// Markers, each after a byte 0xff.
const START: u8 = 0xd8;
const FRAME: u8 = 0xc0;
const RESTART_INTERVAL: u8 = 0xdd;
const SCAN: u8 = 0xda;
const RESTART: u8 = 0xd0;
const END: u8 = 0xd9;

/// A stripe: everything before its pixels, and its pixels.
#[derive(Debug)]
pub(super) struct JpegPart {
    quality: u8,
    file: Vec<u8>,
    layout: Layout,
}

/// Where things are in a file.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// The height of the picture: two bytes.
    height: usize,
    /// The first segment of the scan.
    scan: usize,
    /// The pixels.
    pixels: usize,
    /// The blocks that are encoded together, in pixels.
    block: (u32, u32),
}

/// The picture as a JPEG file with a quality from 1 to 100.
pub(super) fn encode(
    pixels: &Pixels,
    stripes: &Stripes,
    quality: u8,
) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let height = u16::try_from(pixels.height)?;
    let width = u16::try_from(pixels.width)?;
    let missing =
        stripes.missing(|stripe| stripe.jpeg.get().is_some_and(|part| part.quality == quality));
    let made = in_parallel(threads(missing.len()), missing, |nth| {
        let part = part(pixels.rows(rows(nth, pixels.height)), width, quality)?;
        let kept = stripes.0.get(nth).map(|stripe| stripe.jpeg.set(part));
        // One with another quality is kept.
        Ok(kept.and_then(Result::err).map(|part| (nth, part)))
    });
    let made: Result<Vec<_>, Box<dyn Error + Send + Sync>> = made.into_iter().collect();
    let others: HashMap<usize, JpegPart> = made?.into_iter().flatten().collect();
    let mut file = Vec::new();
    let last = stripes.0.len().saturating_sub(1);
    for (nth, stripe) in stripes.0.iter().enumerate() {
        let Some(part) = others.get(&nth).or_else(|| stripe.jpeg.get()) else { continue };
        let layout = part.layout;
        if nth == 0 {
            file.reserve(part.file.len() * stripes.0.len());
            file.extend(part.file.get(..layout.scan).unwrap_or_default());
            if let Some(field) = file.get_mut(layout.height..layout.height + 2) {
                field.copy_from_slice(&height.to_be_bytes());
            }
            let (block_width, block_height) = layout.block;
            let blocks = pixels.width.div_ceil(block_width) * (ROWS / block_height);
            file.extend([0xff, RESTART_INTERVAL, 0, 4]);
            file.extend(u16::try_from(blocks)?.to_be_bytes());
            file.extend(part.file.get(layout.scan..layout.pixels).unwrap_or_default());
        }
        let end = part.file.len().saturating_sub(2);
        file.extend(part.file.get(layout.pixels..end).unwrap_or_default());
        let marker = if nth == last { END } else { RESTART + (nth % 8) as u8 };
        file.extend([0xff, marker]);
    }
    Ok(file)
}

fn part(rgb: &[u8], width: u16, quality: u8) -> Result<JpegPart, Box<dyn Error + Send + Sync>> {
    let height = rgb.len() / (usize::from(width).max(1) * 3);
    let mut file = Vec::with_capacity(rgb.len() / 8);
    let encoder = Encoder::new(&mut file, quality);
    encoder.encode(rgb, width, u16::try_from(height)?, ColorType::Rgb)?;
    let layout = layout(&file).ok_or("a stripe has no scan")?;
    Ok(JpegPart { quality, file, layout })
}

/// Reads the segments before the pixels.
fn layout(file: &[u8]) -> Option<Layout> {
    let byte = |at: usize| file.get(at).copied();
    let (mut at, mut height, mut block) = (2, None, None);
    if byte(1)? != START {
        return None;
    }
    while byte(at)? == 0xff {
        let length = usize::from(u16::from_be_bytes([byte(at + 2)?, byte(at + 3)?]));
        match byte(at + 1)? {
            FRAME => {
                height = Some(at + 5);
                // Of the first component, which has all pixels.
                let sampling = u32::from(byte(at + 11)?);
                block = Some(((sampling >> 4) * 8, (sampling & 15) * 8));
            }
            SCAN => {
                let block = block.filter(|(wide, high)| *wide > 0 && *high > 0)?;
                return Some(Layout { height: height?, scan: at, pixels: at + 2 + length, block });
            }
            _ => {}
        }
        at += 2 + length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(file: &[u8]) -> (u16, u16, Vec<u8>) {
        let mut decoder = jpeg_decoder::Decoder::new(file);
        let rgb = decoder.decode().unwrap();
        let info = decoder.info().unwrap();
        (info.width, info.height, rgb)
    }

    fn picture(width: u32, height: u32) -> Pixels {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let rgb = pixels.flat_map(|(x, y)| [(x / 2) as u8, (y / 3) as u8, ((x + y) / 4) as u8]);
        Pixels { width, height, rgb: rgb.collect() }
    }

    #[test]
    fn the_parts_of_a_file_decode_to_the_picture() {
        for (width, height) in [(1, 1), (200, 63), (333, 64), (640, 65), (37, 1000), (1920, 1080)] {
            for quality in [80, 95] {
                let pixels = picture(width, height);
                let file = encode(&pixels, &Stripes::new(height), quality).unwrap();
                let (wide, high, rgb) = decoded(&file);
                assert_eq!((u32::from(wide), u32::from(high)), (width, height));
                let mut whole = Vec::new();
                Encoder::new(&mut whole, quality)
                    .encode(&pixels.rgb, wide, high, ColorType::Rgb)
                    .unwrap();
                assert_eq!(rgb, decoded(&whole).2, "{width}x{height} {quality}");
            }
        }
    }

    #[test]
    fn a_stripe_is_kept_with_one_quality_and_used_for_no_other() {
        let pixels = picture(100, 130);
        let stripes = Stripes::new(130);
        let first = encode(&pixels, &stripes, 80).unwrap();
        assert!(stripes.0.iter().all(|stripe| stripe.jpeg.get().is_some()));
        let other = encode(&pixels, &stripes, 30).unwrap();
        assert_eq!(other, encode(&pixels, &Stripes::new(130), 30).unwrap());
        assert_eq!(first, encode(&pixels, &stripes.after(|_| false), 80).unwrap());
    }
}
