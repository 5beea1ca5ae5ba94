//! Properties that hold for every browser and client, honest or not; checked with random bytes.

// Clippy knows functions marked as tests, not what they call.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod browser;
mod client;
mod pipe;
