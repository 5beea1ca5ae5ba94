//! Waits for X events without blocking a thread, and never past a deadline.

use std::{
    os::fd::{AsFd, AsRawFd, RawFd},
    sync::Arc,
};

use tokio::{
    io::{Interest, unix::AsyncFd},
    task::coop::consume_budget,
    time::{Instant, timeout_at},
};
use x11rb::{connection::Connection as _, protocol::Event};

use crate::{connection::Connection, error::DisplayError};

/// The events of one connection.
///
/// INVARIANT: during a wait, the connection is not used elsewhere; another reader would consume the
/// bytes that wake us.
pub(crate) struct Events {
    fd: AsyncFd<Socket>,
}

/// Keeps the connection alive while its socket is watched.
struct Socket(Arc<Connection>);

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Events {
    pub(crate) fn of(connection: &Arc<Connection>) -> Result<Self, DisplayError> {
        // SAFETY: the socket keeps the connection alive for as long as the `AsyncFd` lives. The
        // connection has one file descriptor and closes it when dropped.
        let fd = unsafe {
            AsyncFd::register_with_interest(Socket(connection.clone()), Interest::READABLE)
        };
        Ok(Self { fd: fd.map_err(|error| DisplayError::Lost(error.into()))? })
    }

    /// The next event, or `None` at the deadline.
    pub(crate) async fn next(&self, deadline: Instant) -> Result<Option<Event>, DisplayError> {
        let connection = &self.fd.get_ref().0;
        connection.flush()?;
        // A flood of events neither extends the deadline nor starves other tasks.
        while Instant::now() < deadline {
            consume_budget().await;
            if let Some(event) = connection.poll_for_event()? {
                return Ok(Some(event));
            }
            match timeout_at(deadline, self.fd.readable()).await {
                // Cleared before the next read, so that bytes that arrive in between wake us again.
                Ok(ready) => ready.map_err(DisplayError::Lost)?.clear_ready(),
                Err(_) => break,
            }
        }
        Ok(None)
    }
}
