//! Relays the debugging protocol between a client's WebSocket and the session's browser. Blocks
//! messages that would end the browser, move files out of the session, or act while a person has
//! control.

mod page;
mod policy;

use std::{borrow::Cow, future::pending, pin::pin, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_cdp::MAX_MESSAGE;
use helmdeck_sessions::{ByteStream, CdpClient};
use page::PageSocket;
use policy::Verdict;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, ReadHalf, WriteHalf},
    sync::mpsc,
    time::{Instant, interval, sleep_until, timeout},
};

use crate::{
    closing::{Closing, close},
    error::{ApiError, ApiResult},
};

/// A client that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// The guest reads at once, unless the browser is stuck.
const WRITE_DEADLINE: Duration = Duration::from_secs(35);
/// How long to wait for the reason of a lost browser.
const WHY_DEADLINE: Duration = Duration::from_millis(300);
/// The same if the session is known to have ended.
const OVER_DEADLINE: Duration = Duration::from_secs(3);
/// Keeps connections alive through proxies, and detects dead ones.
const PING_EVERY: Duration = Duration::from_secs(20);
/// A client that does not answer pings for this long is gone.
const SILENCE: Duration = Duration::from_secs(60);
/// The browser answers simple questions at once.
const ASK_DEADLINE: Duration = Duration::from_secs(10);

/// Relays until either side ends, or `ended` gives a reason to stop. With `page`, the client speaks
/// to that page only.
pub async fn relay(
    socket: WebSocket,
    client: CdpClient,
    stream: Box<dyn ByteStream>,
    page: Option<String>,
    ended: impl Future<Output = Closing>,
) {
    let (mut to_client, mut from_client) = socket.split();
    let (from_browser, mut to_browser) = tokio::io::split(stream);
    let mut from_browser = BufReader::new(from_browser);
    let page = match page {
        None => None,
        Some(target) => match attach(&mut from_browser, &mut to_browser, &target).await {
            Some(session) => Some(PageSocket::new(session)),
            None => {
                let reason = Closing::Nonsense(format!("page {target} does not exist"));
                return close(to_client, from_client, &reason).await;
            }
        },
    };
    let page = page.as_ref();
    // Answers that the server gives instead of the browser.
    let (answers, mut answered) = mpsc::channel(16);
    let mut ended = pin!(ended);
    let mut reason = tokio::select! {
        reason = down(from_browser, &mut to_client, &mut answered, page) => reason,
        reason = up(&mut from_client, &mut to_browser, &client, answers, page) => reason,
        reason = &mut ended => reason,
    };
    if reason == Closing::BrowserLost {
        let over = !client.session().is_alive();
        let patience = if over { OVER_DEADLINE } else { WHY_DEADLINE };
        if let Ok(why) = timeout(patience, ended).await {
            reason = why;
        }
    }
    drop((to_browser, client));
    close(to_client, from_client, &reason).await;
}

async fn down(
    mut from_browser: BufReader<ReadHalf<Box<dyn ByteStream>>>,
    to_client: &mut SplitSink<WebSocket, Message>,
    answered: &mut mpsc::Receiver<String>,
    page: Option<&PageSocket>,
) -> Closing {
    // One at a time: messages may be large, and the guest buffers the rest.
    let (messages, mut arrived) = mpsc::channel(1);
    // Keeps reading while the client is slow. A half-read message must not be lost.
    let reading = async move {
        while let Some(message) = next(&mut from_browser).await {
            if page.is_some_and(|page| page.ends(&message)) {
                return;
            }
            let message = match page {
                None => message,
                Some(page) => match page.down(&message) {
                    Some(message) => message,
                    None => continue,
                },
            };
            if messages.send(message).await.is_err() {
                return;
            }
        }
    };
    let sending = async {
        let mut pings = interval(PING_EVERY);
        loop {
            let message = tokio::select! {
                message = arrived.recv() => match message {
                    Some(message) => Message::Text(message.into()),
                    None => return Closing::BrowserLost,
                },
                Some(answer) = answered.recv() => {
                    let answer = page.and_then(|page| page.down(&answer)).unwrap_or(answer);
                    Message::Text(answer.into())
                }
                _ = pings.tick() => Message::Ping(Bytes::new()),
            };
            match timeout(SEND_DEADLINE, to_client.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Closing::ViewerLeft,
            }
        }
    };
    tokio::select! {
        closing = sending => closing,
        // The last message is still to be sent; the end of the channel signals that.
        () = async { reading.await; pending().await } => Closing::BrowserLost,
    }
}

async fn up(
    from_client: &mut SplitStream<WebSocket>,
    to_browser: &mut WriteHalf<Box<dyn ByteStream>>,
    client: &CdpClient,
    answers: mpsc::Sender<String>,
    page: Option<&PageSocket>,
) -> Closing {
    let mut heard = Instant::now();
    loop {
        let text = tokio::select! {
            message = from_client.next() => match message {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                    heard = Instant::now();
                    continue;
                }
                Some(Ok(Message::Binary(_))) => {
                    return Closing::Nonsense("messages must be text".to_owned());
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::ViewerLeft,
            },
            () = sleep_until(heard + SILENCE) => return Closing::ViewerLeft,
        };
        heard = Instant::now();
        client.touch();
        let text = page.map_or(Cow::Borrowed(text.as_str()), |page| page.up(&text).into());
        let message = match policy::judge(&text, || client.may_drive()) {
            Verdict::Pass(message) => message,
            Verdict::Answer(answer) => {
                if answers.send(answer).await.is_err() {
                    return Closing::ViewerLeft;
                }
                continue;
            }
        };
        let sent = async {
            to_browser.write_all(message.as_bytes()).await?;
            to_browser.write_all(&[0]).await
        };
        match timeout(WRITE_DEADLINE, sent).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Closing::BrowserLost,
        }
    }
}

/// Attaches to a page, and returns its protocol session.
async fn attach(
    from_browser: &mut BufReader<ReadHalf<Box<dyn ByteStream>>>,
    to_browser: &mut WriteHalf<Box<dyn ByteStream>>,
    target: &str,
) -> Option<String> {
    let params = json!({ "targetId": target, "flatten": true });
    let question = json!({ "id": 1, "method": "Target.attachToTarget", "params": params });
    let question = format!("{question}\0");
    let asking = async {
        to_browser.write_all(question.as_bytes()).await.ok()?;
        loop {
            let message = next(from_browser).await?;
            let message: serde_json::Value = serde_json::from_str(&message).ok()?;
            if message.get("id").is_some() {
                return message.pointer("/result/sessionId")?.as_str().map(str::to_owned);
            }
        }
    };
    timeout(ASK_DEADLINE, asking).await.ok().flatten()
}

/// The next message from the browser.
async fn next(from_browser: &mut BufReader<ReadHalf<Box<dyn ByteStream>>>) -> Option<String> {
    let mut message = Vec::new();
    let mut limited = from_browser.take(MAX_MESSAGE as u64 + 1);
    limited.read_until(0, &mut message).await.ok()?;
    (message.pop() == Some(0)).then_some(())?;
    String::from_utf8(message).ok()
}

/// Sends the browser a single command.
pub async fn ask<T: DeserializeOwned>(stream: Box<dyn ByteStream>, method: &str) -> ApiResult<T> {
    /// Events and answers to other clients have no result.
    #[derive(Deserialize)]
    struct Answer<T> {
        result: T,
    }
    let (from_browser, mut to_browser) = tokio::io::split(stream);
    let mut from_browser = BufReader::new(from_browser);
    let question = format!("{}\0", json!({ "id": 1, "method": method }));
    let asking = async {
        to_browser.write_all(question.as_bytes()).await.ok()?;
        loop {
            let message = next(&mut from_browser).await?;
            if let Ok(answer) = serde_json::from_str::<Answer<T>>(&message) {
                return Some(answer.result);
            }
        }
    };
    let answer = timeout(ASK_DEADLINE, asking).await.ok().flatten();
    answer.ok_or_else(|| {
        let message = "the browser does not answer now: try again";
        ApiError::new(helmdeck_wire::ErrorCode::CdpUnavailable, message)
    })
}
