//! A fingerprint of a picture: a hash of each square, small enough to keep for many pictures. Pure.

use super::{canvas::Canvas, rect::Rect};
use crate::picture::Pixels;

/// The side of the squares.
const SQUARE: usize = 32;

/// The hashes of a picture's squares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prints {
    width: u32,
    height: u32,
    squares: Vec<u64>,
}

/// How two pictures differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Difference {
    /// In this share of the squares, from 0 to 1.
    Share(f64),
    /// They have different sizes.
    Size,
    /// There is nothing to compare: the region is outside, or all of it is ignored.
    Nothing,
}

impl Prints {
    /// The fingerprint of a canvas.
    pub fn of(canvas: &Canvas) -> Self {
        let (width, height) = canvas.size();
        let mut rgb = Vec::new();
        Self::of_rows(
            width,
            height,
            canvas.all_rows().map(|row| {
                rgb.clear();
                rgb.extend(row.as_chunks::<4>().0.iter().flat_map(|[b, g, r, _]| [*r, *g, *b]));
                std::mem::take(&mut rgb)
            }),
        )
    }

    pub(crate) fn of_pixels(pixels: &Pixels) -> Self {
        let length = (pixels.width as usize * 3).max(1);
        Self::of_rows(pixels.width, pixels.height, pixels.rgb.chunks_exact(length))
    }

    fn of_rows(width: u32, height: u32, rows: impl Iterator<Item = impl AsRef<[u8]>>) -> Self {
        let columns = (width as usize).div_ceil(SQUARE);
        let mut squares = vec![0; columns * (height as usize).div_ceil(SQUARE)];
        for (nth, row) in rows.enumerate() {
            let first = nth / SQUARE * columns;
            let line = squares.iter_mut().skip(first).take(columns);
            for (square, bytes) in line.zip(row.as_ref().chunks(SQUARE * 3)) {
                *square = mixed(*square, bytes);
            }
        }
        Self { width, height, squares }
    }

    /// Whether both show the same, outside of `ignored`.
    pub fn same(&self, other: &Self, ignored: &[Rect]) -> bool {
        match self.difference(other, None, ignored) {
            Difference::Share(share) => share == 0.0,
            Difference::Nothing => true,
            Difference::Size => false,
        }
    }

    /// How much of a region differs, outside of `ignored`.
    pub fn difference(&self, other: &Self, region: Option<&Rect>, ignored: &[Rect]) -> Difference {
        if (self.width, self.height) != (other.width, other.height) {
            return Difference::Size;
        }
        let columns = (self.width as usize).div_ceil(SQUARE).max(1);
        let (mut all, mut differing) = (0_u32, 0_u32);
        for (index, (one, other)) in self.squares.iter().zip(&other.squares).enumerate() {
            // Squares of a screen have small coordinates.
            let (x, y) = ((index % columns * SQUARE) as i32, (index / columns * SQUARE) as i32);
            let square = Rect { x, y, width: SQUARE as u32, height: SQUARE as u32 };
            let touches = |rect: &Rect| rect.intersection(&square).is_some();
            if region.is_none_or(touches) && !ignored.iter().any(touches) {
                all += 1;
                differing += u32::from(one != other);
            }
        }
        match all {
            0 => Difference::Nothing,
            all => Difference::Share(f64::from(differing) / f64::from(all)),
        }
    }

    /// The whole picture.
    pub fn whole(&self) -> Rect {
        Rect { x: 0, y: 0, width: self.width, height: self.height }
    }
}

/// Adds bytes to a hash, by multiplying and folding the product.
fn mixed(hash: u64, bytes: &[u8]) -> u64 {
    // Odd numbers without a pattern.
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
    let fold = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    };
    let [first, second] = FACTORS;
    let mut hash = hash ^ first;
    let (words, rest) = bytes.as_chunks::<16>();
    for word in words {
        let word = u128::from_le_bytes(*word);
        hash =
            fold(word as u64 ^ second ^ hash, (word >> 64) as u64 ^ hash.rotate_left(32) ^ first);
    }
    for byte in rest {
        hash = fold(hash ^ u64::from(*byte), second);
    }
    fold(hash ^ bytes.len() as u64, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(dot: Option<usize>) -> Pixels {
        let mut rgb = vec![7; 100 * 70 * 3];
        if let Some(dot) = dot {
            rgb[dot * 3] = 8;
        }
        Pixels { width: 100, height: 70, rgb }
    }

    #[test]
    fn one_other_pixel_is_another_picture_unless_it_is_ignored() {
        let plain = Prints::of_pixels(&pixels(None));
        assert!(plain.same(&Prints::of_pixels(&pixels(None)), &[]));
        for dot in [0, 99, 100 * 69 + 99, 3450] {
            let other = Prints::of_pixels(&pixels(Some(dot)));
            assert!(!plain.same(&other, &[]), "{dot}");
        }
        let corner = Rect { x: 0, y: 0, width: 5, height: 5 };
        assert!(plain.same(&Prints::of_pixels(&pixels(Some(0))), &[corner]));
        assert!(!plain.same(&Prints::of_pixels(&pixels(Some(99))), &[corner]));
    }

    #[test]
    fn a_region_without_anything_to_compare_is_not_equal() {
        let (plain, other) = (pixels(None), pixels(Some(0)));
        let (plain, other) = (Prints::of_pixels(&plain), Prints::of_pixels(&other));
        let rect = |x, y, width, height| Rect { x, y, width, height };
        let difference =
            |region, ignored: &[Rect]| plain.difference(&other, Some(&region), ignored);
        assert_eq!(difference(rect(5000, 0, 10, 10), &[]), Difference::Nothing);
        let corner = rect(0, 0, 10, 10);
        assert_eq!(difference(corner, &[corner]), Difference::Nothing);
        assert_eq!(difference(corner, &[]), Difference::Share(1.0));
        assert_eq!(difference(rect(0, 0, 64, 32), &[]), Difference::Share(0.5));
    }

    #[test]
    fn a_canvas_has_the_fingerprint_of_the_same_picture() {
        let bgrx: Vec<u8> = (0..100 * 70).flat_map(|nth| [nth as u8, 2, 3, 99]).collect();
        let canvas = Canvas::new(100, 70, &bgrx);
        let pixels = Pixels::from_bgrx(100, 70, &bgrx);
        assert_eq!(Prints::of(&canvas), Prints::of_pixels(&pixels));
    }
}
