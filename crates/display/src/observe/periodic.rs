//! Recognises what changes on its own, again and again: carets, spinners, clocks, videos. Pure.
//!
//! Each place that changes is a [`Track`] with the times of its changes. A track is periodic if the
//! times have a rhythm. What has lost its rhythm counts again: a spinner that became a result.

#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::rect::Rect;

/// Limit on places that are remembered.
const MAX_TRACKS: usize = 64;
/// Limit on remembered times of a place.
const MAX_TIMES: usize = 128;
/// Limit on remembered parts of a place that changed.
const MAX_PARTS: usize = 256;
/// Limit on remembered appearances of a place.
const MAX_LOOKS: usize = 8;
/// A change this near to a place belongs to it.
const SLACK: i32 = 8;
/// A change may make a place grow by this factor and these pixels, while it is not periodic.
const GROWTH: (u64, u64) = (4, 4096);

/// An animation is recognised after this many changes and this time.
const STEADY: (usize, Duration) = (12, Duration::from_millis(1000));
/// The same for a place that was an animation before.
const STEADY_AGAIN: (usize, Duration) = (6, Duration::from_millis(250));
/// Pauses of an animation are not longer.
const STEADY_GAP: Duration = Duration::from_millis(250);
/// An animation without a change for this long, or for four of its usual pauses, or for half more than
/// its longest one, has ended.
const STOPPED: Duration = Duration::from_millis(120);
/// The pauses of what blinks.
const BLINK: (Duration, Duration) = (Duration::from_millis(200), Duration::from_millis(1500));
/// How much the ticks of a clock may come too early or too late.
const TICK_ERROR: Duration = Duration::from_millis(80);
/// The largest width, and the smallest and largest height of a text cursor.
const CARET: (u32, u32, u32) = (3, 8, 64);
/// The largest side of a spinner.
const SPINNER: u32 = 160;
/// The smallest size of a video.
const VIDEO: (u32, u32) = (160, 90);

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

#[derive(Debug)]
struct Track {
    rect: Rect,
    /// When it changed, in order.
    times: VecDeque<Instant>,
    /// The parts of it that changed last.
    parts: VecDeque<(Instant, Rect)>,
    /// Hashes of how it looked after the last changes.
    looks: VecDeque<u64>,
    /// When it last became larger.
    grown: Instant,
    /// Whether it was an animation before.
    known: bool,
    kind: Option<Kind>,
}

impl Tracker {
    /// Notes changes at one moment. `look` gives the hash of a part of the screen.
    pub fn note(&mut self, at: Instant, changes: &[Rect], look: &dyn Fn(&Rect) -> u64) {
        for change in changes {
            let track = match self.place(change, at) {
                Some(track) => track,
                None => self.begin(*change, at),
            };
            track.note(*change, at);
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
            track.is_periodic(now)
                && (track.is_endless() || track.looks.contains(&look(&track.rect)))
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
        self.tracks.push(Track {
            rect,
            times: VecDeque::new(),
            parts: VecDeque::new(),
            looks: VecDeque::new(),
            grown: at,
            known: false,
            kind: None,
        });
        // There is at least the one just added.
        let last = self.tracks.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was just added")]
        &mut self.tracks[last]
    }
}

impl Track {
    fn note(&mut self, change: Rect, at: Instant) {
        if !self.rect.contains(&change) {
            self.rect = self.rect.union(&change);
            self.looks.clear();
            // A known animation may move a little.
            if !self.known {
                self.grown = at;
            }
        }
        if self.last() != Some(at) {
            if self.times.len() == MAX_TIMES {
                self.times.pop_front();
            }
            self.times.push_back(at);
        }
        if self.parts.len() == MAX_PARTS {
            self.parts.pop_front();
        }
        self.parts.push_back((at, change));
    }

    fn looked(&mut self, look: u64) {
        if self.looks.len() == MAX_LOOKS {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    fn last(&self) -> Option<Instant> {
        self.times.back().copied()
    }

    /// The pauses between changes, the last first.
    fn gaps(&self) -> impl Iterator<Item = Duration> {
        let later = self.times.iter().rev();
        later.zip(self.times.iter().rev().skip(1)).map(|(later, earlier)| *later - *earlier)
    }

    fn median_gap(&self, last: usize) -> Duration {
        let mut gaps: Vec<_> = self.gaps().take(last).collect();
        gaps.sort_unstable();
        gaps.get(gaps.len() / 2).copied().unwrap_or_default()
    }

    /// The longest pause lately: on a busy machine, animations falter.
    fn longest_gap(&self) -> Duration {
        self.gaps().take(15).filter(|gap| *gap <= STEADY_GAP).max().unwrap_or_default()
    }

    fn period(&self) -> Duration {
        self.median_gap(15)
    }

    /// Decides what the place is, after a change. Returns the last change that was elsewhere, if the
    /// place is found to be smaller.
    fn judge(&mut self) -> Option<Instant> {
        self.kind = self
            .caret()
            .or_else(|| self.steady())
            .or_else(|| self.blinks())
            .or_else(|| self.ticks());
        let new = self.kind.is_some() && !self.known;
        self.known |= self.kind.is_some();
        if new { self.shrink() } else { None }
    }

    /// Leaves out what does not share the rhythm: a window is drawn before its spinner turns, and a
    /// caret blinks beside it.
    fn shrink(&mut self) -> Option<Instant> {
        let animated = matches!(self.kind, Some(Kind::Spinner | Kind::Video | Kind::Animation));
        let last = self.last()?;
        if !animated || self.period() >= BLINK.0 {
            return None;
        }
        let lately = self.parts.iter().rev().take_while(|(at, _)| last - *at <= STEADY.1 / 2);
        // Places, each with how often it changed.
        let mut places: Vec<(Rect, usize)> = Vec::new();
        for (_, part) in lately {
            let (mut whole, mut times) = (*part, 1);
            while let Some(index) = places.iter().position(|(place, _)| touch(place, &whole)) {
                let (place, count) = places.swap_remove(index);
                (whole, times) = (whole.union(&place), times + count);
            }
            places.push((whole, times));
        }
        let (rect, _) = places.into_iter().max_by_key(|(_, times)| *times)?;
        if rect == self.rect {
            return None;
        }
        self.rect = rect;
        self.looks.clear();
        self.kind = Some(self.animation());
        let outside = self.parts.iter().filter(|(_, part)| !rect.contains(part));
        outside.map(|(at, _)| *at).max()
    }

    /// A narrow upright line that comes and goes is a text cursor: no need to wait for a rhythm.
    fn caret(&self) -> Option<Kind> {
        (is_line(&self.rect) && self.distinct_looks() <= 2).then_some(Kind::Caret)
    }

    fn distinct_looks(&self) -> usize {
        let mut looks: Vec<_> = self.looks.iter().collect();
        looks.sort_unstable();
        looks.dedup();
        looks.len()
    }

    fn steady(&self) -> Option<Kind> {
        let (count, time) = if self.known { STEADY_AGAIN } else { STEADY };
        let mut span = Duration::ZERO;
        let mut changes = 1;
        for gap in self.gaps().take_while(|gap| *gap <= STEADY_GAP) {
            span += gap;
            changes += 1;
        }
        let settled = self.last().is_some_and(|last| last - self.grown >= time / 2);
        (changes >= count && span >= time && settled).then(|| self.animation())
    }

    fn animation(&self) -> Kind {
        let Rect { width, height, .. } = self.rect;
        let squarish = width <= 2 * height && height <= 2 * width;
        if width.max(height) <= SPINNER && squarish {
            Kind::Spinner
        } else if width >= VIDEO.0 && height >= VIDEO.1 {
            Kind::Video
        } else {
            Kind::Animation
        }
    }

    /// Two looks that take turns.
    fn blinks(&self) -> Option<Kind> {
        let median = self.median_gap(3);
        let even = |gap: Duration| gap.abs_diff(median) <= median.mul_f64(0.35);
        let rhythm = self.gaps().take(3).filter(|gap| even(*gap)).count() == 3;
        let looks: Vec<_> = self.looks.iter().rev().take(4).collect();
        let turns = match looks.as_slice() {
            [a, b, c, d] => a == c && b == d && a != b,
            _ => false,
        };
        let slow = (BLINK.0..=BLINK.1).contains(&median);
        (rhythm && turns && slow).then_some(Kind::Animation)
    }

    /// Changes a whole number of seconds apart.
    fn ticks(&self) -> Option<Kind> {
        let whole = |gap: Duration| {
            let seconds = gap.as_secs_f64().round();
            seconds >= 1.0 && gap.abs_diff(Duration::from_secs_f64(seconds)) <= TICK_ERROR
        };
        let gaps: Vec<_> = self.gaps().take(2).collect();
        (gaps.len() == 2 && gaps.iter().all(|gap| whole(*gap))).then_some(Kind::Clock)
    }

    /// Whether every change shows something new.
    fn is_endless(&self) -> bool {
        match self.kind {
            Some(Kind::Clock) => true,
            Some(_) => self.distinct_looks() > MAX_LOOKS / 2,
            None => false,
        }
    }

    /// Whether it still changes on its own.
    fn is_periodic(&self, now: Instant) -> bool {
        match self.kind {
            None => false,
            Some(Kind::Caret | Kind::Clock) => true,
            Some(Kind::Spinner | Kind::Video | Kind::Animation) => {
                let pause = (4 * self.period()).max(self.longest_gap() * 3 / 2).max(STOPPED);
                self.last().is_some_and(|last| now.saturating_duration_since(last) <= pause)
            }
        }
    }

    fn describe(&self) -> Option<Periodic> {
        Some(Periodic { rect: self.rect, period: self.period(), kind: self.kind? })
    }
}

/// Whether two places are one.
fn touch(one: &Rect, other: &Rect) -> bool {
    one.inflated(SLACK).intersection(other).is_some()
}

/// Whether a change has the shape of a text cursor.
fn is_line(rect: &Rect) -> bool {
    let (width, low, high) = CARET;
    rect.width <= width && (low..=high).contains(&rect.height)
}
