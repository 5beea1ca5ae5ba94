//! Elements that the next part of the instruction may mean, as programs tell them: candidates for the model, and the
//! part of the screen that shows them.

use helmdeck_wire::{
    point::{Pixel, Rect},
    tree::Candidate,
};

use super::Runner;
use crate::{
    clause::{Clause, split, words},
    evidence::is_done,
};

/// Elements that are listed.
const MOST: usize = 20;
/// Pixels around what is shown.
const AROUND: i64 = 40;
/// The smallest part that is shown. Vendors count small pictures as one tile.
const LEAST: (i64, i64) = (384, 288);
/// A part that covers more of the screen than this is no part, in tenths.
const MOST_OF_THE_SCREEN: i64 = 4;

/// What the next part of the instruction may mean.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// Elements with one of its names.
    pub found: Vec<Candidate>,
    /// Whether there is one for each name.
    complete: bool,
}

impl Runner<'_> {
    /// Elements that the first part of the instruction means of which nothing was seen to happen.
    pub(super) async fn targets(&self) -> Targets {
        let names = self.wanted();
        let mut targets = Targets { found: Vec::new(), complete: !names.is_empty() };
        for alternatives in names {
            let before = targets.found.len();
            for name in alternatives {
                let Ok(found) = self.eyes.find(&name).await else { continue };
                let same = |it: &Candidate| {
                    let empty = it.rect.width == 0 || it.rect.height == 0;
                    words(&it.name) == words(&name) && !it.off_screen && !empty
                };
                targets.found.extend(found.into_iter().filter(same));
                if targets.found.len() > before {
                    break;
                }
            }
            targets.complete &= targets.found.len() > before;
        }
        targets.found.truncate(MOST);
        targets
    }

    /// Whether the next part is what matters: this one has evidence, or, if it cannot be checked, what it names first
    /// was used.
    pub(super) fn is_passed(&self, clause: &Clause) -> bool {
        let used = |name: &str| {
            let hits = self.performed.iter().filter(|act| act.changed());
            let mut hits = hits.filter_map(|act| act.hit.as_ref());
            hits.any(|hit| words(&hit.name) == words(name))
        };
        match clause {
            Clause::Other(text) => quotes(text).first().is_some_and(|name| used(name)),
            clause => is_done(clause, self.seen()),
        }
    }

    /// What the next part names, with the names that each may have.
    fn wanted(&self) -> Vec<Vec<String>> {
        let mut parts = self.clauses.iter().zip(split(&self.goal.instruction));
        let next = parts.find(|(clause, _)| !self.is_passed(clause));
        let Some((clause, text)) = next else { return Vec::new() };
        let quoted = || quotes(&text).into_iter().map(|name| vec![name]);
        match clause {
            Clause::Enter { field: Some(field), .. } => vec![field.names()],
            // What is quoted in it is the text.
            Clause::Enter { field: None, .. } => Vec::new(),
            Clause::Use { element, .. }
            | Clause::Check { element, .. }
            | Clause::Focus(element) => {
                let others = quoted().filter(|names| !names.contains(&element.name));
                std::iter::once(element.names()).chain(others).collect()
            }
            _ => quoted().collect(),
        }
    }
}

impl Targets {
    /// The part of the screen with all of them and what changed, if that is much less than the screen.
    pub(super) fn region(&self, screen: (u32, u32), changed: Option<Rect>) -> Option<Rect> {
        let rects = self.found.iter().map(|it| it.rect).chain(changed);
        let all = rects.map(Edges::of).reduce(Edges::with)?;
        if !self.complete {
            return None;
        }
        let part = all.within(screen);
        let area = i64::from(part.width) * i64::from(part.height);
        let whole = i64::from(screen.0) * i64::from(screen.1);
        (area * 10 <= whole * MOST_OF_THE_SCREEN).then_some(part)
    }
}

/// The part of the screen around a point.
pub(super) fn around(at: Pixel, screen: (u32, u32)) -> Rect {
    Edges::of(Rect { x: at.x, y: at.y, width: 1, height: 1 }).within(screen)
}

/// The part of the screen around rectangles.
pub(super) fn around_all(rects: &[Rect], screen: (u32, u32)) -> Option<Rect> {
    rects.iter().copied().map(Edges::of).reduce(Edges::with).map(|edges| edges.within(screen))
}

#[derive(Clone, Copy)]
struct Edges {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Edges {
    fn of(rect: Rect) -> Self {
        let (left, top) = (i64::from(rect.x), i64::from(rect.y));
        let (right, bottom) = (left + i64::from(rect.width), top + i64::from(rect.height));
        Self { left, top, right, bottom }
    }

    fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// With something around it, on a screen of this size.
    fn within(self, screen: (u32, u32)) -> Rect {
        let side = |from: i64, to: i64, least: i64, screen: u32| {
            let screen = i64::from(screen);
            let from = from.clamp(0, screen);
            let to = to.clamp(from, screen);
            let length = (to - from + 2 * AROUND).max(least).min(screen);
            let start = (i64::midpoint(from, to) - length / 2).clamp(0, screen - length);
            (i32::try_from(start).unwrap_or(0), u32::try_from(length).unwrap_or(0))
        };
        let (x, width) = side(self.left, self.right, LEAST.0, screen.0);
        let (y, height) = side(self.top, self.bottom, LEAST.1, screen.1);
        Rect { x, y, width, height }
    }
}

/// All quoted texts.
pub(super) fn quotes(text: &str) -> Vec<String> {
    let text = text.replace(['“', '”'], "\"");
    let quoted = text.split('"').skip(1).step_by(2).map(str::trim);
    quoted.filter(|text| !words(text).is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: (u32, u32) = (1280, 800);

    fn targets(rects: &[(i32, i32, u32, u32)]) -> Targets {
        let found = rects.iter().map(|(x, y, width, height)| Candidate {
            rect: Rect { x: *x, y: *y, width: *width, height: *height },
            ..Candidate::default()
        });
        Targets { found: found.collect(), complete: true }
    }

    #[test]
    fn a_part_shows_all_candidates_and_stays_on_the_screen() {
        let part = targets(&[(10, 10, 30, 20), (600, 50, 30, 20)]).region(SCREEN, None);
        assert_eq!(part, Some(Rect { x: 0, y: 0, width: 700, height: 288 }));
        let corner = targets(&[(1270, 790, 10, 10)]).region(SCREEN, None);
        assert_eq!(corner, Some(Rect { x: 896, y: 512, width: 384, height: 288 }));
        let changed = Some(Rect { x: 0, y: 0, width: 1200, height: 700 });
        assert_eq!(targets(&[(10, 10, 30, 20)]).region(SCREEN, changed), None);
        assert_eq!(Targets::default().region(SCREEN, None), None);
    }

    #[test]
    fn what_is_quoted_is_named() {
        assert_eq!(quotes("Click \"Buy\" in the row “Apple”"), ["Buy", "Apple"]);
        assert!(quotes("Click Buy").is_empty());
    }
}
