//! Servers for tests and benchmarks: the real binary with its own port and directories, or a server
//! in this process with fake sessions (the feature `fake`).
//!
//! Everything here panics on unexpected conditions.
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
mod documents;
#[cfg(feature = "fake")]
pub mod fake;
mod fake_s3;
mod fake_vendors;
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
pub use client::{Answer, Client, OpenStream};
pub use connected::Listens;
pub use console::Console;
pub use debugger::Debugger;
pub use desk::Desk;
pub use dial::{Duplex, Trusted};
pub use documents::{ShellBlock, documents_that_run, shell_blocks, walkthrough};
pub use fake_s3::{FakeS3, Fault};
pub use fake_vendors::{FakeVendors, VendorFault, VendorRequest};
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
