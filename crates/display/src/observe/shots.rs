//! Remembers pictures by their id: what part of the screen they show, and a fingerprint.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;

use super::{rect::Rect, similarity::Prints};

/// Limit on remembered pictures.
const MAX_SHOTS: usize = 64;

/// A fingerprint that may be computed later.
pub type LatePrints = Arc<OnceLock<Prints>>;

/// What is known of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct ShotFacts {
    /// Its id, for example `shot-12`.
    pub id: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Screen coordinates of its top left corner.
    pub origin: (u32, u32),
    /// Picture pixels per screen pixel.
    pub scale: f64,
}

/// The last pictures of a session.
#[derive(Debug, Default)]
pub struct Shots {
    known: Mutex<VecDeque<Known>>,
}

#[derive(Debug)]
struct Known {
    facts: ShotFacts,
    /// `None` if it does not show the whole screen.
    prints: Option<LatePrints>,
    /// Whether the caller received the picture itself.
    sent: bool,
}

impl ShotFacts {
    /// A part of the screen as a picture of this size.
    pub fn of_part(id: String, part: &Rect, (width, height): (u32, u32)) -> Self {
        // Parts begin at the corner of the screen, or to the right and below.
        let origin = (part.x.max(0).unsigned_abs(), part.y.max(0).unsigned_abs());
        let scale = f64::from(width) / f64::from(part.width.max(1));
        Self { id, width, height, origin, scale }
    }

    /// The point of the screen that a point of the picture shows; `None` if it is outside.
    pub fn on_screen(&self, x: i32, y: i32) -> Option<(i32, i32)> {
        let inside = |at: i32, length: u32| u32::try_from(at).is_ok_and(|at| at < length);
        let shown = |at: i32, origin: u32| {
            // The centre of the pixel, so that scaled pictures are not off to one side.
            let at = (f64::from(at) + 0.5) / self.scale;
            origin.saturating_add(at.max(0.0) as u32)
        };
        let (left, top) = self.origin;
        let known = inside(x, self.width) && inside(y, self.height) && self.scale > 0.0;
        let at = known.then(|| (shown(x, left), shown(y, top)))?;
        Some((i32::try_from(at.0).ok()?, i32::try_from(at.1).ok()?))
    }
}

impl Shots {
    /// Remembers a picture. `sent` says whether the caller receives it.
    pub fn add(&self, facts: ShotFacts, prints: Option<LatePrints>, sent: bool) {
        let mut known = self.known.lock();
        if known.len() == MAX_SHOTS {
            known.pop_front();
        }
        known.push_back(Known { facts, prints, sent });
    }

    /// What is known of a picture; `None` if it is unknown or too old.
    pub fn get(&self, id: &str) -> Option<ShotFacts> {
        self.known.lock().iter().rev().find(|shot| shot.facts.id == id).map(|s| s.facts.clone())
    }

    /// The fingerprint of a picture of the whole screen.
    pub fn prints(&self, id: &str) -> Option<Prints> {
        let known = self.known.lock();
        known.iter().rev().find(|shot| shot.facts.id == id)?.prints.as_ref()?.get().cloned()
    }

    /// The last picture that shows the same, outside of `ignored`: one that was sent, if there is.
    pub fn same_as(&self, prints: &Prints, ignored: &[Rect]) -> Option<String> {
        let known = self.known.lock();
        let same = |shot: &&Known| {
            let of = shot.prints.as_ref().and_then(|prints| prints.get());
            of.is_some_and(|of| of.same(prints, ignored))
        };
        let mut all = known.iter().rev().filter(same);
        let newest = all.next()?;
        let sent = if newest.sent { Some(newest) } else { all.find(|shot| shot.sent) };
        Some(sent.unwrap_or(newest).facts.id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::canvas::Canvas;

    fn facts(id: &str, scale: f64) -> ShotFacts {
        ShotFacts { id: id.into(), width: 100, height: 50, origin: (10, 20), scale }
    }

    fn prints(colour: u8) -> Prints {
        Prints::of(&Canvas::new(4, 4, &[colour; 64]))
    }

    fn ready(prints: Prints) -> LatePrints {
        let late = LatePrints::default();
        late.set(prints).unwrap();
        late
    }

    #[test]
    fn points_of_a_picture_map_to_the_screen() {
        assert_eq!(facts("a", 1.0).on_screen(5, 6), Some((15, 26)));
        // Half the size: each pixel shows two.
        assert_eq!(facts("a", 0.5).on_screen(5, 6), Some((21, 33)));
        assert_eq!(facts("a", 2.0).on_screen(5, 6), Some((12, 23)));
        for outside in [(100, 0), (0, 50), (-1, 0)] {
            assert_eq!(facts("a", 1.0).on_screen(outside.0, outside.1), None);
        }
    }

    #[test]
    fn the_last_picture_that_was_sent_and_looks_the_same_is_named() {
        let shots = Shots::default();
        shots.add(facts("shot-1", 1.0), Some(ready(prints(1))), true);
        shots.add(facts("shot-2", 1.0), Some(ready(prints(2))), true);
        shots.add(facts("shot-3", 1.0), Some(ready(prints(1))), false);
        shots.add(facts("shot-4", 1.0), Some(LatePrints::default()), true);
        shots.add(facts("shot-5", 1.0), None, true);
        assert_eq!(shots.same_as(&prints(1), &[]).as_deref(), Some("shot-1"));
        assert_eq!(shots.same_as(&prints(2), &[]).as_deref(), Some("shot-2"));
        assert_eq!(shots.same_as(&prints(3), &[]), None);
    }

    #[test]
    fn only_the_last_pictures_are_remembered() {
        let shots = Shots::default();
        for nth in 0..=MAX_SHOTS {
            shots.add(facts(&format!("shot-{nth}"), 1.0), None, true);
        }
        assert_eq!(shots.get("shot-0"), None);
        assert_eq!(shots.get("shot-1").map(|shot| shot.id).as_deref(), Some("shot-1"));
    }
}
