//! The pipe and the port of a real Chromium.

// Clippy knows functions marked as tests, not what they call.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod calls;
mod chromium;
mod clients;
mod contexts;
mod current;
mod events;
mod gone;
mod handover;
mod outsider;
mod sharing;
mod socket;
