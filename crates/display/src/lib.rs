//! Everything that uses a session's X server, in process: pointer, keyboard, pictures, windows,
//! clipboard and screen size.
//!
//! [`Display`] is the whole interface: each method takes an action of [`helmdeck_wire`] and returns
//! its reply; [`Display::subscribe`] watches the screen. It needs a multi-threaded tokio runtime,
//! because X requests block for microseconds and encoding a picture for milliseconds.

mod atoms;
mod browser_window;
mod bus;
mod clipboard;
mod connection;
mod desktop;
mod display;
mod error;
mod events;
mod held;
mod input_sync;
mod keyboard;
mod keymap;
mod keys;
mod marks;
mod modifier_guard;
pub mod observe;
mod owner;
mod picture;
mod pointer;
mod process_idle;
mod release_all;
mod resize;
mod screen;
mod segment;
mod spare_keys;
mod stack;
mod stream;
mod tiles;
mod window;

pub use browser_window::BrowserWindows;
pub use bus::{Frame, FrameRequest, FrameSubscription};
pub use display::Display;
pub use error::DisplayError;
pub use marks::Mark;
pub use owner::{Owner, Owners};
pub use stack::{Stack, StackedWindow};
pub use tiles::{TiledScreen, Tiles};
