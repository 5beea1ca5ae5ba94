//! Attached sessions: the secret to resume one, and the link over WebSockets that the program keeps
//! open.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use helmdeck_sessions::{Attachment, Session};
use helmdeck_wire::SessionId;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::{Instant, interval, sleep_until, timeout},
};

use crate::token::{Signer, TokenError};

/// Keeps connections alive through proxies, and detects dead ones.
pub const PING_EVERY: Duration = Duration::from_secs(5);
/// A program that does not answer pings for this long is gone.
pub const SILENCE: Duration = Duration::from_secs(15);
/// A program that reads nothing for this long is gone.
pub const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// How long a session can be resumed. The token is what must be valid.
pub const SECRET_LIFE: time::Duration = time::Duration::days(365);
/// Distinguishes secrets from tokens and tickets.
const ISSUER: &str = "helmdeck-attach";
/// Size of one copy.
const CHUNK: usize = 64 << 10;

/// Content of a secret. It is signed, so that a restarted server recognizes the session and nothing
/// needs to be stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Secret {
    /// Owner of the session.
    pub sub: String,
    /// The session.
    pub session: SessionId,
    /// When it was first attached.
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    exp: i64,
    iss: String,
}

impl Secret {
    /// The secret of a session.
    pub fn new(owner: &str, session: &Session) -> Self {
        let exp = (OffsetDateTime::now_utc() + SECRET_LIFE).unix_timestamp();
        let (sub, iss) = (owner.to_owned(), ISSUER.to_owned());
        Self { sub, session: session.id().clone(), created_at: session.created_at(), exp, iss }
    }

    /// The signed text.
    pub fn sign(&self, signer: &Signer) -> Result<String, TokenError> {
        signer.sign(self)
    }

    /// Verifies a secret of this owner.
    pub fn read(signer: &Signer, text: &str, owner: &str) -> Option<Self> {
        let secret: Self = signer.read(text, ISSUER).ok()?;
        (secret.sub == owner).then_some(secret)
    }
}

/// Keeps a connection until the link uses it, then carries the link's bytes until either side ends.
pub async fn serve(mut socket: WebSocket, attachment: &Attachment) {
    let offer = attachment.offer();
    let taken = {
        let mut pings = interval(PING_EVERY);
        let mut heard = Instant::now();
        tokio::pin!(offer);
        loop {
            tokio::select! {
                taken = &mut offer => break taken,
                message = socket.recv() => match message {
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => heard = Instant::now(),
                    // A program must not send anything before the link does.
                    Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Close(_)) | Err(_))
                    | None => return,
                },
                _ = pings.tick() => {
                    let ping = socket.send(Message::Ping(Bytes::new()));
                    if !matches!(timeout(SEND_DEADLINE, ping).await, Ok(Ok(()))) {
                        return;
                    }
                }
                () = sleep_until(heard + SILENCE) => return,
            }
        }
    };
    if let Some(link) = taken {
        carry(socket, link).await;
    }
}

async fn carry(socket: WebSocket, link: DuplexStream) {
    let (mut to_program, mut from_program) = socket.split();
    let (mut from_link, mut to_link) = tokio::io::split(link);
    let down = async {
        let mut pings = interval(PING_EVERY);
        let mut chunk = BytesMut::with_capacity(CHUNK);
        loop {
            let message = tokio::select! {
                read = from_link.read_buf(&mut chunk) => match read {
                    Ok(1..) => Message::Binary(chunk.split().freeze()),
                    Ok(_) | Err(_) => break,
                },
                _ = pings.tick() => Message::Ping(Bytes::new()),
            };
            chunk.reserve(CHUNK);
            if !matches!(timeout(SEND_DEADLINE, to_program.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
        // The link disconnected, so the guest must stop what it does for it.
        let _ = timeout(SEND_DEADLINE, to_program.send(Message::Close(None))).await;
    };
    let up = async {
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                message = from_program.next() => match message {
                    Some(Ok(Message::Binary(bytes))) => {
                        if to_link.write_all(&bytes).await.is_err() {
                            return;
                        }
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Text(_) | Message::Close(_)) | Err(_)) | None => return,
                },
                () = sleep_until(heard + SILENCE) => return,
            }
            heard = Instant::now();
        }
    };
    tokio::select! {
        () = down => {}
        () = up => {}
    }
}
