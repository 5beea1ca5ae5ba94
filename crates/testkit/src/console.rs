//! A client of a session's terminal over a WebSocket.

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::connected::Connected;

/// An open terminal.
pub type Console = Connected<Shown>;

/// What a terminal displayed and reported.
#[derive(Default)]
pub struct Shown {
    bytes: Vec<u8>,
    /// Text messages received so far.
    pub said: Vec<Value>,
}

impl Shown {
    /// Everything displayed so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Console {
    /// Types text.
    pub async fn type_text(&mut self, text: &str) {
        let message = Message::binary(text.as_bytes().to_vec());
        self.socket.send(message).await.expect("an open terminal");
    }

    /// Resizes the terminal.
    pub async fn resize(&mut self, cols: u16, rows: u16) {
        let message = json!({ "type": "resize", "cols": cols, "rows": rows });
        self.say(&message.to_string()).await;
    }

    /// Sends a text message.
    pub async fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text.to_owned())).await.expect("an open terminal");
    }

    /// Reads until the terminal displays this.
    pub async fn shows(&mut self, text: &str) {
        while !self.text().contains(text) {
            let code = self.read().await;
            assert!(code.is_none(), "it ended with {code:?} before {text:?}: {}", self.text());
        }
    }

    /// Reads until the server sends a message of this type, and returns it.
    pub async fn says(&mut self, kind: &str) -> Value {
        loop {
            if let Some(at) = self.said.iter().position(|said| said["type"] == kind) {
                return self.said.remove(at);
            }
            let code = self.read().await;
            assert!(
                code.is_none(),
                "it ended with {code:?} before it said {kind}: {}",
                self.text()
            );
        }
    }

    /// Reads to the end, and returns the close code.
    pub async fn closed(mut self) -> u16 {
        loop {
            if let Some(code) = self.read().await {
                return code;
            }
        }
    }

    /// Reads one message. Returns the close code at the end.
    async fn read(&mut self) -> Option<u16> {
        match self.next().await {
            Some(Ok(Message::Binary(bytes))) => self.bytes.extend_from_slice(&bytes),
            Some(Ok(Message::Text(text))) => {
                self.said.push(serde_json::from_str(&text).expect("JSON"));
            }
            Some(Ok(Message::Close(frame))) => {
                return Some(frame.map_or(1005, |frame| frame.code.into()));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Some(1006),
        }
        None
    }
}
