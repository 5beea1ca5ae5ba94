//! What all messages of a client share.

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::Bytes;
use helmdeck_task::BoxFuture;
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    http::{Failure, Reply, send},
    id::Id,
    message::Message,
    session::Session,
};
use crate::remote::Remote;

/// How long messages are retried during an outage of the server.
const OUTAGE: Duration = Duration::from_secs(60);
/// The same before the server has answered once: the address may be wrong, and clients want to know
/// before they give up, after 30 s at the earliest.
const FIRST_CONTACT: Duration = Duration::from_secs(20);

/// A client and its server.
pub struct Bridge {
    server: Remote,
    path: String,
    output: mpsc::Sender<String>,
    /// Requests of the client without an answer.
    pending: Mutex<HashMap<Id, Pending>>,
    session: Mutex<Option<Session>>,
    /// Held while a session is replaced.
    pub reopening: tokio::sync::Mutex<()>,
    /// Resources that the session is subscribed to, with the request.
    pub subscribed: Mutex<BTreeMap<String, Message>>,
    /// Receives what the server sends outside of answers.
    listener: Mutex<Option<AbortOnDropHandle<()>>>,
    reached: AtomicBool,
}

/// A request without an answer.
#[derive(Clone)]
pub struct Pending {
    /// Ends the request without an answer.
    pub cancel: CancellationToken,
    /// Cancelled when the server has accepted the request.
    pub accepted: CancellationToken,
    pub is_stateless: bool,
    is_subscription: bool,
}

/// A message of the server, as far as the bridge must know it.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<IgnoredAny>,
}

impl Bridge {
    /// A bridge that writes lines to `output`.
    pub fn new(server: Remote, path: String, output: mpsc::Sender<String>) -> Self {
        Self {
            server,
            path,
            output,
            pending: Mutex::default(),
            session: Mutex::default(),
            reopening: tokio::sync::Mutex::default(),
            subscribed: Mutex::default(),
            listener: Mutex::default(),
            reached: AtomicBool::new(false),
        }
    }

    /// The server's address.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// How long messages are retried.
    pub fn patience(&self) -> Duration {
        if self.reached.load(Ordering::Relaxed) { OUTAGE } else { FIRST_CONTACT }
    }

    /// Sends an HTTP request.
    pub fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<Reply, Failure>> {
        Box::pin(async move {
            let reply = send(&self.server, method, &self.path, headers, body, deadline).await;
            if reply.is_ok() {
                self.reached.store(true, Ordering::Relaxed);
            }
            reply
        })
    }

    /// Notes a request. `None` if one with this id is not answered yet.
    pub fn begin(&self, id: &Id, message: &Message) -> Option<Pending> {
        let mut pending = self.pending.lock();
        if pending.contains_key(id) {
            return None;
        }
        let new = Pending {
            cancel: CancellationToken::new(),
            accepted: CancellationToken::new(),
            is_stateless: message.is_stateless(),
            is_subscription: message.is_subscription(),
        };
        pending.insert(id.clone(), new.clone());
        Some(new)
    }

    /// A request that is not answered yet.
    pub fn pending(&self, id: &Id) -> Option<Pending> {
        self.pending.lock().get(id).cloned()
    }

    /// Forgets a request that is not answered.
    pub fn forget(&self, id: &Id) {
        self.pending.lock().remove(id);
    }

    /// Ends streams that would never end by themselves.
    pub fn end_subscriptions(&self) {
        for pending in self.pending.lock().values().filter(|it| it.is_subscription) {
            pending.cancel.cancel();
        }
    }

    /// Answers a request, unless it was answered or cancelled.
    pub async fn answer(&self, id: &Id, text: String) {
        let pending = self.pending.lock().remove(id);
        if pending.is_some() {
            self.write(text).await;
        }
    }

    /// Passes on a message of the server, unless it answers the request `own`: then it is returned.
    pub async fn pass(&self, text: String, own: Option<&Id>) -> Option<String> {
        let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
            self.note("ignored a message of the server that is not JSON-RPC");
            return None;
        };
        let text = on_one_line(text);
        let answers = envelope.id.as_ref().and_then(Id::of).filter(|_| envelope.method.is_none());
        match answers {
            Some(id) if Some(&id) == own => return Some(text),
            Some(id) => self.answer(&id, text).await,
            None => self.write(text).await,
        }
        None
    }

    /// Writes a line to the client.
    pub async fn write(&self, line: String) {
        // If the client is gone, the program ends.
        let _ = self.output.send(line).await;
    }

    /// Resolves when the client no longer reads.
    pub async fn is_unread(&self) {
        self.output.closed().await;
    }

    /// Tells the person who reads the log of the client.
    pub fn note(&self, line: &str) {
        eprintln!("helmdeck mcp: {line}");
    }

    /// The session of protocol versions that have sessions.
    pub fn session(&self) -> Option<Session> {
        self.session.lock().clone()
    }

    /// Replaces the session.
    pub fn set_session(&self, session: Option<Session>) {
        *self.session.lock() = session;
    }

    /// Replaces the task that receives what the server sends outside of answers.
    pub fn set_listener(&self, listener: Option<AbortOnDropHandle<()>>) {
        *self.listener.lock() = listener;
    }
}

/// A message without line breaks, which JSON may have between its tokens.
fn on_one_line(text: String) -> String {
    if !text.contains(['\n', '\r']) {
        return text;
    }
    serde_json::from_str::<Value>(&text).map_or(text, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_on_one_line() {
        assert_eq!(on_one_line("{\"a\":\n\"x\\ny\"}".to_owned()), r#"{"a":"x\ny"}"#);
        assert_eq!(on_one_line("{ \"b\": 1 }".to_owned()), "{ \"b\": 1 }");
    }
}
