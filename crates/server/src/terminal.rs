//! Relays between a client's WebSocket and a terminal of a session: terminal bytes as binary
//! messages, everything else as JSON.

use std::{pin::pin, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use helmdeck_sessions::{FromTerminal, Terminal, TerminalInput, TerminalOutput};
use helmdeck_wire::{
    ErrorBody,
    exec::{ExecState, TerminalSize},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, interval, sleep_until, timeout},
};

use crate::{
    closing::{Closing, close},
    error::ApiError,
    input,
};

/// A client that reads nothing for this long is gone.
const SEND_DEADLINE: Duration = Duration::from_secs(30);
/// How long a program may leave input unread before the terminal is closed.
const TYPE_DEADLINE: Duration = Duration::from_secs(600);
/// Keeps connections alive through proxies, and detects dead ones.
const PING_EVERY: Duration = Duration::from_secs(20);
/// A client that does not answer pings for this long is gone.
const SILENCE: Duration = Duration::from_secs(60);
/// How long to wait for the reason of a lost terminal.
const WHY_DEADLINE: Duration = Duration::from_secs(3);

/// A text message of a client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(rename = "type")]
    _kind: RequestKind,
    #[schemars(range(min = 1, max = 1000))]
    cols: u16,
    #[schemars(range(min = 1, max = 1000))]
    rows: u16,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RequestKind {
    Resize,
}

/// Relays until either side ends, or `ended` gives a reason to stop.
pub async fn relay(
    socket: WebSocket,
    (terminal, mut input, output): (Terminal, TerminalInput, TerminalOutput),
    ended: impl Future<Output = Closing>,
) {
    let (mut to_client, mut from_client) = socket.split();
    // The server's own messages. A client that sends too much at once waits for the answers.
    let (say, said) = mpsc::channel(4);
    let mut ended = pin!(ended);
    let mut reason = tokio::select! {
        reason = down(output, &mut to_client, said, &terminal) => reason,
        reason = up(&mut from_client, &mut input, &terminal, say) => reason,
        reason = &mut ended => reason,
    };
    // The terminal was lost because the session ends. The reason follows shortly.
    if reason == Closing::TerminalLost
        && let Ok(why) = timeout(WHY_DEADLINE, ended).await
    {
        reason = why;
    }
    drop((input, terminal));
    close(to_client, from_client, &reason).await;
}

/// Sends the terminal's output. Programs wait while the client does not read.
async fn down(
    mut output: TerminalOutput,
    to_client: &mut SplitSink<WebSocket, Message>,
    mut said: mpsc::Receiver<Value>,
    terminal: &Terminal,
) -> Closing {
    let mut pings = interval(PING_EVERY);
    loop {
        let (message, over) = tokio::select! {
            shown = output.next() => match shown {
                Some(FromTerminal::Bytes(bytes)) => {
                    terminal.touch();
                    (Message::Binary(bytes), false)
                }
                Some(FromTerminal::Ended(state)) => (Message::Text(exit(&state).into()), true),
                None => return Closing::TerminalLost,
            },
            Some(words) = said.recv() => (Message::Text(words.to_string().into()), false),
            _ = pings.tick() => (Message::Ping(Bytes::new()), false),
        };
        match timeout(SEND_DEADLINE, to_client.send(message)).await {
            Ok(Ok(())) if over => return Closing::Done,
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Closing::ViewerLeft,
        }
    }
}

/// Forwards the client's input, if allowed.
async fn up(
    from_client: &mut SplitStream<WebSocket>,
    input: &mut TerminalInput,
    terminal: &Terminal,
    say: mpsc::Sender<Value>,
) -> Closing {
    let mut heard = Instant::now();
    // Reported once, not for every key.
    let mut refused = false;
    loop {
        let message = tokio::select! {
            message = from_client.next() => message,
            () = sleep_until(heard + SILENCE) => return Closing::ViewerLeft,
        };
        heard = Instant::now();
        let sent = match message {
            Some(Ok(Message::Binary(bytes))) => match terminal.may_drive() {
                Ok(()) => {
                    refused = false;
                    terminal.touch();
                    timeout(TYPE_DEADLINE, input.send(bytes)).await
                }
                Err(_) if refused => continue,
                Err(held) => {
                    refused = true;
                    if say.send(error(&ApiError::from(held).body())).await.is_err() {
                        return Closing::ViewerLeft;
                    }
                    continue;
                }
            },
            Some(Ok(Message::Text(text))) => match size(&text) {
                Ok(size) => timeout(TYPE_DEADLINE, input.resize(size)).await,
                Err(refusal) => {
                    if say.send(error(&refusal)).await.is_err() {
                        return Closing::ViewerLeft;
                    }
                    continue;
                }
            },
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Closing::ViewerLeft,
        };
        match sent {
            Ok(Ok(())) => {}
            // The output direction reports how it ended.
            Ok(Err(_)) => return std::future::pending().await,
            Err(_) => return Closing::TerminalLost,
        }
    }
}

fn size(text: &str) -> Result<TerminalSize, ErrorBody> {
    match input::read_text(text) {
        Ok(Request { cols, rows, .. }) => Ok(TerminalSize { cols, rows }),
        Err(refused) => {
            let body = refused.body();
            let message = format!(
                "{}; expected {{\"type\": \"resize\", \"cols\": 120, \"rows\": 40}} as a text message; \
                 send input as binary messages",
                body.message
            );
            Err(ErrorBody { message, ..body })
        }
    }
}

fn exit(state: &ExecState) -> String {
    let ExecState { exit_code, signal, .. } = state;
    json!({ "type": "exit", "exit_code": exit_code, "signal": signal }).to_string()
}

fn error(body: &ErrorBody) -> Value {
    let mut words = serde_json::to_value(body).unwrap_or_default();
    if let Some(words) = words.as_object_mut() {
        words.insert("type".to_owned(), json!("error"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_message_is_a_size_within_bounds() {
        let wanted = r#"{"type": "resize", "cols": 120, "rows": 40}"#;
        assert_eq!(size(wanted), Ok(TerminalSize { cols: 120, rows: 40 }));
        for (text, reason) in [
            (r#"{"type": "resize", "cols": 0, "rows": 40}"#, "cols is 0: expected 1 to 1000"),
            (r#"{"type": "resize", "cols": 5000, "rows": 40}"#, "cols is 5000: expected 1 to 1000"),
            (r#"{"type": "close", "cols": 1, "rows": 1}"#, "type is \"close\": expected resize"),
            ("ls", "the message is not a JSON object"),
            ("[]", "send input as binary messages"),
        ] {
            let refused = size(text).unwrap_err();
            assert!(refused.message.contains(reason), "{text}: {refused}");
        }
    }
}
