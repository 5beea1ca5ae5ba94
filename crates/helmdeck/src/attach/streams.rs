//! Connections that the server uses on demand: the link's bytes over WebSockets.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use helmdeck_guest::Connections;
use helmdeck_wire::{
    SessionId,
    attach::{SECRET, stream},
};
use http::HeaderValue;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::Message;

use crate::remote::{Remote, Socket};

/// Number of spare connections: opening a live view needs several at once.
const SPARE: usize = 4;
/// Pause after a connection that failed or was closed unused.
const PAUSE: Duration = Duration::from_millis(500);
/// The server sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// A server that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
const BUFFER: usize = 64 << 10;

/// All connections of a session. Dropping it closes them.
pub struct Streams {
    task: AbortHandle,
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Where a connection goes, and what serves it.
#[derive(Clone)]
struct StreamRoute {
    server: Arc<Remote>,
    guest: Connections,
    path: String,
    secret: String,
}

impl Streams {
    /// Opens spare connections, and a new one whenever one is used.
    pub fn open(server: Arc<Remote>, guest: Connections, id: &SessionId, secret: String) -> Self {
        let way = StreamRoute { server, guest, path: stream(id), secret };
        let task = helmdeck_task::spawn(async move {
            let mut open = JoinSet::new();
            let (used, mut uses) = mpsc::channel(SPARE);
            for _ in 0..SPARE {
                open.spawn(way.clone().spare(used.clone()));
            }
            while uses.recv().await.is_some() {
                while open.try_join_next().is_some() {}
                open.spawn(way.clone().spare(used.clone()));
            }
        });
        Self { task: task.abort_handle() }
    }
}

impl StreamRoute {
    /// Waits until a connection is used, requests a replacement, and serves it.
    async fn spare(self, used: mpsc::Sender<()>) {
        let first = async {
            let mut socket = self.connect().await?;
            let bytes = first_bytes(&mut socket).await?;
            Some((socket, bytes))
        };
        let Some((socket, bytes)) = first.await else {
            sleep(PAUSE).await;
            let _ = used.send(()).await;
            return;
        };
        let _ = used.send(()).await;
        let (ours, theirs) = duplex(BUFFER);
        // It ends with our half.
        helmdeck_task::spawn(self.guest.serve(theirs));
        carry(socket, bytes, ours).await;
    }

    async fn connect(&self) -> Option<Socket> {
        let mut request = self.server.request(&self.path).ok()?;
        request.headers_mut().insert(SECRET, HeaderValue::try_from(&self.secret).ok()?);
        self.server.connect(request).await.ok()
    }
}

/// The server's first bytes on a connection.
async fn first_bytes(socket: &mut Socket) -> Option<Bytes> {
    loop {
        match timeout(SILENCE, socket.next()).await.ok()?? {
            Ok(Message::Binary(bytes)) => return Some(bytes),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
            Ok(Message::Text(_) | Message::Close(_)) | Err(_) => return None,
        }
    }
}

/// Carries bytes both ways until either side ends.
async fn carry(socket: Socket, first: Bytes, guest: DuplexStream) {
    let (mut to_server, mut from_server) = socket.split();
    let (mut from_guest, mut to_guest) = tokio::io::split(guest);
    let down = async {
        let mut bytes = first;
        while to_guest.write_all(&bytes).await.is_ok() {
            bytes = match timeout(SILENCE, from_server.next()).await {
                Ok(Some(Ok(Message::Binary(bytes)))) => bytes,
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => {
                    Bytes::new()
                }
                Ok(Some(Ok(Message::Text(_) | Message::Close(_)) | Err(_)) | None) | Err(_) => {
                    return;
                }
            };
        }
    };
    let up = async {
        let mut chunk = BytesMut::with_capacity(BUFFER);
        while let Ok(1..) = from_guest.read_buf(&mut chunk).await {
            let message = Message::Binary(chunk.split().freeze());
            chunk.reserve(BUFFER);
            if !matches!(timeout(SEND_DEADLINE, to_server.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
        let _ = timeout(SEND_DEADLINE, to_server.send(Message::Close(None))).await;
    };
    tokio::select! {
        () = down => {}
        () = up => {}
    }
}
