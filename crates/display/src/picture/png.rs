//! PNG: each stripe is a separate part of the compressed stream, in its own chunk.
//!
//! [`fdeflate`] compresses each part as if it were the whole. Its end is then replaced by an empty
//! block that ends at a byte boundary, so that the parts can be joined.

use std::error::Error;

use super::{
    Pixels,
    stripes::{Stripes, in_parallel, rows, threads},
};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Eight bits of red, green and blue, without interlacing.
const RGB: [u8; 5] = [8, 2, 0, 0, 0];
/// The first bytes of a compressed stream: a window of 32 KB, little compression.
const STREAM_START: [u8; 2] = [0x78, 0x01];
/// An empty block that begins at a byte boundary, without its first byte: the length and its
/// complement.
const EMPTY_BLOCK: [u8; 4] = [0, 0, 0xff, 0xff];
/// The bit that marks the last block.
const LAST_BLOCK: u8 = 1;

/// How a row is coded: as differences to the pixel on the left, or to the likeliest neighbour.
const SUB: u8 = 1;
const PAETH: u8 = 4;

/// A stripe as a chunk of the file.
#[derive(Debug)]
pub(super) struct PngPart {
    chunk: Vec<u8>,
    /// The checksum and the number of the bytes that it expands to.
    adler: u32,
    length: usize,
}

/// The picture as a PNG file.
pub(super) fn encode(
    pixels: &Pixels,
    stripes: &Stripes,
) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let missing = stripes.missing(|stripe| stripe.png.get().is_some());
    in_parallel(threads(missing.len()), missing, |nth| {
        let part = part(pixels.rows(rows(nth, pixels.height)), pixels.row_length())?;
        // Another thread may have made the same.
        stripes.0.get(nth)?.png.set(part).ok()
    });
    let parts: Option<Vec<&PngPart>> = stripes.0.iter().map(|stripe| stripe.png.get()).collect();
    let parts = parts.ok_or("a stripe could not be compressed")?;
    let size: usize = parts.iter().map(|part| part.chunk.len()).sum();
    let mut file = Vec::with_capacity(size + 128);
    file.extend(SIGNATURE);
    let size = [pixels.width.to_be_bytes(), pixels.height.to_be_bytes()].concat();
    chunk(&mut file, *b"IHDR", &[&size, &RGB]);
    chunk(&mut file, *b"IDAT", &[&STREAM_START]);
    let mut adler = 1;
    for part in parts {
        file.extend(&part.chunk);
        adler = joined(adler, part.adler, part.length);
    }
    chunk(&mut file, *b"IDAT", &[&[LAST_BLOCK], &EMPTY_BLOCK, &adler.to_be_bytes()]);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// Compresses rows.
fn part(pixels: &[u8], row_length: usize) -> Option<PngPart> {
    let filtered = filtered(pixels, row_length);
    let mut stream = fdeflate::Compressor::new(Vec::with_capacity(filtered.len() / 8)).ok()?;
    stream.write_data(&filtered).ok()?;
    let stream = stream.finish().ok()?;
    let (block, adler) = stream.strip_prefix(&STREAM_START)?.split_last_chunk()?;
    let mut block = block.to_vec();
    *block.first_mut()? &= !LAST_BLOCK;
    // The block's last code ends with a one, and zeros fill up the byte. Three of them begin an
    // empty block.
    if block.last()?.leading_zeros() < 3 {
        block.push(0);
    }
    let mut data = Vec::with_capacity(block.len() + 16);
    chunk(&mut data, *b"IDAT", &[&block, &EMPTY_BLOCK]);
    Some(PngPart { chunk: data, adler: u32::from_be_bytes(*adler), length: filtered.len() })
}

/// Rows as differences. The first row does not depend on the row above it.
fn filtered(pixels: &[u8], row_length: usize) -> Vec<u8> {
    let row_length = row_length.max(3);
    let mut filtered = vec![0; pixels.len() + pixels.len() / row_length];
    let mut above: Option<&[u8]> = None;
    let targets = filtered.chunks_exact_mut(row_length + 1);
    for (row, target) in pixels.chunks_exact(row_length).zip(targets) {
        let Some((kind, target)) = target.split_first_mut() else { break };
        // The first pixel has no left neighbour.
        let ((target_first, target), (row_first, rest)) = (target.split_at_mut(3), row.split_at(3));
        if let Some(above) = above {
            *kind = PAETH;
            let (above_first, above_rest) = above.split_at(3);
            subtract(target_first, row_first, above_first);
            for ((((target, value), left), up), corner) in
                target.iter_mut().zip(rest).zip(row).zip(above_rest).zip(above)
            {
                *target = value.wrapping_sub(likeliest(*left, *up, *corner));
            }
        } else {
            *kind = SUB;
            target_first.copy_from_slice(row_first);
            subtract(target, rest, row);
        }
        above = Some(row);
    }
    filtered
}

fn subtract(target: &mut [u8], values: &[u8], from: &[u8]) {
    for ((target, value), from) in target.iter_mut().zip(values).zip(from) {
        *target = value.wrapping_sub(*from);
    }
}

/// Which of the neighbours is nearest to left + up − corner.
fn likeliest(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let (to_left, to_up) = ((b - c).abs(), (a - c).abs());
    let to_corner = (a + b - 2 * c).abs();
    // Without branches, so that many are computed at once.
    let nearer = if to_up <= to_corner { up } else { corner };
    if to_left <= to_up && to_left <= to_corner { left } else { nearer }
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[&[u8]]) {
    let length: usize = data.iter().map(|data| data.len()).sum();
    // Stripes of the largest screen are far smaller than 4 GB.
    file.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    let mut crc = crc32fast::Hasher::new();
    for data in std::iter::once(&&kind[..]).chain(data) {
        file.extend_from_slice(data);
        crc.update(data);
    }
    file.extend(crc.finalize().to_be_bytes());
}

/// The Adler-32 checksum of two parts one after the other.
fn joined(first: u32, second: u32, second_length: usize) -> u32 {
    const BASE: u64 = 65_521;
    let sums = |adler: u32| (u64::from(adler & 0xffff), u64::from(adler >> 16));
    let ((a1, b1), (a2, b2)) = (sums(first), sums(second));
    let length = second_length as u64 % BASE;
    // The first sum begins with one, in each part.
    let a = (a1 + a2 + BASE - 1) % BASE;
    let b = (b1 + b2 + length * (a1 + BASE - 1)) % BASE;
    u32::try_from(b << 16 | a).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn decoded(file: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = ::png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        // Reads the checksums, too.
        reader.finish().unwrap();
        (info.width, info.height, rgb)
    }

    /// Flat areas, gradients and noise, different for each seed.
    fn picture(width: u32, height: u32, seed: u32) -> Pixels {
        let mut state = seed | 1;
        let mut rgb = Vec::new();
        for y in 0..height {
            for x in 0..width {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                rgb.extend(match (x / 16 + y / 16 + seed) % 3 {
                    0 => [200, 10, 30],
                    1 => [x as u8, y as u8, (x + y) as u8],
                    _ => [(state >> 8) as u8, (state >> 16) as u8, (state >> 24) as u8],
                });
            }
        }
        Pixels { width, height, rgb }
    }

    /// Parts end at every position in a byte.
    #[test]
    fn the_parts_of_a_file_decode_to_the_picture() {
        for seed in 0..200 {
            let (width, height) = (1 + seed * 7 % 90, 1 + seed * 13 % 300);
            let pixels = picture(width, height, seed);
            let file = encode(&pixels, &Stripes::new(height)).unwrap();
            assert_eq!(decoded(&file), (width, height, pixels.rgb), "{seed}");
        }
    }

    #[test]
    fn only_changed_stripes_are_compressed_again() {
        let before = picture(100, 200, 1);
        let stripes = Stripes::new(200);
        encode(&before, &stripes).unwrap();
        let mut after = before.clone();
        after.rgb[100 * 3 * 70] ^= 1;
        let later = stripes.after(|nth| nth == 1);
        let kept: Vec<bool> = later.0.iter().map(|stripe| stripe.png.get().is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
        let file = encode(&after, &later).unwrap();
        assert_eq!(decoded(&file).2, after.rgb);
        assert_eq!(decoded(&encode(&before, &stripes).unwrap()).2, before.rgb);
    }
}
