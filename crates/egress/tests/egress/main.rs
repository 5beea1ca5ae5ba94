//! The proxy as its clients see it: real sockets on loopback, nothing leaves the machine.
//!
//! 127.0.0.2 is the test host that the allowlist opens; every other loopback address is closed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may"
)]

mod bounds;
mod connect;
mod curl;
mod denials;
mod explanations;
mod forward;
mod lifetime;
mod origin;
mod socks;
mod strangers;
mod via;
mod world;
