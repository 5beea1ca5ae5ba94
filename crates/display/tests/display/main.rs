//! The display against real X servers and real programs.

// Clippy knows functions marked as tests, not what they call.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod clipboard;
mod desktop;
mod frames;
mod keyboard;
mod observe;
mod pointer;
mod resilience;
mod screen;
mod speed;
mod typing;
mod witness;
mod world;
