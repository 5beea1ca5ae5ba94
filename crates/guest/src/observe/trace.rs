//! The trace of a session: what happened, in one order, and small pictures of it.
//!
//! Memory is limited: old entries and pictures are dropped. Events of pages are kept by the browser
//! and merged when the trace is read.

#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use helmdeck_browser::PageEvent;
use helmdeck_display::{
    Display,
    observe::{Canvas, Rect, SeenWindows},
};
use helmdeck_task::block_in_place;
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    aim::Hit,
    browser::without_secrets,
    observe::{Effect, Observation, TracePictures},
    point::{Pixel, Rect as WireRect},
    trace::{ReadTrace, TraceEntry, TraceKind, TraceLog},
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{sync::Notify, time::sleep};

use crate::error::GuestError;

/// Limit on kept entries.
const MAX_ENTRIES: usize = 2000;
/// Limit on the bytes of kept pictures.
const MAX_BYTES: usize = 8 << 20;
/// The side of a picture, in pixels.
const SIDE: u32 = 240;
/// Pixels around what a picture shows.
const MARGIN: i32 = 32;
/// The size of a picture around a point.
const AROUND: i32 = 100;
/// What is within this many pixels of a point is near it.
const NEAR: i32 = 100;
/// Entries of a reply, if the request names no number.
const LIMIT: u32 = 200;
/// Windows are compared again this long after a change: several changes are one.
const PAUSE: Duration = Duration::from_millis(100);
/// How long a picture that is being made is waited for, and how often it is looked for.
const MAKING: Duration = Duration::from_secs(2);
const MAKING_PAUSE: Duration = Duration::from_millis(30);
/// The longest address of an entry, in characters.
const MAX_URL: usize = 500;
/// How long to wait after a lost connection.
const AGAIN: Duration = Duration::from_secs(1);

/// A cheap handle to the trace.
#[derive(Clone)]
pub struct Trace {
    shared: Arc<Shared>,
}

struct Shared {
    started: Instant,
    kept: Mutex<Kept>,
    /// Notified when windows or their focus change.
    windows: Notify,
}

#[derive(Default)]
struct Kept {
    last: u64,
    /// Increases when an entry is added or changed.
    revision: u64,
    entries: VecDeque<KeptEntry>,
    pictures: VecDeque<(String, Bytes)>,
    /// Entries whose pictures are being made.
    making: Vec<u64>,
    bytes: usize,
}

struct KeptEntry {
    /// The revision of its last change.
    revision: u64,
    entry: TraceEntry,
}

/// The entry of an action under way. It is cancelled if it is dropped before its end.
pub struct Entry {
    trace: Trace,
    id: u64,
    at: Instant,
    ended: bool,
}

/// What an observation adds to the entry of its action.
#[derive(Debug, Default)]
pub struct ActionTrace {
    acted_at: Option<Pixel>,
    hit: Option<Hit>,
    effect: Option<Effect>,
    regions: Vec<WireRect>,
    settle_ms: Option<u32>,
}

/// The screen before and after an action, for small pictures.
pub struct Crops {
    pub before: Arc<Canvas>,
    pub after: Arc<Canvas>,
    pub regions: Vec<Rect>,
    pub at: Option<Pixel>,
}

impl Default for Trace {
    fn default() -> Self {
        let (kept, windows) = (Mutex::default(), Notify::new());
        let shared = Shared { started: Instant::now(), kept, windows };
        Self { shared: Arc::new(shared) }
    }
}

impl Trace {
    /// Notes the beginning of an action.
    pub fn begin(&self, action: &str, detail: Value) -> Entry {
        let mut entry = TraceEntry::new(TraceKind::Action);
        (entry.action, entry.detail) = (Some(action.to_owned()), detail);
        let at = Instant::now();
        Entry { trace: self.clone(), id: self.add(entry, at), at, ended: false }
    }

    fn add(&self, mut entry: TraceEntry, at: Instant) -> u64 {
        let mut kept = self.shared.kept.lock();
        kept.last += 1;
        kept.revision += 1;
        entry.id = kept.last;
        entry.at_ms = self.ms(at);
        if kept.entries.len() == MAX_ENTRIES {
            kept.entries.pop_front();
        }
        let revision = kept.revision;
        kept.entries.push_back(KeptEntry { revision, entry });
        kept.last
    }

    fn ms(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.shared.started);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut TraceEntry)) {
        let mut kept = self.shared.kept.lock();
        let revision = kept.revision + 1;
        if let Some(kept) = kept.entries.iter_mut().rev().find(|kept| kept.entry.id == id) {
            change(&mut kept.entry);
            kept.revision = revision;
        }
        kept.revision = revision;
    }

    /// The part of the trace that a reader wants.
    pub fn read(&self, wanted: &ReadTrace) -> TraceLog {
        let near = wanted.point();
        let limit = wanted.limit.unwrap_or(LIMIT) as usize;
        let kept = self.shared.kept.lock();
        let since = wanted.since.unwrap_or_default();
        let entries = kept.entries.iter().filter(|kept| kept.revision > since);
        let mut wanted_entries: Vec<_> =
            entries.filter(|kept| is_near(&kept.entry, near)).collect();
        let mut next = kept.revision;
        if wanted.since.is_none() {
            wanted_entries.drain(..wanted_entries.len().saturating_sub(limit));
        } else if wanted_entries.len() > limit {
            // The reader continues after these.
            wanted_entries.sort_by_key(|kept| kept.revision);
            wanted_entries.truncate(limit);
            next = wanted_entries.last().map_or(next, |kept| kept.revision);
        }
        let mut entries: Vec<_> = wanted_entries.iter().map(|kept| kept.entry.clone()).collect();
        drop(wanted_entries);
        drop(kept);
        // Windows are noted a moment after they changed.
        entries.sort_by_key(|entry| (entry.at_ms, entry.id));
        TraceLog { entries, next, now_ms: self.ms(Instant::now()) }
    }

    /// A small JPEG picture. One that is being made is waited for.
    pub async fn picture(&self, id: &str) -> Result<Bytes, GuestError> {
        let until = Instant::now() + MAKING;
        loop {
            {
                let kept = self.shared.kept.lock();
                if let Some((_, jpeg)) = kept.pictures.iter().find(|(known, _)| known == id) {
                    return Ok(jpeg.clone());
                }
                let is_its = |entry: &u64| TracePictures::of_entry(*entry).has(id);
                if Instant::now() >= until || !kept.making.iter().any(is_its) {
                    break;
                }
            }
            sleep(MAKING_PAUSE).await;
        }
        let message = format!("there is no picture {id}: the trace keeps only the last ones");
        Err(GuestError::Refused(ErrorBody::new(ErrorCode::NotFound, message)))
    }

    fn keep(&self, id: String, jpeg: Vec<u8>) {
        let mut kept = self.shared.kept.lock();
        kept.bytes += jpeg.len();
        kept.pictures.push_back((id, jpeg.into()));
        while kept.bytes > MAX_BYTES {
            let Some((_, gone)) = kept.pictures.pop_front() else { break };
            kept.bytes = kept.bytes.saturating_sub(gone.len());
        }
    }

    /// Notes what happened in the browser.
    pub fn page(&self, event: PageEvent) {
        let (kind, tab, url) = match event {
            PageEvent::Navigated { tab, url } => (TraceKind::Navigated, Some(tab), Some(url)),
            PageEvent::TabOpened { tab, url } => (TraceKind::TabOpened, Some(tab), Some(url)),
            PageEvent::TabClosed { tab } => (TraceKind::TabClosed, Some(tab), None),
            PageEvent::Dialog { tab } => (TraceKind::Dialog, Some(tab), None),
            PageEvent::Download => (TraceKind::Download, None, None),
        };
        let mut entry = TraceEntry::new(kind);
        entry.tab = tab;
        // As in the details of actions.
        entry.url = url.map(|url| without_secrets(&url).chars().take(MAX_URL).collect());
        self.add(entry, Instant::now());
    }

    /// Waits until a window opened, closed, or got another title or the focus after this call, also
    /// if the future is polled later.
    pub fn windows_changed(&self) -> impl Future<Output = ()> + use<'_> {
        self.shared.windows.notified()
    }

    /// Notes what happened to windows.
    fn windows(&self, before: &SeenWindows, after: &SeenWindows, at: Instant) {
        let note = |kind: TraceKind, window: &helmdeck_display::observe::SeenWindow| {
            let mut entry = TraceEntry::new(kind);
            entry.window = Some(window.id.to_string());
            entry.regions = vec![window.rect.into()];
            entry.title = Some(window.title.clone());
            self.add(entry, at);
        };
        let find = |all: &'_ SeenWindows, id: u32| all.windows.iter().position(|w| w.id == id);
        for window in after.windows.iter().filter(|window| !window.panel) {
            let then = find(before, window.id).and_then(|index| before.windows.get(index));
            match then {
                None => note(TraceKind::WindowOpened, window),
                Some(then) if then.title != window.title => note(TraceKind::TitleChanged, window),
                Some(_) => {}
            }
        }
        for window in before.windows.iter().filter(|window| !window.panel) {
            if find(after, window.id).is_none() {
                note(TraceKind::WindowClosed, window);
            }
        }
        let active = after.active.filter(|active| before.active != Some(*active));
        if let Some(window) = after.windows.iter().find(|window| active == Some(window.id)) {
            note(TraceKind::FocusMoved, window);
        }
    }
}

impl Entry {
    /// Notes the end of the action.
    pub fn end(mut self, outcome: &str) {
        self.ended = true;
        self.note_end(outcome);
    }

    fn note_end(&self, outcome: &str) {
        let took = u64::try_from(self.at.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.trace.change(self.id, |entry| {
            (entry.duration_ms, entry.outcome) = (Some(took), Some(outcome.to_owned()));
        });
    }

    /// Notes where the action acts.
    pub fn acted_at(&self, at: Option<Pixel>) {
        if at.is_some() {
            self.trace.change(self.id, |entry| entry.acted_at = at);
        }
    }

    /// Adds what was observed, and pictures of it in the background. Returns their ids.
    pub fn observed(&self, seen: ActionTrace, crops: Option<Crops>) -> Option<TracePictures> {
        let ActionTrace { acted_at, hit, effect, regions, settle_ms } = seen;
        self.trace.change(self.id, |entry| {
            (entry.acted_at, entry.hit, entry.effect) = (acted_at, hit, effect);
            (entry.regions, entry.settle_ms) = (regions, settle_ms);
        });
        let crops = crops?;
        let rect = crops.rect()?;
        let (trace, id) = (self.trace.clone(), self.id);
        trace.shared.kept.lock().making.push(id);
        helmdeck_task::spawn(async move {
            block_in_place(|| crops.keep(&rect, &trace, id));
            trace.shared.kept.lock().making.retain(|making| *making != id);
        });
        Some(TracePictures::of_entry(self.id))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.ended {
            self.note_end(ErrorCode::Cancelled.as_str());
        }
    }
}

impl ActionTrace {
    /// `hit` is what was there, also if the caller did not ask for it.
    pub fn of(observation: &Observation, hit: Option<Hit>) -> Self {
        Self {
            acted_at: observation.acted_at,
            // What is in a field may have been typed.
            hit: hit.map(|hit| Hit {
                value: None,
                url: hit.url.map(|url| without_secrets(&url)),
                ..hit
            }),
            effect: observation.effect,
            regions: observation.regions.clone(),
            settle_ms: observation.settle_ms,
        }
    }
}

impl Crops {
    /// What changed, or where the action was.
    fn rect(&self) -> Option<Rect> {
        let around = |point: Pixel| {
            let Pixel { x, y } = point;
            Rect::between(x - AROUND, y - AROUND, x + AROUND, y + AROUND)
        };
        let regions = self.regions.iter().copied().reduce(|one, other| one.union(&other));
        regions.map(|rect| rect.inflated(MARGIN)).or(self.at.map(around))
    }

    /// Makes small pictures.
    fn keep(&self, rect: &Rect, trace: &Trace, id: u64) {
        let TracePictures { before, after } = TracePictures::of_entry(id);
        let keep = |canvas: &Canvas, name: String| {
            let jpeg = canvas.thumbnail(rect, SIDE).ok()?;
            trace.keep(name.clone(), jpeg);
            Some(name)
        };
        let (before, after) = (keep(&self.before, before), keep(&self.after, after));
        trace.change(id, |entry| {
            entry.before = before.or(entry.before.take());
            entry.after = after.or(entry.after.take());
        });
    }
}

fn is_near(entry: &TraceEntry, near: Option<Pixel>) -> bool {
    let Some(Pixel { x, y }) = near else { return true };
    let acted = entry
        .acted_at
        .is_some_and(|at| at.x.abs_diff(x).max(at.y.abs_diff(y)) <= NEAR.unsigned_abs());
    let changed = |rect: &WireRect| {
        let WireRect { x: left, y: top, width, height } = *rect;
        Rect { x: left, y: top, width, height }.inflated(NEAR).contains_point(x, y)
    };
    acted || entry.regions.iter().any(changed)
}

/// Notes windows and focus, for the life of the guest. Costs nothing while nothing happens.
pub async fn follow_windows(display: Display, trace: Trace) {
    loop {
        if let Ok(mut events) = display.window_events() {
            let mut before = display.seen_windows().await.unwrap_or_default();
            while events.next().await.is_ok() {
                let at = Instant::now();
                trace.shared.windows.notify_waiters();
                sleep(PAUSE).await;
                let Ok(after) = display.seen_windows().await else { break };
                trace.windows(&before, &after, at);
                before = after;
            }
        }
        // A program on the display may have made the server close our connection.
        sleep(AGAIN).await;
    }
}
