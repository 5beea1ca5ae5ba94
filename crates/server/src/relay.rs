//! Relays between a viewer's WebSocket and the session's X server: the picture to the viewer, and
//! permitted messages to the X server.

use std::{pin::pin, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_rfb::{Handshake, InputFilter, RfbError};
use helmdeck_sessions::{ByteStream, View};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    sync::mpsc,
    time::{Instant, interval, sleep_until, timeout},
};

use crate::{
    closing::{Closing, close},
    input_journal::InputJournal,
};

/// Size of one read from the X server.
const CHUNK: usize = 64 << 10;
/// A viewer that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// The X server reads at once, unless it is stuck.
const WRITE_DEADLINE: Duration = Duration::from_secs(10);
/// How long to wait for the reason of a lost picture.
const WHY_DEADLINE: Duration = Duration::from_secs(3);
/// How long a viewer may take for the handshake.
const HANDSHAKE_DEADLINE: Duration = Duration::from_secs(15);
/// Keeps connections alive through proxies, and detects dead ones.
const PING_EVERY: Duration = Duration::from_secs(20);
/// A viewer that does not answer pings for this long is gone, and loses control.
const SILENCE: Duration = Duration::from_secs(60);

type Viewer = SplitSink<WebSocket, Message>;

/// Relays until either side ends, or `ended` gives a reason to stop.
pub async fn relay(
    socket: WebSocket,
    mut view: View,
    stream: Box<dyn ByteStream>,
    ended: impl Future<Output = Closing>,
) {
    let (mut to_viewer, mut from_viewer) = socket.split();
    let (from_x, mut to_x) = tokio::io::split(stream);
    let mut filter = InputFilter::new(view.role());
    // Answers of the handshake. The picture follows on the same path.
    let (answers, mut answered) = mpsc::channel(4);
    let mut ended = pin!(ended);
    let mut reason = tokio::select! {
        reason = down(from_x, &mut to_viewer, &mut answered) => reason,
        reason = up(&mut from_viewer, &mut to_x, &mut filter, &mut view, answers) => reason,
        reason = &mut ended => reason,
    };
    // The picture was lost because the session ends. The reason follows shortly.
    if reason == Closing::PictureLost
        && let Ok(why) = timeout(WHY_DEADLINE, ended).await
    {
        reason = why;
    }
    // Release everything that the viewer pressed, on the connection on which it was pressed.
    let _ = timeout(WRITE_DEADLINE, to_x.write_all(&filter.release())).await;
    drop((to_x, view));
    close(to_viewer, from_viewer, &reason).await;
}

/// Sends the picture to the viewer.
async fn down(
    mut from_x: ReadHalf<Box<dyn ByteStream>>,
    to_viewer: &mut Viewer,
    answered: &mut mpsc::Receiver<Bytes>,
) -> Closing {
    let mut chunk = BytesMut::with_capacity(CHUNK);
    let mut pings = interval(PING_EVERY);
    loop {
        chunk.reserve(CHUNK);
        let message = tokio::select! {
            biased;
            answer = answered.recv() => match answer {
                Some(answer) => Message::Binary(answer),
                None => return Closing::ViewerLeft,
            },
            // The X server sends only after the viewer's first message, which is the last of the
            // handshake.
            read = from_x.read_buf(&mut chunk) => match read {
                Ok(0) | Err(_) => return Closing::PictureLost,
                Ok(_) => Message::Binary(chunk.split().freeze()),
            },
            _ = pings.tick() => Message::Ping(Bytes::new()),
        };
        match timeout(SEND_DEADLINE, to_viewer.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Closing::ViewerLeft,
        }
    }
}

/// Forwards permitted messages of the viewer.
async fn up(
    from_viewer: &mut SplitStream<WebSocket>,
    to_x: &mut WriteHalf<Box<dyn ByteStream>>,
    filter: &mut InputFilter,
    view: &mut View,
    answers: mpsc::Sender<Bytes>,
) -> Closing {
    let rest = match timeout(HANDSHAKE_DEADLINE, shake_hands(from_viewer, &answers)).await {
        Ok(Ok((client_init, rest))) => {
            if to_x.write_all(&client_init).await.is_err() {
                return Closing::PictureLost;
            }
            rest
        }
        Ok(Err(closing)) => return closing,
        Err(_) => return Closing::Nonsense("the handshake took too long".to_owned()),
    };
    let mut done = InputJournal::default();
    let (mut out, mut bytes, mut heard) = (Vec::new(), Some(rest), Instant::now());
    loop {
        if let Some(bytes) = bytes.take() {
            let passed = match filter.feed(&bytes, view.drives(), &mut out) {
                Ok(passed) => passed,
                Err(error) => return nonsense(error),
            };
            done.add(&passed.inputs, view);
        }
        if !out.is_empty() {
            match timeout(WRITE_DEADLINE, to_x.write_all(&out)).await {
                Ok(Ok(())) => out.clear(),
                Ok(Err(_)) | Err(_) => return Closing::PictureLost,
            }
        }
        tokio::select! {
            message = from_viewer.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Binary(message))) => bytes = Some(message),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Text(_))) => {
                        return Closing::Nonsense("RFB messages must be binary".to_owned());
                    }
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::ViewerLeft,
                }
            }
            () = sleep_until(heard + SILENCE) => return Closing::ViewerLeft,
            () = view.changed_hands() => {
                if !view.drives() {
                    out = filter.release();
                    done.note(view);
                }
            }
            () = done.due() => done.note(view),
        }
    }
}

/// The viewer's handshake. Returns the first bytes for the X server, and those that followed.
async fn shake_hands(
    from_viewer: &mut SplitStream<WebSocket>,
    answers: &mpsc::Sender<Bytes>,
) -> Result<([u8; 1], Bytes), Closing> {
    let (mut handshake, greeting) = Handshake::new();
    let answer = async |bytes: Bytes| answers.send(bytes).await.map_err(|_| Closing::ViewerLeft);
    answer(Bytes::from_static(greeting)).await?;
    while let Some(Ok(message)) = from_viewer.next().await {
        let Message::Binary(bytes) = message else { continue };
        let step = handshake.feed(&bytes).map_err(nonsense)?;
        if !step.to_client.is_empty() {
            answer(step.to_client.into()).await?;
        }
        if let Some(done) = step.done {
            return Ok((done.client_init, bytes.slice_ref(done.rest)));
        }
    }
    Err(Closing::ViewerLeft)
}

fn nonsense(error: RfbError) -> Closing {
    Closing::Nonsense(error.to_string())
}
