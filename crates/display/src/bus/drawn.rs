//! The parts of the screen that were drawn since a capture, in stripes.

use std::ops::Range;

use x11rb::protocol::xproto::Rectangle;

use crate::picture::stripes::ROWS;

/// The stripes that may look different.
#[derive(Debug, Clone)]
pub(super) enum Drawn {
    Everything,
    /// Whether each stripe was drawn; those beyond the end were not.
    Stripes(Vec<bool>),
}

impl Drawn {
    pub(super) fn everything() -> Self {
        Self::Everything
    }

    pub(super) fn nothing() -> Self {
        Self::Stripes(Vec::new())
    }

    /// Adds a part of the screen.
    pub(super) fn add(&mut self, part: Rectangle) {
        let Self::Stripes(stripes) = self else { return };
        // The parts that a program draws are clipped to the screen.
        let first = u32::try_from(part.y).unwrap_or_default();
        let last = (i64::from(part.y) + i64::from(part.height) - 1).max(0);
        let (first, last) = ((first / ROWS) as usize, last as usize / ROWS as usize);
        if stripes.len() <= last {
            stripes.resize(last + 1, false);
        }
        stripes.iter_mut().take(last + 1).skip(first).for_each(|drawn| *drawn = true);
    }

    /// Whether this stripe was drawn.
    pub(super) fn has(&self, nth: u32) -> bool {
        match self {
            Self::Everything => true,
            Self::Stripes(stripes) => stripes.get(nth as usize) == Some(&true),
        }
    }

    /// Whether the whole screen was drawn.
    pub(super) fn covers(&self, height: u16) -> bool {
        (0..u32::from(height).div_ceil(ROWS)).all(|nth| self.has(nth))
    }

    /// The rows of neighbouring stripes that were drawn.
    pub(super) fn bands(&self, height: u16) -> Vec<Range<u16>> {
        let mut bands: Vec<Range<u16>> = Vec::new();
        for nth in (0..u32::from(height).div_ceil(ROWS)).filter(|nth| self.has(*nth)) {
            let row = |row: u32| u16::try_from(row).unwrap_or(u16::MAX).min(height);
            let (start, end) = (row(nth * ROWS), row((nth + 1) * ROWS));
            match bands.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => bands.push(start..end),
            }
        }
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(y: i16, height: u16) -> Rectangle {
        Rectangle { x: 0, y, width: 1, height }
    }

    #[test]
    fn parts_make_bands_of_whole_stripes() {
        let mut drawn = Drawn::nothing();
        assert_eq!(drawn.bands(1080), []);
        drawn.add(part(64, 1));
        drawn.add(part(130, 60));
        drawn.add(part(1070, 100));
        assert_eq!(drawn.bands(1080), [64..192, 1024..1080]);
        assert!(drawn.has(1) && drawn.has(2) && !drawn.has(0) && !drawn.has(3));
        drawn.add(part(-5, 6));
        assert_eq!(drawn.bands(1080), [0..192, 1024..1080]);
    }

    #[test]
    fn everything_is_one_band() {
        let mut drawn = Drawn::everything();
        drawn.add(part(0, 1));
        assert_eq!(drawn.bands(100).first(), Some(&(0..100)));
        assert!(drawn.has(99) && drawn.covers(100));
        let mut drawn = Drawn::nothing();
        drawn.add(part(0, 100));
        assert!(drawn.covers(128) && !drawn.covers(129));
    }
}
