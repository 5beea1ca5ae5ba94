//! A session to act in.

use serde_json::{Value, json};

use crate::{Answer, Client};

/// A session of one client.
pub struct Desk<'a> {
    /// Who created it.
    pub client: &'a Client,
    /// Its id.
    pub id: String,
}

impl<'a> Desk<'a> {
    /// Creates a session and waits until it is ready.
    pub async fn create(client: &'a Client, spec: &Value) -> Self {
        let session = client.post("/api/v1/sessions", spec).await.expect(201).json();
        assert_eq!(session["status"], "running", "{session}");
        Self { client, id: session["id"].as_str().expect("an id").to_owned() }
    }

    /// A desktop session of a size that is cheap to paint.
    pub async fn desktop(client: &'a Client) -> Self {
        Self::create(client, &json!({ "mode": "desktop", "geometry": "1280x800" })).await
    }

    /// Asks for an action, whatever comes of it.
    pub async fn ask(&self, action: &str, mut body: Value) -> Answer {
        body["session_id"] = self.id.clone().into();
        self.client.post(&format!("/api/v1/desktop/{action}"), &body).await
    }

    /// Does an action that must succeed, and returns its reply.
    pub async fn act(&self, action: &str, body: Value) -> Value {
        self.ask(action, body).await.expect(200).json()
    }

    /// The windows on the desktop.
    pub async fn windows(&self) -> Vec<Value> {
        let path = format!("/api/v1/desktop/windows?session_id={}", self.id);
        let reply = self.client.get(&path).await.expect(200).json();
        reply["windows"].as_array().expect("a list").clone()
    }

    /// What the clipboard holds.
    pub async fn clipboard(&self) -> String {
        let reply = self.act("clipboard", json!({})).await;
        reply["text"].as_str().expect("text").to_owned()
    }

    /// The session as its owner sees it.
    pub async fn describe(&self) -> Value {
        self.client.get(&format!("/api/v1/sessions/{}", self.id)).await.expect(200).json()
    }

    /// Ends the session.
    pub async fn end(&self) {
        self.client.delete(&format!("/api/v1/sessions/{}", self.id)).await.expect(204);
    }
}
