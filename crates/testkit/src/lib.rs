//! A real server for tests and benchmarks: the binary itself, on a port and directories of its own.
//!
//! Everything here panics when the world is not as a test needs it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::missing_panics_doc)]

mod client;
mod desk;
mod server;

pub use client::{Answer, Client};
pub use desk::Desk;
pub use server::{Server, binary};
