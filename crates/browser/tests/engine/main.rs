//! The structured browser, with a real Chromium and real pages.

// Clippy knows functions marked as tests, not what they call.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod act;
mod cast;
mod chromium;
mod desk;
mod dialogs;
mod elements;
mod emulation;
mod fields;
mod find;
mod frames;
mod lost;
mod navigate;
mod pdf;
mod pictures;
mod private;
mod record;
mod server;
mod site_limit;
mod snapshot;
mod state;
mod tabs;
mod wait;
