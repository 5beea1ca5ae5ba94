//! Pages as models read them: snapshots and Markdown, with a real Chromium.

// Clippy knows functions marked as tests, not what they call.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[allow(dead_code, reason = "the engine's tests need more of it")]
#[path = "../engine/chromium.rs"]
mod chromium;
#[allow(dead_code, reason = "the engine's tests need more of it")]
#[path = "../engine/server.rs"]
mod server;

mod bounds;
mod delta;
mod desk;
mod frames;
mod hostile;
mod lines;
mod markdown;
mod refs;
