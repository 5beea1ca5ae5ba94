//! The product as its users meet it: the real binary, real sandboxes, a real browser, no mocks.
//!
//! Each test starts a server of its own. All of it runs as root and as an ordinary user.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod auth;
mod browser;
mod cancel;
mod commands;
mod concurrency;
mod desktop;
mod egress;
mod env;
mod faults;
mod health;
mod isolation;
mod lifetimes;
mod limits;
mod metrics;
mod network;
mod openapi;
mod ownership;
mod pictures;
mod pointing;
mod processes;
mod refusals;
mod runtime;
mod sessions;
mod soak;
mod typing;
mod windows;
