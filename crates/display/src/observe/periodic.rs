//! Recognises what changes on its own, again and again: carets, spinners, clocks, videos. Pure.
//!
//! Each place that changes is a [`Track`] with the times of its changes. A track is periodic if the
//! times have a rhythm. What has lost its rhythm counts again: a spinner that became a result.

#[cfg(test)]
mod tests;
mod track;

use std::time::{Duration, Instant};

use self::track::{Track, is_line};
use super::rect::Rect;

/// Limit on places that are remembered.
const MAX_TRACKS: usize = 64;
/// A change this near to a place belongs to it.
const SLACK: i32 = 8;
/// A change may make a place grow by this factor and these pixels, while it is not periodic.
const GROWTH: (u64, u64) = (4, 4096);
/// The pauses of what blinks.
const BLINK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(1500));

/// What a periodic place shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text cursor that blinks.
    Caret,
    /// A small animation.
    Spinner,
    /// Something that changes with the seconds.
    Clock,
    /// A large picture that keeps changing.
    Video,
    /// Any other animation.
    Animation,
}

/// A place that changes on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periodic {
    /// Where it is.
    pub rect: Rect,
    /// The usual time between two changes.
    pub period: Duration,
    /// What it shows.
    pub kind: Kind,
}

/// All places that changed lately.
#[derive(Debug, Default)]
pub struct Tracker {
    tracks: Vec<Track>,
    /// The last change of places that are no longer remembered.
    forgotten: Option<Instant>,
}

impl Tracker {
    /// Notes changes at one moment. `caused` says whether an action may have caused them: actions
    /// that are repeated make no rhythm. `look` gives the hash of a part of the screen.
    pub fn note(
        &mut self,
        at: Instant,
        changes: &[Rect],
        caused: bool,
        look: &dyn Fn(&Rect) -> u64,
    ) {
        for change in changes {
            let track = match self.place(change, at) {
                Some(track) => track,
                None => self.begin(*change, at),
            };
            track.note(*change, at, caused);
        }
        for track in &mut self.tracks {
            if track.last() == Some(at) {
                track.looked(look(&track.rect));
                let outside = track.judge();
                self.forgotten = self.forgotten.max(outside);
            }
        }
    }

    /// The last change since `since` that does not belong to a periodic place.
    pub fn last_change(&self, since: Instant, now: Instant, given: &[Periodic]) -> Option<Instant> {
        let counts = |track: &&Track| {
            !track.is_periodic(now)
                && !given.iter().any(|place| place.rect.inflated(SLACK).contains(&track.rect))
        };
        let last = self.tracks.iter().filter(counts).filter_map(Track::last);
        last.chain(self.forgotten).filter(|last| *last >= since).max()
    }

    /// The periodic places that changed since `since`, or are just pausing.
    pub fn periodic(&self, since: Instant, now: Instant) -> Vec<Periodic> {
        let lately = |track: &&Track| {
            let period = track.period();
            track.is_periodic(now) && track.last().is_some_and(|last| last + 2 * period >= since)
        };
        self.tracks.iter().filter(lately).filter_map(Track::describe).collect()
    }

    /// The periodic places whose current look, by its hash, was there before or is one of endlessly
    /// many.
    pub fn unchanged(&self, now: Instant, look: &dyn Fn(&Rect) -> u64) -> Vec<Rect> {
        let same = |track: &&Track| {
            track.is_periodic(now) && (track.is_endless() || track.has_looked(look(&track.rect)))
        };
        self.tracks.iter().filter(same).map(|track| track.rect).collect()
    }

    /// Forgets everything, because the screen is another.
    pub fn clear(&mut self) {
        self.tracks.clear();
    }

    /// The place that a change belongs to.
    fn place(&mut self, change: &Rect, at: Instant) -> Option<&mut Track> {
        // The focus ring of a field changes first, and later a caret blinks inside it. The parts of
        // an animation change in quick succession.
        let blinks_alone = |track: &Track| {
            let pause = track.last().map(|last| at.saturating_duration_since(last));
            is_line(change)
                && !is_line(&track.rect)
                && track.kind.is_none()
                && pause.is_some_and(|pause| pause >= BLINK.0)
        };
        let inside =
            |track: &Track| track.rect.inflated(SLACK).contains(change) && !blinks_alone(track);
        let around = |track: &Track| {
            track.kind.is_none()
                && change.inflated(SLACK).contains(&track.rect)
                && change.area() <= GROWTH.0 * track.rect.area() + GROWTH.1
        };
        let smallest = |found: Option<usize>, index: usize, tracks: &[Track]| {
            let area = |index: usize| tracks.get(index).map_or(u64::MAX, |track| track.rect.area());
            match found {
                Some(found) if area(found) <= area(index) => Some(found),
                _ => Some(index),
            }
        };
        let mut found = None;
        for (index, track) in self.tracks.iter().enumerate() {
            if inside(track) {
                found = smallest(found, index, &self.tracks);
            }
        }
        let found = found.or_else(|| self.tracks.iter().position(around));
        found.and_then(|index| self.tracks.get_mut(index))
    }

    fn begin(&mut self, rect: Rect, at: Instant) -> &mut Track {
        if self.tracks.len() >= MAX_TRACKS {
            let oldest = self.tracks.iter().enumerate().min_by_key(|(_, track)| track.last());
            if let Some((index, _)) = oldest {
                let gone = self.tracks.swap_remove(index);
                let last = gone.last().filter(|_| gone.kind.is_none());
                self.forgotten = self.forgotten.max(last);
            }
        }
        self.tracks.push(Track::new(rect, at));
        // There is at least the one just added.
        let last = self.tracks.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was just added")]
        &mut self.tracks[last]
    }
}
