//! Whose a window is, told by the process that connected to the X server.
//!
//! `_NET_WM_PID` is what a program says about itself, in numbers of its own process namespace, which
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

/// Maps a process, as the X server sees it, to an owner; `None` for a process that is gone.
pub type Owners = Arc<dyn Fn(u32) -> Option<Owner> + Send + Sync>;

/// The answer to a question for a window's client.
pub(crate) type ClientIds<'a> = Cookie<'a, RustConnection<DeadlineStream>, QueryClientIdsReply>;

impl Display {
    /// From now on, windows are told apart by the process of their connection, not by what they say.
    pub fn identify_windows(&self, owners: Owners) {
        *self.shared.owners.lock() = Some(owners);
    }

    pub(crate) fn owners(&self) -> Option<Owners> {
        self.shared.owners.lock().clone()
    }
}

/// Asks which process a window's connection belongs to.
pub(crate) fn ask(x: &Connection, window: Window) -> Result<ClientIds<'_>, DisplayError> {
    let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
    Ok(x.res_query_client_ids(&[spec])?)
}

/// That process, in the X server's namespace.
pub(crate) fn process(reply: &QueryClientIdsReply) -> Option<u32> {
    reply.ids.iter().find_map(|id| id.value.first().copied())
}
