//! Rectangles: intersection, and what remains visible behind others.

use helmdeck_wire::point::{Pixel, Rect};

/// More parts than this are not kept: the largest ones remain.
const MAX_PARTS: usize = 64;

/// A rectangle from its edges; `None` if it has no area.
pub fn from_edges(left: i32, top: i32, right: i32, bottom: i32) -> Option<Rect> {
    let width = u32::try_from(right.checked_sub(left)?).ok().filter(|width| *width > 0)?;
    let height = u32::try_from(bottom.checked_sub(top)?).ok().filter(|height| *height > 0)?;
    Some(Rect { x: left, y: top, width, height })
}

/// The right edge, which is not part of it.
pub fn right(rect: Rect) -> i32 {
    rect.x.saturating_add_unsigned(rect.width)
}

/// The bottom edge, which is not part of it.
pub fn bottom(rect: Rect) -> i32 {
    rect.y.saturating_add_unsigned(rect.height)
}

/// The common part of two rectangles.
pub fn intersection(a: Rect, b: Rect) -> Option<Rect> {
    from_edges(a.x.max(b.x), a.y.max(b.y), right(a).min(right(b)), bottom(a).min(bottom(b)))
}

/// Whether a point is in it.
pub fn contains(rect: Rect, point: Pixel) -> bool {
    (rect.x..right(rect)).contains(&point.x) && (rect.y..bottom(rect)).contains(&point.y)
}

/// Whether all of `inner` is in it.
pub fn encloses(rect: Rect, inner: Rect) -> bool {
    intersection(rect, inner) == Some(inner)
}

/// The number of pixels.
pub fn area(rect: Rect) -> u64 {
    u64::from(rect.width) * u64::from(rect.height)
}

/// The point in the middle.
pub fn centre(rect: Rect) -> Pixel {
    Pixel {
        x: rect.x.saturating_add_unsigned(rect.width / 2),
        y: rect.y.saturating_add_unsigned(rect.height / 2),
    }
}

/// The distance from a point to the nearest pixel of a rectangle, squared.
pub fn distance(rect: Rect, point: Pixel) -> u64 {
    let gap = |at: i32, from: i32, to: i32| {
        u64::from(from.saturating_sub(at).max(at.saturating_sub(to - 1)).max(0).unsigned_abs())
    };
    let (x, y) = (gap(point.x, rect.x, right(rect)), gap(point.y, rect.y, bottom(rect)));
    x * x + y * y
}

/// The parts of a rectangle that others do not cover.
pub fn uncovered(rect: Rect, covers: &[Rect]) -> Vec<Rect> {
    let mut parts = vec![rect];
    for cover in covers {
        let mut left = Vec::with_capacity(parts.len());
        for part in parts {
            match intersection(part, *cover) {
                None => left.push(part),
                Some(hole) => {
                    let (r, b) = (right(part), bottom(part));
                    let (hole_right, hole_bottom) = (right(hole), bottom(hole));
                    left.extend(from_edges(part.x, part.y, r, hole.y));
                    left.extend(from_edges(part.x, hole_bottom, r, b));
                    left.extend(from_edges(part.x, hole.y, hole.x, hole_bottom));
                    left.extend(from_edges(hole_right, hole.y, r, hole_bottom));
                }
            }
        }
        if left.len() > MAX_PARTS {
            left.sort_by_key(|part| std::cmp::Reverse(area(*part)));
            left.truncate(MAX_PARTS);
        }
        parts = left;
    }
    parts
}

/// The point to act at: the middle if it is uncovered, else the middle of the largest part.
pub fn point_in(rect: Rect, parts: &[Rect]) -> Option<Pixel> {
    let middle = centre(rect);
    if parts.iter().any(|part| contains(*part, middle)) {
        return Some(middle);
    }
    parts.iter().max_by_key(|part| area(**part)).map(|part| centre(*part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn the_point_to_act_at_is_in_the_visible_part() {
        let button = rect(10, 10, 100, 20);
        let parts = uncovered(button, &[rect(0, 0, 70, 100)]);
        assert_eq!(parts, [rect(70, 10, 40, 20)]);
        assert_eq!(point_in(button, &parts), Some(Pixel { x: 90, y: 20 }));
        let parts = uncovered(button, &[rect(10, 10, 5, 5)]);
        assert_eq!(point_in(button, &parts), Some(Pixel { x: 60, y: 20 }));
        assert_eq!(uncovered(button, &[rect(0, 0, 1000, 1000)]), []);
    }

    #[test]
    fn distances_are_zero_inside() {
        let button = rect(10, 10, 10, 10);
        let to = |x, y| distance(button, Pixel { x, y });
        assert_eq!((to(10, 19), to(9, 10), to(20, 10), to(7, 6)), (0, 1, 1, 25));
    }

    proptest! {
        #[test]
        fn uncovered_parts_are_exactly_what_no_cover_contains(
            covers in prop::collection::vec((-5i32..25, -5i32..25, 1u32..12, 1u32..12), 0..6),
        ) {
            let whole = rect(0, 0, 20, 20);
            let covers: Vec<Rect> = covers.into_iter().map(|(x, y, w, h)| rect(x, y, w, h)).collect();
            let parts = uncovered(whole, &covers);
            for x in 0..20 {
                for y in 0..20 {
                    let at = Pixel { x, y };
                    let covered = covers.iter().any(|cover| contains(*cover, at));
                    let times = parts.iter().filter(|part| contains(**part, at)).count();
                    prop_assert_eq!(times, usize::from(!covered));
                }
            }
        }
    }
}
