//! The elements on the screen: gathered from the window list, the programs, and the browser.
//!
//! ```text
//! windows and their stacking     display      the X server
//! elements of programs           reader       a process of ours beside them, in the agent's sandbox
//! the browser's own toolbar      reader       another one, in the browser's sandbox
//! elements of pages              browser      the debugging pipe
//! text without any of these      ocr          tesseract, in the agent's sandbox
//! ```

mod find;
mod gather;
mod hit;
mod legend;
mod ocr;
mod reader;
mod window_of;

use std::sync::Arc;

use helmdeck_a11y::{refs::Refs, tree::Past};
use parking_lot::Mutex;

pub use find::{description, is_seen};
pub use gather::{Extent, Gathered, everything};
pub use hit::{UnderPoint, of_page};
pub use legend::legend;

/// What is kept between calls. A cheap handle.
#[derive(Clone, Default)]
pub struct Elements {
    /// Reads the agent's programs.
    programs: reader::Reader,
    /// Reads the session's own browser.
    browser: reader::Reader,
    refs: Arc<Mutex<Refs>>,
    past: Arc<Mutex<Past>>,
    words: ocr::Words,
}
