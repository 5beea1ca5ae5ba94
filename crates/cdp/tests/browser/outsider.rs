//! An outside client, like a test library: ids count from one, and all messages are text.

use std::time::Duration;

use helmdeck_cdp::Client;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::chromium::{Chromium, SOON, evaluation};

pub struct Outsider {
    pub client: Client,
    last: i32,
    /// Everything received that was not an awaited answer.
    pub seen: Vec<Value>,
}

impl Outsider {
    pub async fn connect(chromium: &Chromium) -> Self {
        Self::labelled(chromium, "agent").await
    }

    /// A client with a label.
    pub async fn labelled(chromium: &Chromium, label: &str) -> Self {
        let client = chromium.cdp.client(label, SOON).await.unwrap();
        Self { client, last: 0, seen: Vec::new() }
    }

    /// Sends a call, and returns its id.
    pub async fn post(&mut self, session: Option<&str>, method: &str, params: Value) -> i32 {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.client.send(&message.to_string()).await.unwrap();
        self.last
    }

    /// The whole answer to a call.
    pub async fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.post(session, method, params).await;
        self.answer(id).await
    }

    pub async fn answer(&mut self, id: i32) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
            self.seen.push(message);
        }
    }

    pub async fn next(&mut self) -> Value {
        let message = timeout(SOON, self.client.next()).await.unwrap();
        let message = message.unwrap_or_else(|| panic!("{:?}", self.client.ended()));
        serde_json::from_str(&message).unwrap()
    }

    /// The next or an earlier message with this method.
    pub async fn event(&mut self, method: &str) -> Value {
        if let Some(at) = self.seen.iter().position(|message| message["method"] == method) {
            return self.seen.remove(at);
        }
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Opens a page, and returns its target and session.
    pub async fn page(&mut self, url: &str) -> (String, String) {
        let created = self.call(None, "Target.createTarget", json!({ "url": url })).await;
        let target = created["result"]["targetId"].as_str().unwrap().to_owned();
        let session = self.attach(&target).await;
        (target, session)
    }

    pub async fn attach(&mut self, target: &str) -> String {
        let params = json!({ "targetId": target, "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", params).await;
        attached["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub async fn evaluate(&mut self, session: &str, expression: &str) -> Value {
        let answer = self.call(Some(session), "Runtime.evaluate", evaluation(expression)).await;
        answer["result"]["result"]["value"].clone()
    }

    /// Evaluates repeatedly until the value is reached, while the page loads.
    pub async fn until(&mut self, session: &str, expression: &str, value: impl Into<Value>) {
        let value = value.into();
        let looking = async {
            while self.evaluate(session, expression).await != value {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(SOON, looking).await.unwrap();
    }
}

/// Checks repeatedly until the condition is true.
pub async fn until(what: impl Fn() -> bool) {
    let looking = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, looking).await.unwrap();
}
