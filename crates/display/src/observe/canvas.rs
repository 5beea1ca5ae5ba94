//! A copy of the screen, kept up to date by parts, and its comparison with another. Pure.

use std::io;

use super::rect::Rect;
use crate::{
    error::DisplayError,
    picture::{Coding, Pixels, fit, stripes::Stripes},
    segment::Region,
};

/// Pixels are compared in squares of this side. What changes in neighbouring squares is one change.
const TILE: usize = 16;
/// The largest picture that is decoded: 7680x4320.
const MAX_BYTES: usize = 7680 * 4320 * 4;
/// The JPEG quality of small pictures.
const THUMBNAIL_QUALITY: u8 = 70;
/// Bytes per pixel: blue, green, red and one without meaning.
const BYTES: usize = 4;

/// The pixels of the screen at one moment, without the pointer.
#[derive(Clone, PartialEq, Eq)]
pub struct Canvas {
    width: usize,
    height: usize,
    bgrx: Vec<u8>,
}

/// The changed pixels of each square.
struct Grid {
    columns: usize,
    squares: Vec<Option<Bounds>>,
}

/// The outermost changed pixels; the last ones are included.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Canvas {
    /// A canvas with these pixels: four bytes each, as the X server sends them.
    pub(crate) fn new(width: u16, height: u16, bgrx: &[u8]) -> Self {
        Self { width: width.into(), height: height.into(), bgrx: bgrx.to_vec() }
    }

    /// A canvas with these pixels: four bytes each, red, green, blue and alpha.
    pub fn from_rgba(width: u32, height: u32, rgba: &[u8]) -> Self {
        let mut bgrx = rgba.to_vec();
        for pixel in bgrx.as_chunks_mut::<BYTES>().0 {
            pixel.swap(0, 2);
        }
        let (width, height) = (width as usize, height as usize);
        bgrx.resize(width * height * BYTES, 0);
        Self { width, height, bgrx }
    }

    /// Its size in pixels.
    pub fn size(&self) -> (u32, u32) {
        // Both come from numbers of this size.
        (self.width as u32, self.height as u32)
    }

    /// Its whole area.
    pub fn whole(&self) -> Rect {
        let (width, height) = self.size();
        Rect { x: 0, y: 0, width, height }
    }

    /// Replaces a part and returns what changed in it.
    pub(crate) fn replace(&mut self, region: Region, fresh: &[u8]) -> Vec<Rect> {
        let mut grid = Grid::of(self);
        let (x, y) = (usize::from(region.x), usize::from(region.y));
        let length = usize::from(region.width) * BYTES;
        for (row, fresh) in (y..).zip(fresh.chunks_exact(length.max(1))) {
            let start = (row * self.width + x) * BYTES;
            let Some(old) = self.bgrx.get_mut(start..start + length) else { break };
            if old != fresh {
                grid.compare(old, fresh, x, row, &[]);
                old.copy_from_slice(fresh);
            }
        }
        grid.changes()
    }

    /// Where the other canvas differs, outside of `ignored`. A canvas of another size differs
    /// everywhere.
    pub fn difference(&self, other: &Self, ignored: &[Rect]) -> Vec<Rect> {
        if (self.width, self.height) != (other.width, other.height) {
            return vec![other.whole()];
        }
        let mut grid = Grid::of(self);
        let length = (self.width * BYTES).max(1);
        let rows = self.bgrx.chunks_exact(length).zip(other.bgrx.chunks_exact(length));
        for (row, (one, other)) in rows.enumerate() {
            if one != other {
                grid.compare(one, other, 0, row, ignored);
            }
        }
        grid.changes()
    }

    /// A canvas with the pixels of an encoded PNG picture.
    pub fn from_png(png: &[u8]) -> Result<Self, DisplayError> {
        let wrong = |error: png::DecodingError| DisplayError::Encode(error.into());
        let mut decoder = png::Decoder::new(io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().map_err(wrong)?;
        let length = reader.output_buffer_size().unwrap_or_default();
        if length > MAX_BYTES {
            return Err(DisplayError::Unsupported("pictures of this size"));
        }
        let mut rgba = vec![0; length];
        let info = reader.next_frame(&mut rgba).map_err(wrong)?;
        if info.color_type != png::ColorType::Rgba {
            return Err(DisplayError::Unsupported("pictures without colours"));
        }
        Ok(Self::from_rgba(info.width, info.height, &rgba))
    }

    /// A part of the canvas as PNG.
    pub fn png(&self, rect: &Rect) -> Result<Vec<u8>, DisplayError> {
        self.encoded(rect, u32::MAX, Coding::Png)
    }

    /// A part of the canvas as PNG of this size.
    pub fn png_of(&self, rect: &Rect, width: u32, height: u32) -> Result<Vec<u8>, DisplayError> {
        let (whole, pixels) =
            self.part(rect).ok_or(DisplayError::Unsupported("an empty picture"))?;
        pixels.scaled(whole, width, height)?.encoded(Coding::Png, &Stripes::new(height))
    }

    /// A part of the canvas as a small JPEG, at most `side` wide and high.
    pub fn thumbnail(&self, rect: &Rect, side: u32) -> Result<Vec<u8>, DisplayError> {
        self.encoded(rect, side, Coding::Jpeg(THUMBNAIL_QUALITY))
    }

    fn encoded(&self, rect: &Rect, side: u32, coding: Coding) -> Result<Vec<u8>, DisplayError> {
        let (whole, pixels) =
            self.part(rect).ok_or(DisplayError::Unsupported("an empty picture"))?;
        let (mut width, mut height) = (pixels.width, pixels.height);
        if width.max(height) > side {
            (width, height, _) = fit(width, height, side);
        }
        pixels.scaled(whole, width, height)?.encoded(coding, &Stripes::new(height))
    }

    /// A part of the canvas, clipped to it, and its size.
    fn part(&self, rect: &Rect) -> Option<(Region, Pixels)> {
        let (width, height) = self.size();
        let region = rect.on_screen(width, height)?;
        let mut bgrx =
            Vec::with_capacity(usize::from(region.width) * usize::from(region.height) * BYTES);
        self.rows(region).for_each(|row| bgrx.extend_from_slice(row));
        let pixels = Pixels::from_bgrx(region.width, region.height, &bgrx);
        Some((Region { x: 0, y: 0, ..region }, pixels))
    }

    /// A number for the content of a part.
    pub fn hash(&self, rect: &Rect) -> u64 {
        let (width, height) = self.size();
        let Some(region) = rect.on_screen(width, height) else { return 0 };
        let mut hash = Hash::default();
        self.rows(region).for_each(|row| hash.row(row));
        hash.0
    }

    /// All rows, four bytes for each pixel.
    pub(super) fn all_rows(&self) -> impl Iterator<Item = &[u8]> {
        self.bgrx.chunks_exact((self.width * BYTES).max(1))
    }

    fn rows(&self, region: Region) -> impl Iterator<Item = &[u8]> {
        let (x, y) = (usize::from(region.x), usize::from(region.y));
        let length = usize::from(region.width) * BYTES;
        (y..y + usize::from(region.height)).filter_map(move |row| {
            let start = (row * self.width + x) * BYTES;
            self.bgrx.get(start..start + length)
        })
    }
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Omits the pixels.
        f.debug_struct("Canvas").field("width", &self.width).field("height", &self.height).finish()
    }
}

/// A hash of pixels without their fourth byte.
#[derive(Default)]
struct Hash(u64);

impl Hash {
    fn row(&mut self, bgrx: &[u8]) {
        const COLOURS: u64 = 0x00ff_ffff_00ff_ffff;
        // An odd number without a pattern, from the golden ratio.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let (pairs, rest) = bgrx.as_chunks::<8>();
        for pair in pairs {
            let mixed = (self.0 ^ u64::from_le_bytes(*pair) & COLOURS).wrapping_mul(FACTOR);
            self.0 = mixed ^ mixed >> 29;
        }
        for pixel in rest.as_chunks::<BYTES>().0 {
            let pixel = u64::from(u32::from_le_bytes(*pixel)) & COLOURS;
            let mixed = (self.0 ^ pixel).wrapping_mul(FACTOR);
            self.0 = mixed ^ mixed >> 29;
        }
        self.0 = (self.0 ^ bgrx.len() as u64).wrapping_mul(FACTOR);
    }
}

impl Grid {
    fn of(canvas: &Canvas) -> Self {
        let (columns, rows) = (canvas.width.div_ceil(TILE), canvas.height.div_ceil(TILE));
        Self { columns, squares: vec![None; columns * rows] }
    }

    /// Notes the differences of a row that begins in column `x`.
    fn compare(&mut self, old: &[u8], new: &[u8], x: usize, row: usize, ignored: &[Rect]) {
        let mut at = 0;
        while at * BYTES < old.len() {
            // Up to the next border between squares.
            let end = (at + TILE - (x + at) % TILE) * BYTES;
            let range = at * BYTES..end.min(old.len());
            let (Some(old), Some(new)) = (old.get(range.clone()), new.get(range)) else { return };
            if old != new {
                self.compare_square(old, new, x + at, row, ignored);
            }
            at = end / BYTES;
        }
    }

    fn compare_square(&mut self, old: &[u8], new: &[u8], x: usize, row: usize, ignored: &[Rect]) {
        let pixels = old.as_chunks::<BYTES>().0.iter().zip(new.as_chunks::<BYTES>().0);
        for (column, ([b, g, r, _], [c, h, s, _])) in (x..).zip(pixels) {
            // Both are smaller than the screen.
            let at = (column as i32, row as i32);
            let same = (b, g, r) == (c, h, s);
            if same || ignored.iter().any(|rect| rect.contains_point(at.0, at.1)) {
                continue;
            }
            let square = row / TILE * self.columns + column / TILE;
            if let Some(bounds) = self.squares.get_mut(square) {
                bounds
                    .get_or_insert(Bounds { left: column, top: row, right: column, bottom: row })
                    .add(column, row);
            }
        }
    }

    /// The changes: squares that touch are one.
    fn changes(mut self) -> Vec<Rect> {
        let mut changes = Vec::new();
        for start in 0..self.squares.len() {
            let Some(mut bounds) = self.squares.get_mut(start).and_then(Option::take) else {
                continue;
            };
            let mut reached = vec![start];
            while let Some(square) = reached.pop() {
                for near in self.neighbours(square) {
                    if let Some(more) = self.squares.get_mut(near).and_then(Option::take) {
                        bounds.add(more.left, more.top);
                        bounds.add(more.right, more.bottom);
                        reached.push(near);
                    }
                }
            }
            changes.push(bounds.rect());
        }
        changes
    }

    fn neighbours(&self, square: usize) -> impl Iterator<Item = usize> + use<> {
        let columns = self.columns.max(1);
        let (column, row) = (square % columns, square / columns);
        let around = move |at: usize| at.saturating_sub(1)..=at + 1;
        let across = around(column).filter(move |column| *column < columns);
        across.flat_map(move |column| around(row).map(move |row| row * columns + column))
    }
}

impl Bounds {
    fn add(&mut self, column: usize, row: usize) {
        self.left = self.left.min(column);
        self.right = self.right.max(column);
        self.top = self.top.min(row);
        self.bottom = self.bottom.max(row);
    }

    fn rect(&self) -> Rect {
        // Pixels of a screen have small coordinates.
        let Self { left, top, right, bottom } = *self;
        Rect::between(left as i32, top as i32, right as i32 + 1, bottom as i32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank() -> Canvas {
        Canvas::new(100, 80, &[0; 100 * 80 * BYTES])
    }

    /// Fills a part of the canvas and returns what changed.
    fn fill(canvas: &mut Canvas, (x, y, width, height): (u16, u16, u16, u16), c: u8) -> Vec<Rect> {
        let fresh = vec![c; usize::from(width) * usize::from(height) * BYTES];
        canvas.replace(Region { x, y, width, height }, &fresh)
    }

    #[test]
    fn changes_have_exact_bounds_and_distant_ones_are_apart() {
        let (before, mut after) = (blank(), blank());
        assert_eq!(fill(&mut after, (3, 5, 20, 2), 9), [Rect { x: 3, y: 5, width: 20, height: 2 }]);
        fill(&mut after, (70, 60, 1, 1), 1);
        let changes = before.difference(&after, &[]);
        let expected = [(3, 5, 20, 2), (70, 60, 1, 1)].map(|(x, y, width, height)| Rect {
            x,
            y,
            width,
            height,
        });
        assert_eq!(changes, expected);
    }

    #[test]
    fn drawing_the_same_again_is_no_change() {
        let mut canvas = blank();
        fill(&mut canvas, (3, 5, 20, 2), 9);
        assert_eq!(fill(&mut canvas, (3, 5, 20, 2), 9), []);
        // The fourth byte has no meaning.
        let region = Region { x: 0, y: 0, width: 1, height: 1 };
        assert_eq!(canvas.replace(region, &[0, 0, 0, 255]), []);
    }

    #[test]
    fn ignored_parts_are_left_out_of_a_difference() {
        let (before, mut after) = (blank(), blank());
        fill(&mut after, (10, 10, 20, 20), 9);
        let ignored = Rect { x: 10, y: 10, width: 18, height: 20 };
        let rest = Rect { x: 28, y: 10, width: 2, height: 20 };
        assert_eq!(before.difference(&after, &[ignored]), [rest]);
        assert_eq!(before.difference(&after, &[ignored.inflated(2)]), []);
    }

    #[test]
    fn a_canvas_of_another_size_differs_everywhere() {
        let small = Canvas::from_rgba(2, 1, &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(small.bgrx, [3, 2, 1, 4, 7, 6, 5, 8]);
        assert_eq!(blank().difference(&small, &[]), [small.whole()]);
    }

    #[test]
    fn the_hash_depends_on_colours_and_places_only() {
        let mut canvas = blank();
        let part = Rect { x: 0, y: 0, width: 33, height: 20 };
        let empty = canvas.hash(&part);
        canvas.replace(Region { x: 0, y: 0, width: 1, height: 1 }, &[0, 0, 0, 7]);
        assert_eq!(canvas.hash(&part), empty);
        fill(&mut canvas, (32, 19, 1, 1), 1);
        let one = canvas.hash(&part);
        assert_ne!(one, empty);
        fill(&mut canvas, (32, 19, 1, 1), 0);
        fill(&mut canvas, (31, 19, 1, 1), 1);
        assert!(![one, empty].contains(&canvas.hash(&part)));
    }
}
