//! The page as pictures for people who watch, and their hands in it.
//!
//! What one tab shows is cast once for all who want it alike ([`source`]); each viewer has a
//! [`Screen`], which always has the newest picture only, and [`Hands`]. Who only looks in passing has a
//! [`ThumbnailCast`].

mod hands;
mod held;
mod screen;
mod seat;
mod source;

use std::sync::Arc;

use bytes::Bytes;
use helmdeck_wire::cast::CastView;
use tokio::sync::watch;

pub use hands::Hands;
pub use screen::{Said, Screen};
pub(crate) use seat::Casts;

use crate::Browser;

/// What a viewer wants, and has got.
struct ViewerState {
    view: watch::Sender<CastView>,
    /// The number of the last picture that it said has arrived.
    arrived: watch::Sender<u64>,
}

impl Browser {
    /// Shows the browser to a viewer, whichever process it is, for as long as they look. `sent` is
    /// the number of pictures the viewer has got before, of this browser or another: the numbering
    /// goes on, because viewers acknowledge a number once.
    pub fn cast(&self, view: CastView, sent: u64) -> (Screen, Hands) {
        let viewer = Arc::new(ViewerState::new(view, sent));
        (Screen::new(self.clone(), &viewer, false), Hands::new(self.clone(), viewer))
    }

    /// Shows it to somebody who looks at many. A page that is still costs nothing.
    pub fn cast_thumbnails(&self, view: CastView) -> ThumbnailCast {
        let viewer = ViewerState::new(view, 0);
        ThumbnailCast { screen: Screen::new(self.clone(), &viewer, true), _viewer: viewer }
    }
}

impl ViewerState {
    fn new(view: CastView, arrived: u64) -> Self {
        Self { view: watch::Sender::new(view), arrived: watch::Sender::new(arrived) }
    }
}

/// The browser as pictures, and without words.
pub struct ThumbnailCast {
    screen: Screen,
    /// What the screen waits for never changes, and is not gone either.
    _viewer: ViewerState,
}

impl ThumbnailCast {
    /// The next picture that is new, of whichever browser and tab are there then. Not cancel-safe.
    pub async fn next(&mut self) -> Bytes {
        loop {
            match self.screen.next().await {
                Said::Picture(jpeg) => return jpeg,
                Said::Words(_) => {}
            }
        }
    }
}
