//! The API through its front door: the real server on a real socket, one module per routes file.
//!
//! Nothing here starts a sandbox; what needs one is tested end to end elsewhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod access;
mod auth;
mod behind_proxy;
mod client;
mod connections;
mod control;
mod desktop;
mod drain;
mod ended;
mod every_row;
mod forwards;
mod health;
mod live;
mod metrics;
mod nowhere;
mod openapi;
mod pages;
mod paths;
mod sessions;
mod settings;
mod tokens;
