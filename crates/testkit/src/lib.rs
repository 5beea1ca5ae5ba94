//! Servers for tests and benchmarks: the real binary on a port and directories of its own, or one in
//! this process whose sessions are fake (the feature `fake`).
//!
//! Everything here panics when the world is not as a test needs it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc
)]

mod caster;
mod client;
mod connected;
mod console;
mod debugger;
mod desk;
mod dial;
#[cfg(feature = "fake")]
pub mod fake;
mod footprint;
mod guard;
mod host;
mod installation;
mod jpeg;
mod listener;
mod patience;
mod server;
mod site;
mod upstream;
mod view;
mod wall;
mod watcher;

pub use caster::Caster;
pub use client::{Answer, Client};
pub use connected::Listens;
pub use console::Console;
pub use debugger::Debugger;
pub use desk::Desk;
pub use dial::{Duplex, Trusted};
pub use footprint::Footprint;
pub use host::{Process, is_root};
pub use installation::{Installation, Outcome, binary};
pub use jpeg::jpeg_size;
pub use listener::{Heard, Listener};
pub use patience::eventually;
pub use server::Server;
pub use site::{Page, Site};
pub use upstream::{Speaks, Upstream};
pub use view::View;
pub use wall::Wall;
pub use watcher::{Refused, Watcher};
