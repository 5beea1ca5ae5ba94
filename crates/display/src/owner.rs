//! The owner of a window, determined by the process connected to the X server.
//!
//! `_NET_WM_PID` is set by the program itself and uses the numbers of its own PID namespace, which
//! repeat across namespaces. The X server knows the process from the kernel (X-Resource extension).

use std::sync::Arc;

use x11rb::{
    cookie::Cookie,
    protocol::{
        res::{ClientIdMask, ClientIdSpec, ConnectionExt as _, QueryClientIdsReply},
        xproto::Window,
    },
    rust_connection::RustConnection,
};

use crate::{
    connection::Connection, display::Display, error::DisplayError, stream::DeadlineStream,
};

/// The owner of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The session's own browser.
    Browser,
    /// A program, by the process id that other programs of the session see.
    Program(u32),
}

/// Maps a process id of the X server's namespace to an owner; `None` if the process is gone.
pub type Owners = Arc<dyn Fn(u32) -> Option<Owner> + Send + Sync>;

/// The reply with a window's client.
pub(crate) type ClientIds<'a> = Cookie<'a, RustConnection<DeadlineStream>, QueryClientIdsReply>;

impl Display {
    /// From now on, identifies windows by the process of their connection, not by `_NET_WM_PID`.
    pub fn identify_windows(&self, owners: Owners) {
        *self.shared.owners.lock() = Some(owners);
    }

    pub(crate) fn owners(&self) -> Option<Owners> {
        self.shared.owners.lock().clone()
    }
}

/// Requests the process that a window's connection belongs to.
pub(crate) fn ask(x: &Connection, window: Window) -> Result<ClientIds<'_>, DisplayError> {
    let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
    Ok(x.res_query_client_ids(&[spec])?)
}

/// That process, in the X server's namespace.
pub(crate) fn process(reply: &QueryClientIdsReply) -> Option<u32> {
    reply.ids.iter().find_map(|id| id.value.first().copied())
}
