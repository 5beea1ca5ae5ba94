//! Why a live connection ends, as its page is told.

use std::{future::pending, time::Duration};

use helmdeck_wire::session::EndReason;
use time::OffsetDateTime;

/// How often the clock is asked whether a moment has come: it may be set meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(30);

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
    /// The viewer sent what nobody understands.
    Nonsense(String),
}

impl Closing {
    /// The WebSocket close code: those from 4000 on are ours.
    pub fn code(&self) -> u16 {
        match self {
            Self::ViewerLeft => 1000,
            Self::SessionOver(_) => 4000,
            Self::Revoked => 4001,
            Self::Nonsense(_) => 4002,
            Self::PictureLost => 4010,
            Self::BrowserLost => 4012,
            Self::ServerStops => 4011,
        }
    }

    /// For people; at most 123 bytes fit.
    pub fn sentence(&self) -> String {
        match self {
            Self::ViewerLeft => String::new(),
            Self::SessionOver(reason) => format!("session ended: {}", reason.as_str()),
            Self::Revoked => "the token or ticket is no longer good: log in again".to_owned(),
            Self::PictureLost => "the session's picture is gone".to_owned(),
            Self::BrowserLost => "the browser is gone: connect again soon".to_owned(),
            Self::ServerStops => "the server stops: connect again soon".to_owned(),
            Self::Nonsense(what) => what.chars().take(60).collect(),
        }
    }
}
