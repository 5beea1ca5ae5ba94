//! Rectangles on the screen. Pure.

use std::collections::BTreeMap;

use crate::segment::Region;

/// Limit on the regions of a reply.
pub const MAX_REGIONS: usize = 16;
/// Regions closer than this are one: words of a line, lines of a paragraph.
const NEAR: i32 = 16;
/// More rectangles than this are first collected by cells of the screen, to limit the work.
const MANY: usize = 64;
/// The side of such a cell.
const CELL: i32 = 128;

/// A rectangle on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Rect {
    /// The rectangle between two corners; the second is outside.
    pub fn between(left: i32, top: i32, right: i32, bottom: i32) -> Self {
        let side = |from: i32, to: i32| to.saturating_sub(from).max(0).unsigned_abs();
        Self { x: left, y: top, width: side(left, right), height: side(top, bottom) }
    }

    /// The first column to the right of it.
    pub fn right(&self) -> i32 {
        self.x.saturating_add_unsigned(self.width)
    }

    /// The first row below it.
    pub fn bottom(&self) -> i32 {
        self.y.saturating_add_unsigned(self.height)
    }

    /// The number of pixels.
    pub fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The smallest rectangle around both.
    pub fn union(&self, other: &Self) -> Self {
        Self::between(
            self.x.min(other.x),
            self.y.min(other.y),
            self.right().max(other.right()),
            self.bottom().max(other.bottom()),
        )
    }

    /// What both cover; `None` if they do not overlap.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let common = Self::between(
            self.x.max(other.x),
            self.y.max(other.y),
            self.right().min(other.right()),
            self.bottom().min(other.bottom()),
        );
        (common.area() > 0).then_some(common)
    }

    /// Whether `other` is inside.
    pub fn contains(&self, other: &Self) -> bool {
        self.x <= other.x
            && self.y <= other.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }

    /// Whether the point is inside.
    pub fn contains_point(&self, x: i32, y: i32) -> bool {
        (self.x..self.right()).contains(&x) && (self.y..self.bottom()).contains(&y)
    }

    /// The rectangle with a margin on all sides.
    pub fn inflated(&self, margin: i32) -> Self {
        Self::between(
            self.x.saturating_sub(margin),
            self.y.saturating_sub(margin),
            self.right().saturating_add(margin),
            self.bottom().saturating_add(margin),
        )
    }

    /// The part on a screen of this size.
    pub(crate) fn on_screen(&self, width: u32, height: u32) -> Option<Region> {
        let screen = Self { x: 0, y: 0, width, height };
        let Rect { x, y, width, height } = self.intersection(&screen)?;
        Some(Region {
            x: u16::try_from(x).ok()?,
            y: u16::try_from(y).ok()?,
            width: u16::try_from(width).ok()?,
            height: u16::try_from(height).ok()?,
        })
    }
}

impl From<helmdeck_wire::point::Rect> for Rect {
    fn from(rect: helmdeck_wire::point::Rect) -> Self {
        let helmdeck_wire::point::Rect { x, y, width, height } = rect;
        Self { x, y, width, height }
    }
}

impl From<Rect> for helmdeck_wire::point::Rect {
    fn from(Rect { x, y, width, height }: Rect) -> Self {
        Self { x, y, width, height }
    }
}

/// Merges rectangles that overlap or are near each other, then the closest ones, down to `most`.
/// From the top left.
pub fn merged(rects: Vec<Rect>, most: usize) -> Vec<Rect> {
    let mut rects = if rects.len() > MANY { by_cell(&rects) } else { rects };
    merge_while(&mut rects, |growth, near, _| near || growth == 0);
    merge_while(&mut rects, |_, _, count| count > most.max(1));
    rects.sort_by_key(|rect| (rect.y, rect.x));
    rects
}

/// One rectangle around those that begin in the same cell.
fn by_cell(rects: &[Rect]) -> Vec<Rect> {
    let mut cells: BTreeMap<(i32, i32), Rect> = BTreeMap::new();
    for rect in rects {
        let cell = cells.entry((rect.y / CELL, rect.x / CELL)).or_insert(*rect);
        *cell = cell.union(rect);
    }
    cells.into_values().collect()
}

/// Merges the pair whose union adds the least area, for as long as `worth` accepts it: by the added
/// area, whether they are near each other, and how many are left.
fn merge_while(rects: &mut Vec<Rect>, worth: impl Fn(u64, bool, usize) -> bool) {
    loop {
        let mut best: Option<(u64, usize, usize)> = None;
        for (index, one) in rects.iter().enumerate() {
            for (offset, other) in rects.iter().skip(index + 1).enumerate() {
                let sum = one.area() + other.area();
                let growth = one.union(other).area().saturating_sub(sum);
                let near = one.inflated(NEAR).intersection(other).is_some();
                let better = best.is_none_or(|(least, ..)| growth < least);
                if better && worth(growth, near, rects.len()) {
                    best = Some((growth, index, index + 1 + offset));
                }
            }
        }
        let Some((_, one, other)) = best else { return };
        let other = rects.swap_remove(other);
        if let Some(one) = rects.get_mut(one) {
            *one = one.union(&other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn words_of_a_line_become_one_region_and_distant_ones_stay_apart() {
        let words = vec![rect(10, 10, 30, 12), rect(50, 10, 40, 12), rect(400, 300, 10, 10)];
        assert_eq!(merged(words, MAX_REGIONS), [rect(10, 10, 80, 12), rect(400, 300, 10, 10)]);
    }

    #[test]
    fn too_many_regions_are_merged_with_their_neighbours() {
        let many = (0..40).map(|nth| rect(nth * 40, 0, 5, 5)).collect();
        let merged = merged(many, MAX_REGIONS);
        assert_eq!(merged.len(), MAX_REGIONS);
        assert_eq!((merged[0].x, merged[15].right()), (0, 39 * 40 + 5));
    }

    #[test]
    fn thousands_of_changes_are_merged_by_cells() {
        let many = (0..4000).map(|nth| rect(nth % 60 * 32, nth / 60 * 16, 1, 1)).collect();
        let around = |rects: &[Rect]| rects.iter().copied().reduce(|one, other| one.union(&other));
        let merged = merged(many, MAX_REGIONS);
        assert!(merged.len() <= MAX_REGIONS, "{merged:?}");
        assert_eq!(around(&merged), Some(rect(0, 0, 59 * 32 + 1, 66 * 16 + 1)));
    }

    #[test]
    fn only_the_part_on_the_screen_can_be_captured() {
        let part = rect(-5, 90, 20, 20).on_screen(100, 100);
        assert_eq!(part, Some(Region { x: 0, y: 90, width: 15, height: 10 }));
        assert_eq!(rect(100, 0, 5, 5).on_screen(100, 100), None);
    }
}
