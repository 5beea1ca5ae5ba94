//! The screen as tiles, to know which parts changed, and regions of it for reading text.

use std::{
    hash::{DefaultHasher, Hasher as _},
    sync::Arc,
};

use bytes::Bytes;
use helmdeck_task::block_in_place;
use helmdeck_wire::{point::Rect, screen::Format};

use crate::{
    bus::shot::{Look, Shot, encode},
    display::Display,
    error::DisplayError,
    segment::Region,
};

/// The screen at one moment.
pub struct TiledScreen {
    shot: Arc<Shot>,
}

/// The contents of tiles, row by row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tiles {
    /// Tiles in a row.
    pub columns: usize,
    /// A hash of each tile.
    pub hashes: Vec<u64>,
}

impl Display {
    /// The screen now.
    pub async fn tiled(&self) -> Result<TiledScreen, DisplayError> {
        Ok(TiledScreen { shot: self.still().await? })
    }
}

impl TiledScreen {
    /// The whole screen.
    pub fn whole(&self) -> Rect {
        let Region { width, height, .. } = self.shot.whole();
        Rect { x: 0, y: 0, width: width.into(), height: height.into() }
    }

    /// The contents of square tiles of this size in pixels.
    pub fn tiles(&self, side: usize) -> Tiles {
        block_in_place(|| {
            let pixels = self.shot.pixels();
            tiles(&pixels.rgb, pixels.width as usize * 3, side)
        })
    }

    /// A region as PNG, enlarged by a factor. `None` if it is not on the screen.
    pub fn png(&self, rect: Rect, factor: u32) -> Result<Option<Bytes>, DisplayError> {
        let short = |number: u32| u16::try_from(number).ok().filter(|number| *number > 0);
        let corner = (u16::try_from(rect.x).ok(), u16::try_from(rect.y).ok());
        let size = (short(rect.width), short(rect.height));
        let ((Some(x), Some(y)), (Some(width), Some(height))) = (corner, size) else {
            return Ok(None);
        };
        let whole = self.shot.whole();
        if x.saturating_add(width) > whole.width || y.saturating_add(height) > whole.height {
            return Ok(None);
        }
        let look = Look {
            region: Region { x, y, width, height },
            width: rect.width * factor,
            height: rect.height * factor,
            coding: Format::Png.into(),
            pointer: false,
        };
        block_in_place(|| encode(self.shot.pixels(), look)).map(Some)
    }
}

/// Hashes tiles of a picture with three bytes per pixel and this many bytes per row.
fn tiles(rgb: &[u8], row: usize, side: usize) -> Tiles {
    let (row, side) = (row.max(3), side.max(1));
    let columns = (row / 3).div_ceil(side);
    let mut hashes = Vec::new();
    for lines in rgb.chunks(row * side) {
        let mut hashers = vec![DefaultHasher::new(); columns];
        for line in lines.chunks(row) {
            for (hasher, part) in hashers.iter_mut().zip(line.chunks(side * 3)) {
                hasher.write(part);
            }
        }
        hashes.extend(hashers.into_iter().map(|hasher| hasher.finish()));
    }
    Tiles { columns, hashes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tile_of_a_changed_pixel_differs() {
        let mut rgb = vec![7; 5 * 5 * 3];
        let before = tiles(&rgb, 15, 2);
        assert_eq!((before.columns, before.hashes.len()), (3, 9));
        // The pixel at 4,1.
        rgb[15 + 12] = 9;
        let after = tiles(&rgb, 15, 2);
        let differs: Vec<usize> =
            (0..9).filter(|at| before.hashes[*at] != after.hashes[*at]).collect();
        assert_eq!(differs, [2]);
    }
}
