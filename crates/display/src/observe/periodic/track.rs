//! One place that changes, with the times of its changes: what it is, by their rhythm. Pure.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{BLINK, Kind, Periodic, SLACK};
use crate::observe::rect::Rect;

/// Limit on remembered times of a place.
const MAX_TIMES: usize = 128;
/// Limit on remembered parts of a place that changed.
const MAX_PARTS: usize = 256;
/// Limit on remembered appearances of a place.
const MAX_LOOKS: usize = 8;
/// An animation is recognised after this many changes and this time.
const STEADY: (usize, Duration) = (12, Duration::from_millis(1000));
/// The same for a place that was an animation before.
const STEADY_AGAIN: (usize, Duration) = (6, Duration::from_millis(250));
/// Pauses of an animation are not longer.
const STEADY_GAP: Duration = Duration::from_millis(250);
/// An animation without a change for this long, or for four of its usual pauses, or for half more than
/// its longest one, has ended.
const STOPPED: Duration = Duration::from_millis(120);
/// How much the ticks of a clock may come too early or too late.
const TICK_ERROR: Duration = Duration::from_millis(80);
/// A clock is recognised after this many ticks, which are not longer apart, in a place that is not
/// larger than this many pixels.
const CLOCK: (usize, Duration, u64) = (4, Duration::from_secs(61), 160_000);
/// The largest width, and the smallest and largest height of a text cursor.
const CARET: (u32, u32, u32) = (3, 8, 64);
/// The largest side of a spinner.
const SPINNER: u32 = 160;
/// The smallest size of a video.
const VIDEO: (u32, u32) = (160, 90);

#[derive(Debug)]
pub(super) struct Track {
    pub(super) rect: Rect,
    /// When it changed, in order.
    times: VecDeque<Instant>,
    /// The parts of it that changed last.
    parts: VecDeque<(Instant, Rect)>,
    /// Hashes of how it looked after the last changes.
    looks: VecDeque<u64>,
    /// When it last became larger.
    grown: Instant,
    /// The last times that no action caused.
    ticks: VecDeque<Instant>,
    /// The last change that an action may have caused.
    caused: Option<Instant>,
    /// Whether it was an animation before.
    known: bool,
    pub(super) kind: Option<Kind>,
}

impl Track {
    pub(super) fn new(rect: Rect, at: Instant) -> Self {
        Self {
            rect,
            times: VecDeque::new(),
            parts: VecDeque::new(),
            looks: VecDeque::new(),
            grown: at,
            ticks: VecDeque::new(),
            caused: None,
            known: false,
            kind: None,
        }
    }

    pub(super) fn note(&mut self, change: Rect, at: Instant, caused: bool) {
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
            self.note_tick(at, caused);
        }
        if self.parts.len() == MAX_PARTS {
            self.parts.pop_front();
        }
        self.parts.push_back((at, change));
    }

    fn note_tick(&mut self, at: Instant, caused: bool) {
        if !caused {
            if self.ticks.len() == CLOCK.0 {
                self.ticks.pop_front();
            }
            self.ticks.push_back(at);
            return;
        }
        self.caused = Some(at);
        // It may be a tick all the same.
        if !self.ticks.back().is_some_and(|last| is_whole(at - *last)) {
            self.ticks.clear();
        }
    }

    pub(super) fn looked(&mut self, look: u64) {
        if self.looks.len() == MAX_LOOKS {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    /// Whether it looked like this lately.
    pub(super) fn has_looked(&self, look: u64) -> bool {
        self.looks.contains(&look)
    }

    pub(super) fn last(&self) -> Option<Instant> {
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

    pub(super) fn period(&self) -> Duration {
        self.median_gap(15)
    }

    /// Decides what the place is, after a change. Returns the last change that was elsewhere, if the
    /// place is found to be smaller.
    pub(super) fn judge(&mut self) -> Option<Instant> {
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
        // Actions in quick succession make no animation: that goes on without them.
        let by_itself = |at: &&Instant| self.known || Some(**at) > self.caused;
        let alone = self.times.iter().rev().take_while(by_itself).count();
        let mut span = Duration::ZERO;
        let mut changes = alone.min(1);
        let gaps = self.gaps().take(alone.saturating_sub(1));
        for gap in gaps.take_while(|gap| *gap <= STEADY_GAP) {
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
        // A check box that is clicked again and again takes turns as well.
        let by_itself = self.kind == Some(Kind::Animation)
            || self.times.iter().rev().take(4).all(|at| Some(*at) > self.caused);
        (rhythm && turns && slow && by_itself).then_some(Kind::Animation)
    }

    /// Changes a whole number of seconds apart.
    fn ticks(&self) -> Option<Kind> {
        let (count, longest, area) = CLOCK;
        if self.kind == Some(Kind::Clock) {
            // It may not have been watched for a long time.
            return self.gaps().next().is_some_and(is_whole).then_some(Kind::Clock);
        }
        let mut gaps = self.ticks.iter().zip(self.ticks.iter().skip(1));
        let even = |(earlier, later): (&Instant, &Instant)| {
            let gap = *later - *earlier;
            is_whole(gap) && gap <= longest
        };
        let ticks = self.ticks.len() == count && self.rect.area() <= area;
        (ticks && gaps.all(even)).then_some(Kind::Clock)
    }

    /// Whether every change shows something new.
    pub(super) fn is_endless(&self) -> bool {
        match self.kind {
            Some(Kind::Clock) => true,
            Some(_) => self.distinct_looks() > MAX_LOOKS / 2,
            None => false,
        }
    }

    /// Whether it still changes on its own.
    pub(super) fn is_periodic(&self, now: Instant) -> bool {
        match self.kind {
            None => false,
            Some(Kind::Caret | Kind::Clock) => true,
            Some(Kind::Spinner | Kind::Video | Kind::Animation) => {
                let pause = (4 * self.period()).max(self.longest_gap() * 3 / 2).max(STOPPED);
                self.last().is_some_and(|last| now.saturating_duration_since(last) <= pause)
            }
        }
    }

    pub(super) fn describe(&self) -> Option<Periodic> {
        Some(Periodic { rect: self.rect, period: self.period(), kind: self.kind? })
    }
}

/// Whether it is a whole number of seconds.
fn is_whole(gap: Duration) -> bool {
    let seconds = gap.as_secs_f64().round();
    seconds >= 1.0 && gap.abs_diff(Duration::from_secs_f64(seconds)) <= TICK_ERROR
}

/// Whether two places are one.
fn touch(one: &Rect, other: &Rect) -> bool {
    one.inflated(SLACK).intersection(other).is_some()
}

/// Whether a change has the shape of a text cursor.
pub(super) fn is_line(rect: &Rect) -> bool {
    let (width, low, high) = CARET;
    rect.width <= width && (low..=high).contains(&rect.height)
}
