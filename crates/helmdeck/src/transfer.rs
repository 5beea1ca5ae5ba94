//! Streamed bodies to and from a server.

use std::{error::Error, fmt, io, time::Duration};

use bytes::Bytes;
use futures_util::stream;
use helmdeck_task::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::remote::Remote;

/// Deadline to read a refusal. The response starts after an upload is complete.
const REFUSAL_DEADLINE: Duration = Duration::from_secs(20);
/// Maximum pause during a transfer.
const STALL_DEADLINE: Duration = Duration::from_secs(60);
/// Maximum time for a whole upload.
const UPLOAD_DEADLINE: Duration = Duration::from_secs(3600);
const PIECE: usize = 256 << 10;

/// A server's refusal.
#[derive(Debug)]
pub struct Refused {
    pub status: StatusCode,
    why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Error for Refused {}

/// Body of a request.
pub type Body = UnsyncBoxBody<Bytes, io::Error>;
/// Why a transfer failed.
pub type Failure = Box<dyn Error + Send + Sync>;

/// An empty body.
pub fn empty() -> Body {
    Full::default().map_err(|never| match never {}).boxed_unsync()
}

/// A body with everything that a source has.
pub fn body_of(source: impl AsyncRead + Send + Unpin + 'static) -> Body {
    let pieces = stream::try_unfold(source, async |mut source| {
        let mut piece = vec![0; PIECE];
        let read = source.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (Frame::data(Bytes::from(piece)), source)))
    });
    StreamBody::new(pieces).boxed_unsync()
}

/// Calls a server, and returns a successful response.
pub fn call<'a>(
    server: &'a Remote,
    method: Method,
    path: &'a str,
    headers: HeaderMap,
    body: Body,
) -> BoxFuture<'a, Result<Response<Incoming>, Failure>> {
    Box::pin(async move {
        let authorized = server.request(path)?;
        let authority = authorized.uri().authority().ok_or("an address without a host")?;
        let target = authorized.uri().path_and_query().map_or(path, |target| target.as_str());
        let stream = server.dial().await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // Ends with the response.
        helmdeck_task::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::HOST, authority.as_str())
            .body(body)?;
        request.headers_mut().extend(headers);
        if let Some(bearer) = authorized.headers().get(header::AUTHORIZATION) {
            request.headers_mut().insert(header::AUTHORIZATION, bearer.clone());
        }
        let response = timeout(UPLOAD_DEADLINE, sender.send_request(request)).await??;
        if matches!(response.status(), StatusCode::OK | StatusCode::CREATED) {
            return Ok(response);
        }
        let status = response.status();
        let answer = timeout(REFUSAL_DEADLINE, response.into_body().collect()).await??.to_bytes();
        let why = serde_json::from_slice::<helmdeck_wire::ErrorBody>(&answer);
        let why = why.map_or_else(|_| format!("status {status}"), |body| body.message);
        Err(Refused { status, why }.into())
    })
}

/// Writes a response to a target, and returns its size.
pub async fn save(
    response: Response<Incoming>,
    target: &mut (impl AsyncWrite + Unpin),
) -> Result<u64, Failure> {
    let (mut body, mut size) = (response.into_body(), 0);
    while let Some(frame) = timeout(STALL_DEADLINE, body.frame()).await? {
        if let Ok(piece) = frame?.into_data() {
            target.write_all(&piece).await?;
            size += piece.len() as u64;
        }
    }
    target.flush().await?;
    Ok(size)
}
