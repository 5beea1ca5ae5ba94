//! One HTTP request to the server's MCP endpoint, and its response as it arrives.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::sse::{Event, Parser};
use crate::{remote::Remote, rest};

/// A stream that is silent for this long is dead: the server sends a comment every 15 s.
const SILENCE: Duration = Duration::from_secs(120);
/// Maximum size of a message.
const MAX_MESSAGE: usize = 256 << 20;

/// Why there is no response.
pub enum Failure {
    /// The request did not reach the server.
    Unsent(String),
    /// It may have reached the server.
    Lost(String),
}

/// A response. Dropping it closes the connection, which cancels a request without a session.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
    _connection: AbortOnDropHandle<()>,
}

/// Sends a request on a separate connection, and waits for the response to begin.
pub async fn send(
    server: &Remote,
    method: Method,
    path: &str,
    headers: HeaderMap,
    body: Bytes,
    deadline: Duration,
) -> Result<Reply, Failure> {
    let unsent = |error: &dyn ToString| Failure::Unsent(error.to_string());
    let mut request = rest::authorized(server, method, path, body).map_err(|e| unsent(&e))?;
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    request.headers_mut().insert(header::ACCEPT, accept);
    request.headers_mut().extend(headers);
    let stream = server.dial().await.map_err(|e| unsent(&e))?;
    let (mut sender, connection): (SendRequest<_>, _) =
        handshake(TokioIo::new(stream)).await.map_err(|e| unsent(&e))?;
    let connection = AbortOnDropHandle::new(helmdeck_task::spawn(async move {
        // The response reports the error.
        let _ = connection.await;
    }));
    match timeout(deadline, sender.try_send_request(request)).await {
        Ok(Ok(response)) => {
            let (head, body) = response.into_parts();
            let (status, headers) = (head.status, head.headers);
            Ok(Reply { status, headers, body, _connection: connection })
        }
        Ok(Err(mut error)) => {
            let is_unsent = error.take_message().is_some();
            let why = error.into_error().to_string();
            Err(if is_unsent { Failure::Unsent(why) } else { Failure::Lost(why) })
        }
        Err(_) => Err(Failure::Lost(format!("no answer within {} s", deadline.as_secs()))),
    }
}

impl Reply {
    /// Whether it is a stream of events.
    pub fn is_stream(&self) -> bool {
        let media_type = self.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        media_type.is_some_and(|it| it.starts_with(b"text/event-stream"))
    }

    /// How long the server wants to be left alone.
    pub fn retry_after(&self) -> Duration {
        let seconds = self.headers.get(header::RETRY_AFTER).and_then(|it| it.to_str().ok());
        Duration::from_secs(seconds.and_then(|it| it.parse().ok()).unwrap_or_default())
    }

    /// The whole body.
    pub async fn text(self) -> Result<String, String> {
        let body = timeout(SILENCE, Limited::new(self.body, MAX_MESSAGE).collect()).await;
        let body = body.map_err(|_| "the answer stopped".to_owned())?;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Its events.
    pub fn events(self) -> Events {
        Events { reply: self, parser: Parser::default(), ready: VecDeque::new() }
    }
}

/// The events of a response.
pub struct Events {
    reply: Reply,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    /// The next event, or why there is none.
    pub async fn next(&mut self) -> Result<Event, String> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            let frame = timeout(SILENCE, self.reply.body.frame()).await;
            let frame = frame.map_err(|_| "the server is silent".to_owned())?;
            let frame = frame.ok_or("the server closed it")?.map_err(|error| error.to_string())?;
            if let Some(bytes) = frame.data_ref() {
                self.ready.extend(self.parser.read(bytes));
            }
            if self.parser.unread() > MAX_MESSAGE {
                return Err("a message is too large".to_owned());
            }
        }
    }
}
