//! Close codes and reasons of live connections.

use std::{future::pending, time::Duration};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_wire::session::EndReason;
use time::OffsetDateTime;
use tokio::time::timeout;

/// How often to check a deadline, because the clock may be changed.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// How long the closing handshake may take.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(2);

/// Closes a WebSocket with a closing handshake.
pub async fn close(
    mut to: SplitSink<WebSocket, Message>,
    mut from: SplitStream<WebSocket>,
    reason: &Closing,
) {
    let frame = CloseFrame { code: reason.code(), reason: reason.sentence().into() };
    let goodbye = async {
        // Fails if the other side closed first.
        let _ = to.send(Message::Close(Some(frame))).await;
        // Sends the reply to the other side's close frame.
        let _ = to.close().await;
        // Read everything: unread data would make the kernel drop our close frame.
        while let Some(Ok(_)) = from.next().await {}
    };
    let _ = timeout(GOODBYE_DEADLINE, goodbye).await;
}

/// Waits until this time; forever if there is none.
pub async fn until(moment: Option<OffsetDateTime>) {
    let Some(moment) = moment else { return pending().await };
    loop {
        let left = moment - OffsetDateTime::now_utc();
        match Duration::try_from(left) {
            Ok(left) if !left.is_zero() => tokio::time::sleep(left.min(LOOK_EVERY)).await,
            _ => return,
        }
    }
}

/// Why a WebSocket is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// The other side disconnected.
    ViewerLeft,
    /// The session has ended.
    SessionOver(EndReason),
    /// The token or ticket was revoked, or the token expired.
    Revoked,
    /// The X server or the guest is gone. The session's end follows.
    PictureLost,
    /// The browser is gone. It is restarted under the same address.
    BrowserLost,
    /// The server stops. Another one may adopt the session.
    ServerStops,
    /// The program of a terminal has ended.
    Done,
    /// The terminal is gone. The session's end follows.
    TerminalLost,
    /// The forwarded port was closed.
    ForwardRemoved,
    /// The other side sent an invalid message.
    Nonsense(String),
}

impl Closing {
    /// The WebSocket close code. Codes from 4000 on are ours.
    pub fn code(&self) -> u16 {
        match self {
            Self::ViewerLeft | Self::Done => 1000,
            Self::SessionOver(_) => 4000,
            Self::Revoked => 4001,
            Self::Nonsense(_) => 4002,
            Self::PictureLost => 4010,
            Self::BrowserLost => 4012,
            Self::TerminalLost => 4013,
            Self::ServerStops => 4011,
            Self::ForwardRemoved => 4020,
        }
    }

    /// The reason for people; at most 123 bytes.
    pub fn sentence(&self) -> String {
        match self {
            Self::ViewerLeft | Self::Done => String::new(),
            Self::SessionOver(reason) => format!("session ended: {}", reason.as_str()),
            Self::Revoked => "the token or ticket is no longer valid: log in again".to_owned(),
            Self::PictureLost => "the session's picture is gone".to_owned(),
            Self::BrowserLost => "the browser is gone: connect again soon".to_owned(),
            Self::TerminalLost => "the terminal is gone".to_owned(),
            Self::ServerStops => "the server stops: connect again soon".to_owned(),
            Self::ForwardRemoved => "the forward was removed".to_owned(),
            Self::Nonsense(what) => what.chars().take(60).collect(),
        }
    }
}
