//! Observes the screen around an action: when it became quiet, and what changed.
//!
//! ```text
//! Watch ──▶ Driver ──▶ Source: connection, damage, segment
//!   │          │
//!   │          ▼
//!   └──────▶ Live: a copy of the screen, and a Tracker of what changes on its own
//! ```
//!
//! Nothing runs before the first watch, and nothing a few seconds after the last: an agent often
//! acts again soon, and then the copy of the screen is there already. The tracker's memory stays.

mod canvas;
mod driver;
mod periodic;
mod rect;
mod settle;
mod shots;
mod similarity;
mod source;
mod window_events;
mod windows;

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_task::block_in_place;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

pub use canvas::Canvas;
pub use driver::Acting;
pub use periodic::{Kind, Periodic, Tracker};
pub use rect::{MAX_REGIONS, Rect, merged};
pub use settle::{Activity, Decision, Quiet, Settle};
pub use shots::{LatePrints, ShotFacts, Shots};
pub use similarity::{Difference, Prints};
pub use window_events::WindowEvents;
pub use windows::{ConnectedProgram, SeenWindow, SeenWindows};

use crate::{connection::Line, display::Display, error::DisplayError, input_sync::InputSync};
use driver::{Actions, Ask, Driver, Live, State};
use source::Source;

/// How long the active program may take to read its input.
const DELIVERED: Duration = Duration::from_secs(1);
/// How long the screen is followed after a watch, because another often follows.
const LINGER: Duration = Duration::from_secs(3);

/// The state of a display's observer, running or not.
pub(crate) struct Observer {
    /// The idle connection. It is opened in advance and kept, because a program that grabs the
    /// server blocks new ones.
    idle: Arc<Mutex<Option<Line>>>,
    running: Mutex<Option<Running>>,
    /// What was recognised, between drivers.
    memory: Arc<Mutex<Tracker>>,
    kept: Arc<Mutex<Kept>>,
    actions: Arc<Mutex<Actions>>,
}

/// Weak, so that only watches keep the driver alive.
struct Running {
    asks: mpsc::WeakSender<Ask>,
    live: Arc<Live>,
}

/// Keeps the driver alive for a moment.
#[derive(Default)]
struct Kept {
    asks: Option<mpsc::Sender<Ask>>,
    until: Option<Instant>,
}

/// An observation of the screen, from the moment before an action. Ends when dropped.
pub struct Watch {
    asks: mpsc::Sender<Ask>,
    live: Arc<Live>,
    before: Arc<Canvas>,
    begun: Instant,
    kept: Arc<Mutex<Kept>>,
}

/// What changed during a watch.
#[derive(Debug, Clone)]
pub struct Changes {
    /// Where, without periodic places and at most [`MAX_REGIONS`]. Empty if nothing changed.
    pub regions: Vec<Rect>,
    /// What changes on its own.
    pub periodic: Vec<Periodic>,
    /// Places that did not count: what was ignored or given, and what looks as it did on its own
    /// before, such as a caret that was remembered.
    pub left_out: Vec<Rect>,
    /// The screen before.
    pub before: Arc<Canvas>,
    /// The screen now.
    pub after: Arc<Canvas>,
}

impl Display {
    /// Begins to observe the screen. It includes everything that was drawn before the call.
    pub async fn watch(&self) -> Result<Watch, DisplayError> {
        match self.try_watch().await {
            // The last driver ended with an error; a new one starts fresh.
            Err(DisplayError::Lost(_)) => self.try_watch().await,
            done => done,
        }
    }

    /// Notes that an action is under way, until the result is dropped. What it changes is not taken
    /// for a clock.
    pub fn acting(&self) -> Acting {
        Acting::begin(self.shared.observer.actions.clone())
    }

    /// Waits until the active program has read the input of earlier actions, up to a second.
    pub async fn delivered(&self) -> Result<(), DisplayError> {
        let input = self.input().await?;
        InputSync::on(&input.connection)?.read_by_active(DELIVERED).await
    }

    /// Remembers a part of a canvas as a picture of this size with a new id. `sent` says whether the
    /// caller receives the picture.
    pub fn remember(
        &self,
        canvas: &Canvas,
        part: &Rect,
        size: (u32, u32),
        prints: &Prints,
        sent: bool,
    ) -> ShotFacts {
        let facts = ShotFacts::of_part(self.picture_id(), part, size);
        let whole = *part == canvas.whole();
        let prints = whole.then(|| LatePrints::new(prints.clone().into()));
        self.shots().add(facts.clone(), prints, sent);
        facts
    }

    async fn try_watch(&self) -> Result<Watch, DisplayError> {
        let observer = &self.shared.observer;
        let (asks, live) = block_in_place(|| observer.driver(&self.shared.name))?;
        live.state.lock().watches += 1;
        // Owned from here on, so that an early return ends it.
        let canvas = live.state.lock().canvas.clone();
        let kept = observer.kept.clone();
        let mut watch = Watch { asks, live, before: canvas, begun: Instant::now(), kept };
        watch.catch_up().await?;
        watch.begun = Instant::now();
        watch.before = watch.live.state.lock().canvas.clone();
        Ok(watch)
    }
}

impl Watch {
    /// When the watch began.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// The screen before.
    pub fn before(&self) -> &Arc<Canvas> {
        &self.before
    }

    /// Brings the copy of the screen up to this moment.
    pub async fn catch_up(&self) -> Result<(), DisplayError> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask { reply }).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// The last change since the watch began that does not belong to a periodic place, nor to one
    /// of the `given` ones.
    pub fn last_change(&self, given: &[Periodic]) -> Option<Instant> {
        self.live.state.lock().tracker.last_change(self.begun, Instant::now(), given)
    }

    /// Waits for the next change after this call, also if the future is polled later. Fails when the
    /// X server is gone. Create the future before reading [`Watch::last_change`], so that no change
    /// is missed.
    pub fn changed(&self) -> impl Future<Output = Result<(), DisplayError>> + use<'_> {
        let news = self.live.news.notified();
        async move {
            tokio::select! {
                () = news => Ok(()),
                () = self.asks.closed() => Err(ended()),
            }
        }
    }

    /// What changed since the watch began. `given` are periodic places known from elsewhere;
    /// `ignored` places do not count.
    pub async fn changes(
        &self,
        given: &[Periodic],
        ignored: &[Rect],
    ) -> Result<Changes, DisplayError> {
        self.catch_up().await?;
        Ok(block_in_place(|| self.compare(given, ignored)))
    }

    fn compare(&self, given: &[Periodic], ignored: &[Rect]) -> Changes {
        let now = Instant::now();
        let state = self.live.state.lock();
        let after = state.canvas.clone();
        let mut left_out = state.tracker.unchanged(now, &|rect| after.hash(rect));
        let mut periodic = state.tracker.periodic(self.begun, now);
        drop(state);
        left_out.extend(ignored);
        left_out.extend(given.iter().map(|place| place.rect));
        // What the page knows is more exact.
        periodic.retain(|seen| {
            !given.iter().any(|place| place.rect.intersection(&seen.rect).is_some())
        });
        periodic.extend(given);
        let changes = if Arc::ptr_eq(&self.before, &after) {
            Vec::new()
        } else {
            self.before.difference(&after, &left_out)
        };
        let regions = merged(changes, MAX_REGIONS);
        Changes { regions, periodic, left_out, before: self.before.clone(), after }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.live.state.lock();
        state.watches = state.watches.saturating_sub(1);
        drop(state);
        // Outside of a runtime, the program is ending.
        if tokio::runtime::Handle::try_current().is_ok() {
            keep(&self.kept, self.asks.clone());
        }
    }
}

impl Observer {
    pub(crate) fn open(display: &str) -> Result<Self, DisplayError> {
        let idle = Arc::new(Mutex::new(Some(Line::open(display)?)));
        let (running, memory, kept) = (Mutex::default(), Arc::default(), Arc::default());
        Ok(Self { idle, running, memory, kept, actions: Arc::default() })
    }

    /// The driver; starts one if necessary.
    fn driver(&self, display: &str) -> Result<(mpsc::Sender<Ask>, Arc<Live>), DisplayError> {
        let mut running = self.running.lock();
        if let Some(Running { asks, live }) = &*running
            && let Some(asks) = asks.upgrade().filter(|asks| !asks.is_closed())
        {
            return Ok((asks, live.clone()));
        }
        let idle = self.idle.lock().take();
        // The last driver may not have put it back yet, or had to drop it.
        let line = idle.map_or_else(|| Line::open(display), Ok)?;
        let mut source = Source::open(line)?;
        let canvas = Arc::new(source.capture()?);
        let tracker = std::mem::take(&mut *self.memory.lock());
        let live = Arc::new(Live {
            state: Mutex::new(State { canvas, tracker, watches: 0 }),
            news: tokio::sync::Notify::new(),
        });
        let (idle, memory) = (self.idle.clone(), self.memory.clone());
        let actions = self.actions.clone();
        let driver = Driver { source, idle, memory, live: live.clone(), actions };
        // Each watch asks one thing at a time; when the channel is full, they wait.
        let (asks, inbox) = mpsc::channel(16);
        helmdeck_task::spawn(driver.run(inbox));
        *running = Some(Running { asks: asks.downgrade(), live: live.clone() });
        Ok((asks, live))
    }
}

/// Keeps the driver alive for a moment.
fn keep(kept: &Arc<Mutex<Kept>>, asks: mpsc::Sender<Ask>) {
    let mut now = kept.lock();
    now.asks = Some(asks);
    if now.until.replace(Instant::now() + LINGER).is_none() {
        let kept = kept.clone();
        helmdeck_task::spawn(release(kept));
    }
}

/// Drops the driver after the last keep-alive period.
async fn release(kept: Arc<Mutex<Kept>>) {
    loop {
        let until = {
            let mut kept = kept.lock();
            match kept.until.filter(|until| Instant::now() < *until) {
                Some(until) => until,
                None => {
                    *kept = Kept::default();
                    return;
                }
            }
        };
        tokio::time::sleep_until(until.into()).await;
    }
}

fn ended() -> DisplayError {
    DisplayError::Lost(io::Error::other("the observer of the screen has ended"))
}
