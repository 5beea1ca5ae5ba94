//! A client of the browser's debugging protocol over a WebSocket.

use std::time::Duration;

use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::Message;

use crate::connected::Connected;

/// An open connection.
pub type Debugger = Connected<Received>;

/// What a client sent and received.
#[derive(Default)]
pub struct Received {
    last: i64,
    /// Events received while waiting for a response.
    pub events: Vec<Value>,
}

impl Debugger {
    /// Sends a command and returns the whole response.
    pub async fn ask(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).await.expect("an open connection");
        loop {
            let text = match self.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                other => panic!("{method}: {other:?}"),
            };
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["id"] == self.last {
                return message;
            }
            assert!(message["method"].is_string(), "unexpected answer: {message}");
            self.events.push(message);
        }
    }

    /// Sends a command and returns the result.
    pub async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let mut answer = self.ask(session, method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Opens a page, attaches to it, and waits until it is loaded, unless that takes seconds. Returns
    /// the session.
    pub async fn open_page(&mut self, url: &str) -> String {
        let target = self.call(None, "Target.createTarget", json!({ "url": url })).await;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", attach).await;
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        if url == "about:blank" {
            return session;
        }
        for _ in 0..100 {
            // The first document of a page is blank, and replaced by the one that was asked for.
            let loaded = "document.readyState === 'complete' && location.href !== 'about:blank'";
            let params = json!({ "expression": loaded });
            let answer = self.ask(Some(&session), "Runtime.evaluate", params).await;
            if answer["result"]["result"]["value"] == true {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
        session
    }

    /// Waits for the end, and returns the close code and reason.
    pub async fn closed(mut self) -> (u16, String) {
        loop {
            match self.next().await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code.into(), frame.reason.to_string());
                }
                Some(Ok(_)) => {}
                _ => return (1006, String::new()),
            }
        }
    }
}
