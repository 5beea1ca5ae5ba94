//! The guest: our process inside a sandbox.
//!
//! The guest starts the X server beside itself, and everything else in two nested sandboxes. It
//! serves the server's requests on one inherited socket.
//!
//! ```text
//! outer sandbox            guest ── Xvnc
//!                            │ control sockets
//! agent's nested sandbox   ├─ nest ── bus, window manager, panel, whatever the agent launches
//! browser's sandbox        └─ nest ── the session's own Chromium
//! ```
//!
//! Outside any sandbox, it can also serve an attached display or browser: [`Attachment`].

mod act;
mod aim;
mod archive;
mod attached;
mod begin;
mod browser;
mod cast;
mod debugging;
mod desktop;
mod egress;
mod elements;
mod error;
mod exec;
mod extension;
mod files;
mod forwards;
mod freeze;
mod handover;
mod json;
mod log;
mod nest;
mod network;
mod observe;
mod orphan_timeout;
mod owners;
mod panel;
mod passthrough;
mod private;
mod private_dir;
mod profile;
mod reports;
mod rfb;
mod router;
mod scraper;
mod supervise;
mod thumbnails;
mod transfers;
mod verify;
mod watchdog;
mod workspace;
mod xvnc;

use std::{
    io,
    os::{
        fd::{FromRawFd, OwnedFd, RawFd},
        unix::net::UnixListener,
    },
};

pub use attached::{Attachment, Connections};
pub use error::GuestError;
pub use nest::run_inside as run_nest;
pub use passthrough::{open_page, run_wrapper};

/// Serves the socket `listen_fd` until the sandbox ends.
pub fn run(listen_fd: RawFd) -> io::Result<()> {
    helmdeck_spawn::close_inherited(Some(listen_fd))?;
    // SAFETY: the runtime passed this descriptor, and only we own it.
    let listener = unsafe { OwnedFd::from_raw_fd(listen_fd) };
    helmdeck_spawn::set_cloexec(&listener)?;
    // Namespaces must be entered before there are threads.
    let unlinked = network::enter()?;
    let listener = UnixListener::from(listener);
    listener.set_nonblocking(true)?;
    // Two workers: one may wait for the X server while the other answers.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    helmdeck_task::block_on(&runtime, async {
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let guest = begin::Guest::default();
        if let Some(why) = unlinked {
            guest.log.line("guest", &why);
        }
        helmdeck_task::spawn(guest.clone().end_unless_begun());
        axum::serve(listener, router::router(guest)).await
    })
}
