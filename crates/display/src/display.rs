//! The handle to a session's display.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use helmdeck_task::block_in_place;
use parking_lot::Mutex;
use tokio::sync::MutexGuard;
use x11rb::protocol::randr::Mode;

use crate::{
    bus::Bus,
    clipboard::ClipboardThread,
    connection::{Connection, Line},
    error::DisplayError,
    observe::{Observer, Shots},
    owner::Owners,
};

/// A session's display. Clones are cheap and share everything.
///
/// Actions that change the screen run one after the other; pictures and queries run concurrently.
/// Dropping the future of an action stops it and releases all keys and buttons it held.
#[derive(Clone)]
pub struct Display {
    pub(crate) shared: Arc<Shared>,
}

/// The state shared by all handles.
pub(crate) struct Shared {
    pub(crate) name: String,
    /// For input. Locked for a whole action, so that two never mix.
    input: tokio::sync::Mutex<Line>,
    /// For queries.
    query: Line,
    pub(crate) clipboard: ClipboardThread,
    pub(crate) bus: Bus,
    pub(crate) observer: Observer,
    pub(crate) shots: Shots,
    pictures: AtomicU64,
    /// The colour behind all windows, 0xRRGGBB.
    pub(crate) background: AtomicU32,
    /// The screen mode created by the last resize; the next one removes it.
    pub(crate) own_mode: Mutex<Option<Mode>>,
    /// Identifies window owners; without it, `_NET_WM_PID` is trusted.
    pub(crate) owners: Mutex<Option<Owners>>,
}

impl Display {
    /// Connects to the X server `display`, for example `:1`.
    ///
    /// From here on, a program that grabs the server does not block this display.
    pub fn connect(display: &str) -> Result<Self, DisplayError> {
        Ok(Self {
            shared: Arc::new(Shared {
                name: display.to_owned(),
                input: tokio::sync::Mutex::new(Line::open(display)?),
                query: Line::open(display)?,
                clipboard: ClipboardThread::start(display)?,
                bus: Bus::open(display)?,
                observer: Observer::open(display)?,
                shots: Shots::default(),
                pictures: AtomicU64::new(0),
                background: AtomicU32::new(0),
                own_mode: Mutex::new(None),
                owners: Mutex::new(None),
            }),
        })
    }

    /// The current screen size, in pixels.
    pub async fn size(&self) -> Result<(u16, u16), DisplayError> {
        block_in_place(|| Ok(self.query()?.1))
    }

    /// Locks the input until the result is dropped.
    pub(crate) async fn input(&self) -> Result<Input<'_>, DisplayError> {
        let line = self.shared.input.lock().await;
        let (connection, (width, height)) = block_in_place(|| line.ready())?;
        Ok(Input { connection, width, height, _turn: line })
    }

    /// The connection for queries, and the screen size. Does not wait for input.
    pub(crate) fn query(&self) -> Result<(Arc<Connection>, (u16, u16)), DisplayError> {
        self.shared.query.ready()
    }

    /// The pictures that were taken, by their id.
    pub fn shots(&self) -> &Shots {
        &self.shared.shots
    }

    /// An id for a new picture.
    pub(crate) fn picture_id(&self) -> String {
        format!("shot-{}", self.shared.pictures.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Exclusive use of the input for one action.
pub(crate) struct Input<'a> {
    pub(crate) connection: Arc<Connection>,
    pub(crate) width: u16,
    pub(crate) height: u16,
    _turn: MutexGuard<'a, Line>,
}

impl Input<'_> {
    /// Converts a point for X, if it is on the screen.
    pub(crate) fn point(&self, x: i32, y: i32) -> Result<(i16, i16), DisplayError> {
        self.named_point(x, y, str::to_owned)
    }

    /// The same for a point whose coordinates have other names than `x` and `y`.
    pub(crate) fn named_point(
        &self,
        x: i32,
        y: i32,
        name: impl Fn(&str) -> String,
    ) -> Result<(i16, i16), DisplayError> {
        let (width, height) = (self.width, self.height);
        let inside = |at: i32, side: u16| {
            i16::try_from(at).ok().filter(|_| (0..i32::from(side)).contains(&at))
        };
        let off = |axis| DisplayError::OffScreen { field: name(axis), x, y, width, height };
        let to_x = inside(x, width).ok_or_else(|| off("x"))?;
        Ok((to_x, inside(y, height).ok_or_else(|| off("y"))?))
    }
}
