//! Clients connected by a WebSocket.

use std::{
    net::SocketAddr,
    ops::{Deref, DerefMut},
    time::Duration,
};

use futures_util::StreamExt;
use tokio::time::timeout;
use tokio_tungstenite::{WebSocketStream, tungstenite};

use crate::{
    Refused, Server, Watcher,
    dial::{Duplex, Trusted},
};

/// How long a client waits on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Something that listens at an address.
pub trait Listens {
    /// The address.
    fn address(&self) -> SocketAddr;

    /// The certificates to trust, if it speaks TLS.
    fn trusted(&self) -> Option<Trusted> {
        None
    }
}

impl Listens for Server {
    fn address(&self) -> SocketAddr {
        self.address
    }
}

/// An open WebSocket, and its client's state.
pub struct Connected<T> {
    pub(crate) socket: WebSocketStream<Box<dyn Duplex>>,
    memory: T,
}

impl<T: Default> Connected<T> {
    /// Connects to a path with these headers.
    pub async fn open(
        server: &impl Listens,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Refused> {
        let socket = Watcher::socket(server, path, headers).await?;
        Ok(Self { socket, memory: T::default() })
    }
}

impl<T> Connected<T> {
    /// The next message, or how it ended.
    pub(crate) async fn next(
        &mut self,
    ) -> Option<Result<tungstenite::Message, tungstenite::Error>> {
        timeout(PATIENCE, self.socket.next()).await.expect("a message, or the end")
    }
}

impl<T> Deref for Connected<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.memory
    }
}

impl<T> DerefMut for Connected<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.memory
    }
}
