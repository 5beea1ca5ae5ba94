//! Calls to a server's REST API, for the commands that need one.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use helmdeck_wire::ErrorBody;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;

use crate::remote::{NoSocket, Remote};

/// What the server does for a command takes a moment.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// The largest answer: a picture or a document.
const MAX_ANSWER: usize = 256 << 20;
/// The largest answer that is a remark for people.
const MAX_REMARK: usize = 1000;

/// A successful answer.
pub struct Answer {
    /// What is said about it.
    pub headers: HeaderMap,
    /// What it is.
    pub body: Bytes,
}

impl Answer {
    /// Its media type, without parameters.
    pub fn media_type(&self) -> &str {
        let kind = self.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim()
    }
}

/// Posts a body and reads the answer.
pub async fn post<T: DeserializeOwned>(
    server: &Remote,
    path: &str,
    body: &impl Serialize,
) -> Result<T, NoSocket> {
    let failed = |error: &dyn Error| NoSocket::Unreachable(error.to_string());
    let body = serde_json::to_vec(body).map_err(|e| failed(&e))?;
    let answer = ask(server, Method::POST, path, body.into(), DEADLINE).await?;
    serde_json::from_slice(&answer.body).map_err(|e| failed(&e))
}

/// Sends a request and waits for its answer.
pub async fn ask(
    server: &Remote,
    method: Method,
    path: &str,
    body: Bytes,
    deadline: Duration,
) -> Result<Answer, NoSocket> {
    let failed = |error: &dyn Error| NoSocket::Unreachable(error.to_string());
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
    let late = |_| NoSocket::Unreachable(format!("{} does not answer", server.url()));
    let (status, answer) = timeout(deadline, send(server, request)).await.map_err(late)??;
    if status.is_success() {
        return Ok(answer);
    }
    let why = match serde_json::from_slice::<ErrorBody>(&answer.body) {
        Ok(body) => format!("{} ({})", body.message, body.error),
        // Not the API: another server, a proxy, or a port that speaks HTTPS.
        Err(_) if answer.media_type() == "text/plain" && answer.body.len() < MAX_REMARK => {
            String::from_utf8_lossy(&answer.body).trim().to_owned()
        }
        Err(_) => format!("status {status}"),
    };
    Err(NoSocket::Refused(status.as_u16(), why))
}

async fn send(
    server: &Remote,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Answer), NoSocket> {
    let failed = |error: &dyn Error| NoSocket::Unreachable(format!("{}: {error}", server.url()));
    let stream = server.dial().await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| failed(&e))?;
    // Ends with the answer.
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await.map_err(|e| failed(&e))?.into_parts();
    let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|e| failed(&*e))?;
    Ok((head.status, Answer { headers: head.headers, body: body.to_bytes() }))
}
