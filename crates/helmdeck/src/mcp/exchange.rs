//! One attempt to have a request answered.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_wire::ErrorBody;
use http::{HeaderValue, Method, StatusCode};
use serde_json::Value;

use super::{
    bridge::{Bridge, Pending},
    http::{Failure, Reply},
    id::Id,
    message::Message,
    problem::{self, Problem},
    session::{self, Session},
    stream::{LAST_EVENT, Position, Stream},
};

/// How long an answer may take to begin.
const DEADLINE: Duration = Duration::from_secs(60);
/// The same for calls: slightly more than the longest program in a session.
const CALL_DEADLINE: Duration = Duration::from_secs(3700);
/// The longest text of an answer that is not JSON.
const MAX_REMARK: usize = 300;

/// A request, and the session that it is sent in.
pub struct Exchange<'a> {
    pub bridge: &'a Bridge,
    pub message: &'a Message,
    pub id: &'a Id,
    pub pending: Option<&'a Pending>,
    pub session: Option<&'a Session>,
}

/// What came of an attempt.
pub enum Outcome {
    Answered(Answer),
    /// The server did not carry it out, and may do so later.
    Unsent {
        why: String,
        after: Duration,
    },
    /// The server may have carried it out.
    Lost {
        why: String,
        /// Whether the answer had begun.
        has_begun: bool,
    },
    /// The server does not know the session.
    SessionGone,
    Refused(Problem),
}

/// An answer of the server.
pub struct Answer {
    pub text: String,
    /// The id of the session that it opens.
    pub session: Option<HeaderValue>,
}

impl Exchange<'_> {
    /// Sends the request, and passes on the server's messages until one answers it.
    pub async fn run(&self) -> Outcome {
        let mut headers = self.message.headers();
        headers.extend(self.session.map(Session::headers).unwrap_or_default());
        let deadline = if self.message.is_long() { CALL_DEADLINE } else { DEADLINE };
        let text = self.message.text.clone();
        let reply = match self.bridge.send(Method::POST, headers, text, deadline).await {
            Ok(reply) => reply,
            Err(Failure::Unsent(why)) => return Outcome::Unsent { why, after: Duration::ZERO },
            Err(Failure::Lost(why)) => return Outcome::Lost { why, has_begun: false },
        };
        if let Some(pending) = self.pending {
            pending.accepted.cancel();
        }
        let (status, after) = (reply.status, reply.retry_after());
        let session = reply.headers.get(session::HEADER).cloned();
        if status.is_success() && reply.is_stream() {
            return match self.follow(reply).await {
                Ok(text) => Outcome::Answered(Answer { text, session }),
                Err(why) => Outcome::Lost { why, has_begun: true },
            };
        }
        let text = match reply.text().await {
            Ok(text) => text,
            Err(why) => return Outcome::Lost { why, has_begun: true },
        };
        if let Some(text) = self.json_rpc(&text) {
            return Outcome::Answered(Answer { text, session });
        }
        let why = remark(&text);
        match status {
            StatusCode::NOT_FOUND if self.session.is_some() => Outcome::SessionGone,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Outcome::Unsent { why, after }
            }
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
                Outcome::Lost { why: format!("{status}: {why}"), has_begun: false }
            }
            _ => Outcome::Refused(problem::refused(&self.bridge.url(), status, &why)),
        }
    }

    /// Passes on events until the answer. A broken stream is resumed if the server can.
    async fn follow(&self, reply: Reply) -> Result<String, String> {
        let mut stream = Stream::new(reply.events(), None);
        loop {
            let why = match stream.next().await {
                Ok(data) => match self.bridge.pass(data, Some(self.id)).await {
                    Some(answer) => return Ok(answer),
                    None => continue,
                },
                Err(why) => why,
            };
            // Another stream may have brought the answer.
            let is_answered = self.pending.is_some() && self.bridge.pending(self.id).is_none();
            let last = stream.position().filter(|_| !is_answered);
            let Some(last) = last else { return Err(why) };
            // At once: a server that was killed still refuses connections, and knows the stream no
            // longer when it is back.
            let Some(reply) = self.resume(&last).await else { return Err(why) };
            stream = Stream::new(reply.events(), Some(last));
        }
    }

    /// The stream after this event, if the server still has it.
    async fn resume(&self, last: &Position) -> Option<Reply> {
        let mut headers = self.message.headers();
        headers.extend(self.session.map(Session::headers).unwrap_or_default());
        headers.insert(LAST_EVENT, HeaderValue::try_from(&last.id).ok()?);
        let reply = self.bridge.send(Method::GET, headers, Bytes::new(), DEADLINE).await.ok()?;
        (reply.status.is_success() && reply.is_stream()).then_some(reply)
    }

    /// A body that answers the request. Errors about the request as a whole have no id.
    fn json_rpc(&self, text: &str) -> Option<String> {
        let mut value: Value = serde_json::from_str(text).ok()?;
        let fields = value.as_object_mut().filter(|it| it.contains_key("jsonrpc"))?;
        if !fields.contains_key("result") && !fields.contains_key("error") {
            return None;
        }
        fields.insert("id".to_owned(), self.id.value());
        Some(value.to_string())
    }
}

/// What a body says that is not JSON-RPC.
fn remark(text: &str) -> String {
    match serde_json::from_str::<ErrorBody>(text) {
        Ok(body) => body.message,
        Err(_) => text.trim().chars().take(MAX_REMARK).collect(),
    }
}
