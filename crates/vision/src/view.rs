//! Positions in a picture and on the screen.

use helmdeck_wire::point::{Pixel, Rect};

/// What coordinates of a model refer to: the picture that it saw, and the screen that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Width and height of the screen.
    pub screen: (u32, u32),
    /// Width and height of the picture of the whole screen.
    pub picture: (u32, u32),
}

/// How a dialect counts positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Pixels of the picture.
    Pixels,
    /// Thousandths of its sides, from 0 to 999.
    Thousand,
}

impl View {
    /// A picture of the same size as the screen.
    pub fn same(width: u32, height: u32) -> Self {
        Self { screen: (width, height), picture: (width, height) }
    }

    fn extent(&self, grid: Grid) -> (u32, u32) {
        match grid {
            Grid::Pixels => self.picture,
            Grid::Thousand => (1000, 1000),
        }
    }

    /// The pixel of the screen. What is outside is moved to the edge.
    pub fn to_screen(&self, grid: Grid, x: f64, y: f64) -> Pixel {
        let (wide, high) = self.extent(grid);
        let scaled = |value: f64, from: u32, to: u32| {
            if from == to {
                value.round()
            } else if grid == Grid::Thousand {
                (value * f64::from(to) / f64::from(from)).floor()
            } else {
                // The middle of the pixel.
                ((value + 0.5) * f64::from(to) / f64::from(from.max(1))).floor()
            }
        };
        let inside = |value: f64, to: u32| value.clamp(0.0, f64::from(to.max(1) - 1)) as i32;
        Pixel {
            x: inside(scaled(x, wide, self.screen.0), self.screen.0),
            y: inside(scaled(y, high, self.screen.1), self.screen.1),
        }
    }

    /// The position in the picture.
    pub fn from_screen(&self, grid: Grid, at: Pixel) -> (i64, i64) {
        let (wide, high) = self.extent(grid);
        let scaled = |value: i32, from: u32, to: u32| {
            if from == to {
                return i64::from(value);
            }
            ((f64::from(value) + 0.5) * f64::from(to) / f64::from(from.max(1))).floor() as i64
        };
        (scaled(at.x, self.screen.0, wide), scaled(at.y, self.screen.1, high))
    }

    /// A distance on the screen.
    pub fn length(&self, grid: Grid, dx: f64, dy: f64) -> (i32, i32) {
        let (wide, high) = self.extent(grid);
        let scaled = |value: f64, from: u32, to: u32| {
            (value * f64::from(to) / f64::from(from.max(1))).round() as i32
        };
        (scaled(dx, wide, self.screen.0), scaled(dy, high, self.screen.1))
    }

    /// A distance in the picture.
    pub fn length_in_picture(&self, grid: Grid, dx: i32, dy: i32) -> (i64, i64) {
        let (wide, high) = self.extent(grid);
        let scaled = |value: i32, from: u32, to: u32| {
            (f64::from(value) * f64::from(to) / f64::from(from.max(1))).round() as i64
        };
        (scaled(dx, self.screen.0, wide), scaled(dy, self.screen.1, high))
    }

    /// A region of the screen from two corners, or nothing if it is empty.
    pub fn region(&self, grid: Grid, corners: [f64; 4]) -> Option<Rect> {
        let [x1, y1, x2, y2] = corners;
        let start = self.to_screen(grid, x1.min(x2), y1.min(y2));
        let end = self.to_screen(grid, x1.max(x2), y1.max(y2));
        let side = |from: i32, to: i32| u32::try_from(to - from).ok().filter(|side| *side > 0);
        Some(Rect {
            x: start.x,
            y: start.y,
            width: side(start.x, end.x)?,
            height: side(start.y, end.y)?,
        })
    }

    /// The width and height of a region in the picture.
    pub fn size_in_picture(&self, region: Rect) -> (u32, u32) {
        let side = |length: u32, from: u32, to: u32| {
            ((f64::from(length) * f64::from(to) / f64::from(from.max(1))).round() as u32).max(1)
        };
        (
            side(region.width, self.screen.0, self.picture.0),
            side(region.height, self.screen.1, self.picture.1),
        )
    }

    /// The corners of a region in the picture.
    pub fn corners(&self, grid: Grid, region: Rect) -> [i64; 4] {
        let far =
            |start: i32, side: u32| start.saturating_add(i32::try_from(side).unwrap_or(i32::MAX));
        let (x1, y1) = self.from_screen(grid, Pixel { x: region.x, y: region.y });
        let end = Pixel { x: far(region.x, region.width), y: far(region.y, region.height) };
        let (x2, y2) = self.from_screen(grid, end);
        [x1, y1, x2, y2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_divided_by_a_thousand_and_end_at_the_last_pixel() {
        let view = View { screen: (1920, 1080), picture: (1456, 819) };
        let at = |x, y| view.to_screen(Grid::Thousand, x, y);
        assert_eq!(at(0.0, 0.0), Pixel { x: 0, y: 0 });
        assert_eq!(at(500.0, 500.0), Pixel { x: 960, y: 540 });
        assert_eq!(at(999.0, 999.0), Pixel { x: 1918, y: 1078 });
        assert_eq!(at(1000.0, 1200.0), Pixel { x: 1919, y: 1079 });
    }

    #[test]
    fn a_pixel_of_a_smaller_picture_is_the_middle_of_what_it_shows() {
        let view = View { screen: (2000, 1000), picture: (1000, 500) };
        assert_eq!(view.to_screen(Grid::Pixels, 10.0, 0.0), Pixel { x: 21, y: 1 });
        assert_eq!(view.from_screen(Grid::Pixels, Pixel { x: 21, y: 1 }), (10, 0));
        assert_eq!(view.to_screen(Grid::Pixels, 5000.0, -3.0), Pixel { x: 1999, y: 0 });
    }

    #[test]
    fn every_pixel_of_a_picture_comes_back() {
        let view = View { screen: (1920, 1080), picture: (1456, 819) };
        for x in 0..1456 {
            let at = view.to_screen(Grid::Pixels, f64::from(x), 1.0);
            assert_eq!(view.from_screen(Grid::Pixels, at).0, i64::from(x));
        }
    }
}
