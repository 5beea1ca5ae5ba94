//! The page as pictures for people who watch, and their hands in it.
//!
//! What one tab shows is cast once for all who want it alike ([`source`]); each viewer has a
//! [`Screen`], which always has the newest picture only, and [`Hands`].

mod hands;
mod held;
mod screen;
mod source;

use std::sync::Arc;

use helmdeck_wire::cast::CastView;
use tokio::sync::watch;

pub use hands::Hands;
pub use screen::{Said, Screen};
pub(crate) use source::Casts;

use crate::Browser;

/// What a viewer wants, and has got.
struct Wish {
    view: watch::Sender<CastView>,
    /// The number of the last picture that it said has arrived.
    arrived: watch::Sender<u64>,
}

impl Browser {
    /// Shows the browser to somebody, whichever process it is, for as long as they look.
    pub fn cast(&self, view: CastView) -> (Screen, Hands) {
        let (view, arrived) = (watch::Sender::new(view), watch::Sender::new(0));
        let wish = Arc::new(Wish { view, arrived });
        (Screen::new(self.clone(), &wish), Hands::new(self.clone(), wish))
    }
}
