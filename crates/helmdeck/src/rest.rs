//! Calls to a server's REST API.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use helmdeck_task::BoxFuture;
use helmdeck_wire::ErrorBody;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;

use crate::remote::{ConnectFailure, Remote};

/// Deadline of a call.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// Maximum size of a response, such as a picture or a document.
const MAX_ANSWER: usize = 256 << 20;
/// The largest answer that is a remark for people.
const MAX_REMARK: usize = 1000;

/// A successful response.
pub struct Answer {
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

impl Answer {
    /// Media type without parameters.
    pub fn media_type(&self) -> &str {
        let kind = self.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim()
    }
}

/// Posts a body and parses the response.
pub async fn post<T: DeserializeOwned>(
    server: &Remote,
    path: &str,
    body: &impl Serialize,
) -> Result<T, ConnectFailure> {
    let failed = |error: &dyn Error| ConnectFailure::Unreachable(error.to_string());
    let body = serde_json::to_vec(body).map_err(|e| failed(&e))?;
    let answer = ask(server, Method::POST, path, body.into(), DEADLINE).await?;
    serde_json::from_slice(&answer.body).map_err(|e| failed(&e))
}

/// Sends a request and waits for the response.
pub fn ask<'a>(
    server: &'a Remote,
    method: Method,
    path: &'a str,
    body: Bytes,
    deadline: Duration,
) -> BoxFuture<'a, Result<Answer, ConnectFailure>> {
    Box::pin(async move {
        let request = authorized(server, method, path, body)?;
        let late = |_| ConnectFailure::Unreachable(format!("{} does not answer", server.url()));
        let (status, answer) = timeout(deadline, send(server, request)).await.map_err(late)??;
        if status.is_success() { Ok(answer) } else { Err(refusal(status, &answer)) }
    })
}

/// Sends a request and returns the content of the response as it arrives. The deadline is for its
/// beginning.
pub fn stream<'a>(
    server: &'a Remote,
    method: Method,
    path: &'a str,
    body: Bytes,
    deadline: Duration,
) -> BoxFuture<'a, Result<Incoming, ConnectFailure>> {
    Box::pin(async move {
        let request = authorized(server, method, path, body)?;
        let late = |_| ConnectFailure::Unreachable(format!("{} does not answer", server.url()));
        let opened = timeout(deadline, open(server, request)).await.map_err(late)??;
        if opened.status().is_success() {
            return Ok(opened.into_body());
        }
        let (status, answer) = timeout(deadline, collect(server, opened)).await.map_err(late)??;
        Err(refusal(status, &answer))
    })
}

/// Why the server refused.
fn refusal(status: StatusCode, answer: &Answer) -> ConnectFailure {
    let why = match serde_json::from_slice::<ErrorBody>(&answer.body) {
        Ok(body) => format!("{} ({})", body.message, body.error),
        // Not the API: another server, a proxy, or a port that speaks HTTPS.
        Err(_) if answer.media_type() == "text/plain" && answer.body.len() < MAX_REMARK => {
            String::from_utf8_lossy(&answer.body).trim().to_owned()
        }
        Err(_) => format!("status {status}"),
    };
    ConnectFailure::Refused(status.as_u16(), why)
}

/// A request with JSON and the server's token.
pub fn authorized(
    server: &Remote,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, ConnectFailure> {
    let failed = |error: &dyn Error| ConnectFailure::Unreachable(error.to_string());
    let authorized = server.request(path)?;
    let place = authorized.uri().authority().map(ToString::to_string).unwrap_or_default();
    let target = authorized.uri().path_and_query().map_or(path, |target| target.as_str());
    let mut request = Request::builder()
        .method(method)
        .uri(target)
        .header(header::HOST, &place)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body))
        .map_err(|e| failed(&e))?;
    if let Some(bearer) = authorized.headers().get(header::AUTHORIZATION) {
        request.headers_mut().insert(header::AUTHORIZATION, bearer.clone());
    }
    Ok(request)
}

async fn send(
    server: &Remote,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Answer), ConnectFailure> {
    let opened = open(server, request).await?;
    collect(server, opened).await
}

async fn open(
    server: &Remote,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, ConnectFailure> {
    let failed =
        |error: &dyn Error| ConnectFailure::Unreachable(format!("{}: {error}", server.url()));
    let stream = server.dial().await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(&e))?;
    // Ends with the response.
    helmdeck_task::spawn(connection);
    sender.send_request(request).await.map_err(|e| failed(&e))
}

async fn collect(
    server: &Remote,
    response: Response<Incoming>,
) -> Result<(StatusCode, Answer), ConnectFailure> {
    let failed =
        |error: &dyn Error| ConnectFailure::Unreachable(format!("{}: {error}", server.url()));
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|e| failed(&*e))?;
    Ok((head.status, Answer { headers: head.headers, body: body.to_bytes() }))
}
