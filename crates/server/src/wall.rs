//! The wall: small live pictures of many sessions over one connection.

use std::{collections::HashMap, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt};
use helmdeck_sessions::{Caller, Session};
use helmdeck_wire::{SessionId, guest::PictureRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use time::OffsetDateTime;
use tokio::{
    sync::mpsc,
    time::{Instant, interval, sleep_until, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    App,
    closing::{Closing, close, until},
    input,
};

/// Enough to see activity; more would only cost.
const FPS: f32 = 3.0;
const QUALITY: u8 = 70;
const WIDTHS: (u32, u32) = (64, 960);
/// Maximum number of sessions. More tiles fit on no screen.
const MAX_WATCHED: usize = 64;
/// Maximum size of a page's message.
pub const MAX_MESSAGE: usize = 16 << 10;
/// A page that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// Pause between attempts to watch a session that is not ready.
const PAUSE: Duration = Duration::from_millis(500);
const PING_EVERY: Duration = Duration::from_secs(20);
/// A page that does not answer pings for this long is gone.
const SILENCE: Duration = Duration::from_secs(60);

/// The sessions that the page wants to see.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    watch: Vec<SessionId>,
    width: u32,
}

/// Sends the requested pictures to a page, until it disconnects or its token expires.
pub async fn serve(app: App, caller: Caller, expires: OffsetDateTime, socket: WebSocket) {
    let (mut to_page, mut from_page) = socket.split();
    let (frames, mut arrived) = mpsc::channel::<Bytes>(4);
    let mut watched = HashMap::new();
    let credentials = [caller.token.clone()];
    let mut width = 0;
    let mut pings = interval(PING_EVERY);
    let mut heard = Instant::now();
    let reason = loop {
        let message = tokio::select! {
            frame = arrived.recv() => match frame {
                Some(frame) => Message::Binary(frame),
                None => break Closing::ViewerLeft,
            },
            message = from_page.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let wanted = match input::read_text::<Wanted>(&text) {
                        Ok(wanted) => wanted,
                        Err(refused) => break Closing::Nonsense(refused.message),
                    };
                    if wanted.width != width {
                        (width, watched) = (wanted.width, HashMap::new());
                    }
                    watch(&app, &caller, &wanted, &frames, &mut watched);
                    heard = Instant::now();
                    continue;
                }
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {
                    heard = Instant::now();
                    continue;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break Closing::ViewerLeft,
            },
            () = app.revoked.any_of(&credentials) => break Closing::Revoked,
            () = until(Some(expires)) => break Closing::Revoked,
            () = sleep_until(heard + SILENCE) => break Closing::ViewerLeft,
            () = app.closing.cancelled() => break Closing::ServerStops,
            _ = pings.tick() => Message::Ping(Bytes::new()),
        };
        match timeout(SEND_DEADLINE, to_page.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => break Closing::ViewerLeft,
        }
    };
    drop(watched);
    close(to_page, from_page, &reason).await;
}

/// Starts and stops streams to match the request.
fn watch(
    app: &App,
    caller: &Caller,
    wanted: &Wanted,
    frames: &mpsc::Sender<Bytes>,
    watched: &mut HashMap<SessionId, AbortOnDropHandle<()>>,
) {
    watched.retain(|id, task| wanted.watch.contains(id) && !task.is_finished());
    for id in wanted.watch.iter().take(MAX_WATCHED) {
        // Sessions of others or that are gone have no picture.
        let Ok(session) = app.sessions.get(caller, id) else { continue };
        watched.entry(id.clone()).or_insert_with(|| {
            let width = wanted.width.clamp(WIDTHS.0, WIDTHS.1);
            AbortOnDropHandle::new(helmdeck_task::spawn(show(session, width, frames.clone())))
        });
    }
}

/// Sends one session's pictures until it ends.
async fn show(session: Session, width: u32, to_page: mpsc::Sender<Bytes>) {
    while session.is_alive() {
        let wanted = PictureRequest { width, fps: FPS, quality: QUALITY };
        if let Ok(mut frames) = session.frames(wanted).await {
            while let Ok(Some(jpeg)) = frames.next().await {
                if to_page.send(labelled(session.id(), &jpeg)).await.is_err() {
                    return;
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The length of the id, the id, and the picture.
fn labelled(id: &SessionId, jpeg: &[u8]) -> Bytes {
    let id = id.as_str().as_bytes();
    let mut message = BytesMut::with_capacity(1 + id.len() + jpeg.len());
    message.put_u8(u8::try_from(id.len()).unwrap_or(u8::MAX));
    message.put_slice(id);
    message.put_slice(jpeg);
    message.freeze()
}
