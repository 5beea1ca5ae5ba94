//! Why a live connection ends, as its page is told.

use std::{future::pending, time::Duration};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_wire::session::EndReason;
use time::OffsetDateTime;
use tokio::time::timeout;

/// How often the clock is asked whether a moment has come: it may be set meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// How long the other side may take to hear of the end, and to agree.
const GOODBYE_DEADLINE: Duration = Duration::from_secs(2);

/// Ends a WebSocket as the protocol has it: with a frame of each side.
pub async fn close(
    mut to: SplitSink<WebSocket, Message>,
    mut from: SplitStream<WebSocket>,
    reason: &Closing,
) {
    let frame = CloseFrame { code: reason.code(), reason: reason.sentence().into() };
    let goodbye = async {
        // Refused if the other side was first.
        let _ = to.send(Message::Close(Some(frame))).await;
        // Sends the answer that the other side waits for then.
        let _ = to.close().await;
        // What is not read when we hang up would make the frame get lost.
        while let Some(Ok(_)) = from.next().await {}
    };
    let _ = timeout(GOODBYE_DEADLINE, goodbye).await;
}

/// Waits until that moment; for ever, if there is none.
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
    /// The other side went.
    ViewerLeft,
    /// The session is over.
    SessionOver(EndReason),
    /// The token or ticket was revoked, or the token expired.
    Revoked,
    /// The X server or the guest is gone; the session's end will tell more.
    PictureLost,
    /// The browser is gone; it is brought back under the same address.
    BrowserLost,
    /// The server stops; another one may take the session over.
    ServerStops,
    /// The program of a terminal has ended.
    Done,
    /// The terminal is gone; the session's end will tell more.
    TerminalLost,
    /// The forwarded port was closed.
    ForwardRemoved,
    /// The viewer sent what nobody understands.
    Nonsense(String),
}

impl Closing {
    /// The WebSocket close code: those from 4000 on are ours.
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

    /// For people; at most 123 bytes fit.
    pub fn sentence(&self) -> String {
        match self {
            Self::ViewerLeft | Self::Done => String::new(),
            Self::SessionOver(reason) => format!("session ended: {}", reason.as_str()),
            Self::Revoked => "the token or ticket is no longer good: log in again".to_owned(),
            Self::PictureLost => "the session's picture is gone".to_owned(),
            Self::BrowserLost => "the browser is gone: connect again soon".to_owned(),
            Self::TerminalLost => "the terminal is gone".to_owned(),
            Self::ServerStops => "the server stops: connect again soon".to_owned(),
            Self::ForwardRemoved => "the forward was removed".to_owned(),
            Self::Nonsense(what) => what.chars().take(60).collect(),
        }
    }
}
