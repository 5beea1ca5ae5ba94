//! Relays between a viewer's WebSocket and the session's browser: pictures to the viewer, and
//! permitted messages to the browser.

mod message;

use std::{pin::pin, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_sessions::{
    ByteStream, CastViewer,
    cast_link::{self, Message as Cast, Receiver},
};
use helmdeck_wire::cast::{CastMessage, CastRequest, MayDrive, Refusal};
use serde_json::json;
use tokio::{
    io::{ReadHalf, WriteHalf},
    sync::{mpsc, watch},
    time::{Instant, interval, sleep_until, timeout},
};

use crate::{
    closing::{Closing, close},
    input_journal::InputJournal,
};

/// A viewer that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// The guest reads at once, unless it is stuck.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// How long to wait for the reason of a lost picture.
const WHY_DEADLINE: Duration = Duration::from_secs(3);
/// Keeps connections alive through proxies, and detects dead ones.
const PING_EVERY: Duration = Duration::from_secs(20);
/// A viewer that does not answer pings for this long is gone, and loses control.
const SILENCE: Duration = Duration::from_secs(60);
/// Minimum interval between refusals.
const REFUSE_EVERY: Duration = Duration::from_millis(100);
/// Message to a viewer without control.
const ONLY_WATCHES: &str = "you can only watch: take control first";

/// Relays until either side ends, or `ended` gives a reason to stop.
pub async fn relay(
    socket: WebSocket,
    mut viewer: CastViewer,
    stream: Box<dyn ByteStream>,
    ended: impl Future<Output = Closing>,
) {
    let (mut to_viewer, mut from_viewer) = socket.split();
    let (from_guest, mut to_guest) = tokio::io::split(stream);
    let (drives, mut may_drive) = watch::channel(viewer.drives());
    may_drive.mark_changed();
    let (refusals, mut refused) = mpsc::channel(1);
    let own = Own { may_drive: &mut may_drive, refused: &mut refused };
    let mut ended = pin!(ended);
    let mut reason = tokio::select! {
        reason = down(from_guest, &mut to_viewer, own) => reason,
        reason = up(&mut from_viewer, &mut to_guest, &mut viewer, &drives, &refusals) => reason,
        reason = &mut ended => reason,
    };
    // The picture was lost because the session ends. The reason follows shortly.
    if reason == Closing::PictureLost
        && let Ok(why) = timeout(WHY_DEADLINE, ended).await
    {
        reason = why;
    }
    // When the connection closes, the guest releases everything that the viewer pressed.
    drop((to_guest, viewer));
    close(to_viewer, from_viewer, &reason).await;
}

/// Messages from the server itself, not from the guest.
struct Own<'a> {
    may_drive: &'a mut watch::Receiver<bool>,
    refused: &'a mut mpsc::Receiver<String>,
}

async fn down(
    from_guest: ReadHalf<Box<dyn ByteStream>>,
    to_viewer: &mut SplitSink<WebSocket, Message>,
    own: Own<'_>,
) -> Closing {
    let mut from_guest = Receiver::new(from_guest);
    let mut pings = interval(PING_EVERY);
    loop {
        // One at a time: the guest does not send more than the viewer reads.
        let message = tokio::select! {
            biased;
            Ok(()) = own.may_drive.changed() => {
                let may_drive = *own.may_drive.borrow_and_update();
                words(&CastMessage::Control(MayDrive { may_drive }))
            }
            Some(message) = own.refused.recv() => words(&CastMessage::Error(Refusal { message })),
            message = from_guest.next() => match message {
                Some(Cast::Picture(jpeg)) => Message::Binary(jpeg),
                Some(Cast::Words(text)) => match Utf8Bytes::try_from(text) {
                    Ok(text) => Message::Text(text),
                    Err(_) => return Closing::PictureLost,
                },
                None => return Closing::PictureLost,
            },
            _ = pings.tick() => Message::Ping(Bytes::new()),
        };
        match timeout(SEND_DEADLINE, to_viewer.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Closing::ViewerLeft,
        }
    }
}

fn words(told: &CastMessage) -> Message {
    // Our own types always serialize.
    Message::Text(serde_json::to_string(told).unwrap_or_default().into())
}

/// Forwards permitted messages of the viewer.
async fn up(
    from_viewer: &mut SplitStream<WebSocket>,
    to_guest: &mut WriteHalf<Box<dyn ByteStream>>,
    viewer: &mut CastViewer,
    drives: &watch::Sender<bool>,
    refusals: &mpsc::Sender<String>,
) -> Closing {
    let (mut done, mut key_is_down) = (InputJournal::default(), false);
    let (mut heard, mut refused) = (Instant::now(), None::<Instant>);
    let mut knows = false;
    loop {
        let asked = tokio::select! {
            message = from_viewer.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => match message::read(&text) {
                        Ok(asked) => asked,
                        Err(why) => {
                            if refused.is_none_or(|at| at.elapsed() >= REFUSE_EVERY) {
                                refused = Some(heard);
                                // A viewer that does not read gets no refusals.
                                let _ = refusals.try_send(why);
                            }
                            continue;
                        }
                    },
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Binary(_))) => {
                        return Closing::Nonsense("messages must be text".to_owned());
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::ViewerLeft,
                }
            }
            () = sleep_until(heard + SILENCE) => return Closing::ViewerLeft,
            () = viewer.changed_hands() => {
                let now = viewer.drives();
                if !drives.send_if_modified(|before| std::mem::replace(before, now) != now) || now {
                    continue;
                }
                done.note(viewer);
                CastRequest::ReleaseAll
            }
            () = done.due() => {
                done.note(viewer);
                continue;
            }
        };
        if message::drives(&asked) && asked != CastRequest::ReleaseAll {
            if !viewer.drives() {
                // Only once, because input arrives in bursts. Input that was in flight when control
                // changed is ignored.
                if !knows && message::begins(&asked) {
                    knows = refusals.try_send(ONLY_WATCHES.to_owned()).is_ok();
                }
                continue;
            }
            knows = false;
        }
        note(&asked, &mut done, &mut key_is_down, viewer);
        let message = Cast::asking(&asked);
        match timeout(WRITE_DEADLINE, cast_link::send(to_guest, &message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Closing::PictureLost,
        }
    }
}

/// Records manual input, without what was typed.
fn note(asked: &CastRequest, done: &mut InputJournal, key_is_down: &mut bool, viewer: &CastViewer) {
    if let Some(input) = message::noted(asked, key_is_down) {
        done.add(&[input], viewer);
    }
    if let CastRequest::Dialog(answer) = asked {
        done.note_one(viewer, "dialog", || json!({ "accept": answer.accept }));
        viewer.session().touch();
    }
}
