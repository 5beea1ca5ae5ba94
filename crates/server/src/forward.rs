//! Forwarded ports of a client's machine. Connections are announced on one WebSocket, and the
//! client opens another one for each.

use std::{pin::pin, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use helmdeck_sessions::ClientForward;
use helmdeck_wire::forward::ForwardNews;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::{Instant, interval, sleep_until, timeout},
};

use crate::closing::{Closing, close};

/// Keeps connections alive through proxies, and detects dead ones.
const PING_EVERY: Duration = Duration::from_secs(5);
/// A client that does not answer pings for this long is gone.
const SILENCE: Duration = Duration::from_secs(15);
/// A client that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// Size of one copy.
const CHUNK: usize = 64 << 10;

/// Announces every connection to the client, until either side ends the forward.
pub async fn announce(
    mut socket: WebSocket,
    mut forward: ClientForward,
    ended: impl Future<Output = Closing>,
) {
    let mut ended = pin!(ended);
    let (mut pings, mut heard) = (interval(PING_EVERY), Instant::now());
    let mut sent = say(&mut socket, &ForwardNews::Open).await;
    let reason = loop {
        if !sent {
            break Closing::ViewerLeft;
        }
        sent = tokio::select! {
            // The end of the session closes the forward, too.
            biased;
            reason = &mut ended => break reason,
            name = forward.next() => match name {
                Some(name) => say(&mut socket, &ForwardNews::Connect(name)).await,
                None => break Closing::ForwardRemoved,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => break Closing::ViewerLeft,
                Some(Ok(_)) => {
                    heard = Instant::now();
                    true
                }
            },
            _ = pings.tick() => send(&mut socket, Message::Ping(Bytes::new())).await,
            () = sleep_until(heard + SILENCE) => break Closing::ViewerLeft,
        };
    };
    // Close the port before the client is notified.
    drop(forward);
    let (to, from) = socket.split();
    close(to, from, &reason).await;
}

async fn say(socket: &mut WebSocket, news: &ForwardNews) -> bool {
    let Ok(text) = serde_json::to_string(news) else { return false };
    send(socket, Message::Text(text.into())).await
}

async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SEND_DEADLINE, socket.send(message)).await, Ok(Ok(())))
}

/// Carries bytes both ways until both sides have finished or either fails. An empty message signals
/// the end of one side.
pub async fn carry(socket: WebSocket, program: DuplexStream) {
    let (mut to_client, mut from_client) = socket.split();
    let (mut from_program, mut to_program) = tokio::io::split(program);
    let to_the_client = async {
        let mut pings = interval(PING_EVERY);
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let mut finished = false;
        loop {
            let message = tokio::select! {
                read = from_program.read_buf(&mut chunk), if !finished => {
                    finished = !matches!(read, Ok(1..));
                    Message::Binary(chunk.split().freeze())
                }
                _ = pings.tick() => Message::Ping(Bytes::new()),
            };
            chunk.reserve(CHUNK);
            if !matches!(timeout(SEND_DEADLINE, to_client.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
    };
    let from_the_client = async {
        loop {
            match timeout(SILENCE, from_client.next()).await {
                Ok(Some(Ok(Message::Binary(bytes)))) if bytes.is_empty() => {
                    if to_program.shutdown().await.is_err() {
                        return;
                    }
                }
                Ok(Some(Ok(Message::Binary(bytes)))) => {
                    if to_program.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                Ok(Some(Ok(Message::Text(_) | Message::Close(_)) | Err(_)) | None) | Err(_) => {
                    return;
                }
            }
        }
    };
    // The client closes the WebSocket when both sides have finished.
    tokio::select! {
        () = to_the_client => {}
        () = from_the_client => {}
    }
}
