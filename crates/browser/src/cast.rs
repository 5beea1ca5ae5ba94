//! The page as a stream of pictures for viewers, and their input.
//!
//! Each tab is cast once for all viewers with the same settings ([`source`]). Each viewer has a
//! [`Screen`], which always sends the newest picture, and a [`ViewerInput`]. Thumbnails use a
//! [`ThumbnailCast`].

mod held;
mod input;
mod screen;
mod source;
mod subscription;

use std::sync::Arc;

use bytes::Bytes;
use helmdeck_wire::cast::CastView;
use tokio::sync::watch;

pub use input::ViewerInput;
pub use screen::{Screen, ScreenMessage};
pub(crate) use subscription::Casts;

use crate::Browser;

/// What a viewer wants, and what it has received.
struct ViewerState {
    view: watch::Sender<CastView>,
    /// The number of the last picture that the viewer acknowledged.
    arrived: watch::Sender<u64>,
}

impl Browser {
    /// Starts a cast for one viewer. It continues across restarts of the browser. `sent` is the
    /// number of pictures sent to the viewer before, of this browser or another: numbering
    /// continues there, because viewers acknowledge each number once.
    pub fn cast(&self, view: CastView, sent: u64) -> (Screen, ViewerInput) {
        let viewer = Arc::new(ViewerState::new(view, sent));
        (Screen::new(self.clone(), &viewer, false), ViewerInput::new(self.clone(), viewer))
    }

    /// Starts a cast for thumbnails. It costs nothing while the page does not change.
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

/// A cast of pictures without messages.
pub struct ThumbnailCast {
    screen: Screen,
    /// Kept so that the channels the screen listens to stay open.
    _viewer: ViewerState,
}

impl ThumbnailCast {
    /// The next new picture, of the current browser and tab. Not cancel-safe.
    pub async fn next(&mut self) -> Bytes {
        loop {
            match self.screen.next().await {
                ScreenMessage::Picture(jpeg) => return jpeg,
                ScreenMessage::Words(_) => {}
            }
        }
    }
}
