//! One forwarded connection: bytes between a WebSocket and a local port.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use crate::remote::Socket;

/// The server sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// A server that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
const BUFFER: usize = 64 << 10;

/// Carries bytes both ways until both sides have finished or either fails. An empty message signals
/// the end of one side.
pub async fn carry(socket: Socket, local: TcpStream) {
    // A key press is a small packet that must not be delayed.
    let _ = local.set_nodelay(true);
    let (mut to_server, mut from_server) = socket.split();
    let (mut from_local, mut to_local) = local.into_split();
    let inwards = async {
        loop {
            let bytes = match timeout(SILENCE, from_server.next()).await {
                Ok(Some(Ok(Message::Binary(bytes)))) => bytes,
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => continue,
                Ok(Some(Ok(Message::Text(_) | Message::Close(_)) | Err(_)) | None) | Err(_) => {
                    return;
                }
            };
            let written = match bytes.is_empty() {
                true => to_local.shutdown().await,
                false => to_local.write_all(&bytes).await,
            };
            if written.is_err() {
                return;
            }
        }
    };
    let outwards = async {
        let mut chunk = BytesMut::with_capacity(BUFFER);
        loop {
            let finished = !matches!(from_local.read_buf(&mut chunk).await, Ok(1..));
            let message = Message::Binary(chunk.split().freeze());
            chunk.reserve(BUFFER);
            let sent = timeout(SEND_DEADLINE, to_server.send(message)).await;
            if finished || !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
    };
    // When the local server has finished, further input has no reader.
    tokio::select! {
        () = inwards => {}
        () = outwards => {}
    }
    let _ = timeout(SEND_DEADLINE, to_server.send(Message::Close(None))).await;
}

/// Ends a connection that could not be opened here.
pub async fn hang_up(mut socket: Socket) {
    let finished = async {
        socket.send(Message::Binary(Bytes::new())).await?;
        socket.send(Message::Close(None)).await
    };
    let _ = timeout(SEND_DEADLINE, finished).await;
}
