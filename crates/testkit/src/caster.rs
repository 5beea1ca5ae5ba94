//! A viewer of a session's browser.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::connected::{Connected, PATIENCE};

/// An open view of a browser.
pub type Caster = Connected<Seen>;

/// What a viewer received.
#[derive(Default)]
pub struct Seen {
    /// The last message of each kind.
    pub told: BTreeMap<String, Value>,
    /// All pictures so far.
    pub pictures: Vec<Vec<u8>>,
}

impl Caster {
    /// Sends a message.
    pub async fn send(&mut self, method: &str, params: Value) {
        self.send_text(json!({ "method": method, "params": params }).to_string()).await;
    }

    /// Sends any text.
    pub async fn send_text(&mut self, text: String) {
        self.socket.send(Message::text(text)).await.expect("an open connection");
    }

    /// Clicks the left button this many times.
    pub async fn click(&mut self, x: u32, y: u32, count: u32) {
        for count in 1..=count {
            for kind in ["mousePressed", "mouseReleased"] {
                let params =
                    json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": count });
                self.send("Input.dispatchMouseEvent", params).await;
            }
        }
    }

    /// The last message of a kind.
    pub fn last(&self, kind: &str) -> &Value {
        self.told.get(kind).unwrap_or(&Value::Null)
    }

    /// Reads until the condition holds.
    #[track_caller]
    pub fn until(&mut self, done: impl Fn(&Self) -> bool) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let watching = async {
                while !done(self) {
                    let next = self.socket.next().await;
                    assert!(self.note(&next).is_none(), "the view ended: {next:?}");
                }
            };
            let watched = timeout(PATIENCE, watching).await;
            assert!(watched.is_ok(), "at {caller}: {:?}", self.told);
        }
    }

    /// Reads for a while.
    pub async fn watch(&mut self, during: Duration) {
        let watching = async {
            loop {
                let next = self.socket.next().await;
                assert!(self.note(&next).is_none(), "the view ended: {next:?}");
            }
        };
        let _ = timeout(during, watching).await;
    }

    /// Waits for the end, and returns the close code.
    pub async fn closed(mut self) -> u16 {
        let closing = async {
            loop {
                let next = self.socket.next().await;
                if let Some(code) = self.note(&next) {
                    return code;
                }
            }
        };
        timeout(PATIENCE, closing).await.expect("an end")
    }

    /// Records a message. Returns the close code at the end.
    fn note(
        &mut self,
        message: &Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
    ) -> Option<u16> {
        match message {
            Some(Ok(Message::Binary(jpeg))) => {
                assert!(jpeg.starts_with(&[0xff, 0xd8]), "a JPEG");
                self.pictures.push(jpeg.to_vec());
            }
            Some(Ok(Message::Text(text))) => {
                let message: BTreeMap<String, Value> = serde_json::from_str(text).expect("JSON");
                assert_eq!(message.len(), 1, "{text}");
                self.told.extend(message);
            }
            Some(Ok(Message::Close(frame))) => {
                return Some(frame.as_ref().map_or(1005, |frame| frame.code.into()));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Some(1006),
        }
        None
    }
}
