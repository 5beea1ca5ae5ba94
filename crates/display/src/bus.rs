//! The frame bus: one capture of the screen for all viewers, taken only when the screen changed and
//! a viewer wants it.
//!
//! ```text
//! Frames ──ask──▶ Driver ──▶ Source: connection, damage, segment
//!    ▲               │
//!    └──── Shot ◀────┘      shared; encoded once per request kind
//! ```
//!
//! A subscriber asks for a picture newer than its last, and only as often as its rate allows. The
//! driver answers at once if it has one, else at the next change. So nothing queues, the newest
//! picture wins, and no change is lost. A screenshot asks for the current picture, and shares the
//! last one if nothing was drawn since. The driver's task ends with the last subscriber, or shortly
//! after the last screenshot; only its idle connection stays open.

mod drawn;
mod driver;
pub(crate) mod shot;
mod source;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use helmdeck_task::block_in_place;
use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};

use crate::{connection::Line, display::Display, error::DisplayError};
use driver::{Ask, Driver};
use shot::Shot;
use source::Source;

/// The slowest and fastest rate of a subscriber; programs do not draw faster.
const FPS: (f32, f32) = (0.01, 60.0);

/// How long the bus stays after a screenshot, because another often follows.
const LINGER: Duration = Duration::from_secs(2);

/// What a subscriber wants to see. Values out of range are clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameRequest {
    /// Wider screens are scaled down to this. Narrower ones are not scaled up.
    pub max_width: u32,
    /// The maximum frame rate, from 0.01 to 60 frames per second.
    pub max_fps: f32,
    /// The JPEG quality, from 1 to 100.
    pub quality: u8,
}

/// The screen at one moment.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The number of the picture. It grows over the life of the display, with gaps for slow
    /// subscribers. Frames with the same number show the same pixels.
    pub sequence: u64,
    /// The frame's size.
    pub width: u32,
    /// The frame's size.
    pub height: u32,
    /// The whole screen with the pointer, encoded.
    pub jpeg: Bytes,
}

/// A subscription to the screen, until it is dropped.
#[derive(Debug)]
pub struct FrameSubscription {
    request: FrameRequest,
    driver: mpsc::Sender<Ask>,
    /// The number of the last frame returned; 0 before the first.
    seen: u64,
    /// When the next frame is allowed.
    due: Instant,
}

/// The state of a display's bus, running or not.
pub(crate) struct Bus {
    /// The number of the last picture.
    sequence: Arc<AtomicU64>,
    /// The idle connection. It is opened in advance and kept, because a program that grabs the
    /// server blocks new ones.
    idle: Idle,
    /// Weak, so that only the subscribers keep the driver alive.
    driver: Mutex<Option<mpsc::WeakSender<Ask>>>,
    /// Keeps the driver alive for a moment.
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    driver: Option<mpsc::Sender<Ask>>,
    until: Option<Instant>,
}

/// Where a driver takes its connection from and puts it back.
type Idle = Arc<Mutex<Option<Line>>>;

impl Display {
    /// Subscribes to the screen.
    ///
    /// A subscription costs nothing while the screen does not change, and leaves nothing behind
    /// when the last subscriber is dropped.
    pub async fn subscribe(
        &self,
        request: FrameRequest,
    ) -> Result<FrameSubscription, DisplayError> {
        let driver = block_in_place(|| self.shared.bus.driver(&self.shared.name))?;
        Ok(FrameSubscription { request, driver, seen: 0, due: Instant::now() })
    }

    /// The number of the last frame returned to any subscriber; 0 if there was none.
    pub fn sequence(&self) -> u64 {
        self.shared.bus.sequence.load(Ordering::Acquire)
    }

    /// Whether the screen may differ from the frame with this number. Includes everything drawn
    /// before the call. Without subscribers, the answer is yes.
    pub async fn changed_since(&self, sequence: u64) -> Result<bool, DisplayError> {
        let Some(driver) = self.shared.bus.running() else { return Ok(true) };
        let (reply, answer) = oneshot::channel();
        driver.send(Ask::Changed { since: sequence, reply }).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

impl Display {
    /// The screen with everything that was drawn before the call.
    pub(crate) async fn still(&self) -> Result<Arc<Shot>, DisplayError> {
        match self.try_still().await {
            // Another subscriber's error ended the driver; a new one starts fresh.
            Err(DisplayError::Lost(_)) => self.try_still().await,
            done => done,
        }
    }

    async fn try_still(&self) -> Result<Arc<Shot>, DisplayError> {
        let driver = block_in_place(|| self.shared.bus.driver(&self.shared.name))?;
        self.shared.bus.keep(driver.clone());
        let (reply, answer) = oneshot::channel();
        driver.send(Ask::Now { reply }).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

impl FrameSubscription {
    /// The next frame: the first at once, each later one after a change, and never faster than the
    /// rate allows. A pointer that only moves is not a change.
    ///
    /// Waits while the screen does not change. Fails when the X server is gone or hangs, and from
    /// then on always. Cancel-safe.
    pub async fn next(&mut self) -> Result<Frame, DisplayError> {
        sleep_until(self.due).await;
        let (reply, answer) = oneshot::channel();
        self.driver.send(Ask::Newer { than: self.seen, reply }).await.map_err(|_| ended())?;
        let shot = answer.await.map_err(|_| ended())??;
        self.due = Instant::now() + interval(self.request.max_fps);
        self.seen = shot.sequence;
        block_in_place(|| shot.frame(self.request.max_width, self.request.quality))
    }
}

impl Bus {
    pub(crate) fn open(display: &str) -> Result<Self, DisplayError> {
        let idle = Arc::new(Mutex::new(Some(Line::open(display)?)));
        let (driver, kept) = (Mutex::default(), Arc::default());
        Ok(Self { sequence: Arc::default(), idle, driver, kept })
    }

    /// The driver; starts one if necessary.
    fn driver(&self, display: &str) -> Result<mpsc::Sender<Ask>, DisplayError> {
        let mut current = self.driver.lock();
        if let Some(driver) = alive(current.as_ref()) {
            return Ok(driver);
        }
        let idle = self.idle.lock().take();
        // The last driver may not have put it back yet, or had to drop it.
        let line = idle.map_or_else(|| Line::open(display), Ok)?;
        let driver = Driver::new(Source::open(line)?, self.idle.clone(), self.sequence.clone());
        // Each subscriber asks one thing at a time; when the channel is full, they wait.
        let (asks, inbox) = mpsc::channel(16);
        helmdeck_task::spawn(driver.run(inbox));
        *current = Some(asks.downgrade());
        Ok(asks)
    }

    /// Keeps the driver alive for a moment.
    fn keep(&self, driver: mpsc::Sender<Ask>) {
        let mut kept = self.kept.lock();
        kept.driver = Some(driver);
        if kept.until.replace(Instant::now() + LINGER).is_none() {
            helmdeck_task::spawn(release_all(self.kept.clone()));
        }
    }

    fn running(&self) -> Option<mpsc::Sender<Ask>> {
        alive(self.driver.lock().as_ref())
    }
}

/// The driver, if it still has subscribers and its X server.
fn alive(driver: Option<&mpsc::WeakSender<Ask>>) -> Option<mpsc::Sender<Ask>> {
    driver?.upgrade().filter(|driver| !driver.is_closed())
}

/// Drops the driver after the last keep-alive period.
async fn release_all(kept: Arc<Mutex<Kept>>) {
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
        sleep_until(until).await;
    }
}

fn ended() -> DisplayError {
    DisplayError::Lost(io::Error::other("the frame bus has ended"))
}

/// The shortest time between two frames.
fn interval(max_fps: f32) -> Duration {
    let (slowest, fastest) = FPS;
    // NaN counts as the slowest rate.
    let fps = if max_fps.is_nan() { slowest } else { max_fps.clamp(slowest, fastest) };
    Duration::from_secs_f32(fps.recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_rate_gives_an_interval_within_the_limits() {
        let longest = Duration::from_secs(100);
        assert_eq!(interval(4.0), Duration::from_millis(250));
        assert!(interval(0.0).abs_diff(longest) < Duration::from_millis(1));
        for (rate, expected) in [
            (f32::NAN, interval(0.0)),
            (-1.0, interval(0.0)),
            (f32::INFINITY, interval(60.0)),
            (1e9, interval(60.0)),
        ] {
            assert_eq!(interval(rate), expected, "{rate}");
        }
    }
}
