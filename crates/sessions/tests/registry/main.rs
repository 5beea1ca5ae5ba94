//! The registry through its front door, without a sandbox.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod attached;
mod nowhere;
