//! Tests of the registry through its public API, without a sandbox.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod attached;
mod nowhere;
