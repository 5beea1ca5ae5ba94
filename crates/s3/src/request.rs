//! Signed requests: one attempt, and repetitions after failures that may pass.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, Method, Request, StatusCode, header, response::Parts};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use time::OffsetDateTime;
use tokio::time::{sleep, timeout};
use tracing::debug;

use crate::{
    S3Error,
    connection::{Connection, Connector},
    error::Failed,
    query::query,
    sign::{Signable, Signer, sha256},
};

/// How long requests may take.
#[derive(Debug, Clone, Copy)]
pub struct RequestDeadlines {
    /// A request, or the head of a response that is streamed.
    pub answer: Duration,
    /// A request that uploads a part of a file.
    pub part: Duration,
    /// The request after which a service joins the parts.
    pub completion: Duration,
    /// A deletion.
    pub deletion: Duration,
    /// The next piece of an object.
    pub piece: Duration,
}

impl Default for RequestDeadlines {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(30),
            part: Duration::from_secs(120),
            completion: Duration::from_secs(300),
            // Other changes wait for it.
            deletion: Duration::from_secs(10),
            piece: Duration::from_secs(30),
        }
    }
}

/// Pauses between attempts, to which up to half is added.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1600)];
/// Maximum size of a response that is kept in memory. A page of a list has about 400 KB.
const MAX_REPLY: usize = 4 << 20;

/// How a service sees us.
const USER_AGENT: &str = concat!("helmdeck/", env!("CARGO_PKG_VERSION"));

/// Sends requests to a bucket.
pub(crate) struct Sender {
    connector: Connector,
    signer: Signer,
    bucket: String,
    pub limits: RequestDeadlines,
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub method: Method,
    /// The path on the server.
    pub path: String,
    /// In the form that is signed.
    pub query: String,
    /// First and last byte to get.
    pub range: Option<(u64, u64)>,
    pub body: Bytes,
    /// How long one attempt may take; [`RequestDeadlines::answer`] if `None`.
    pub limit: Option<Duration>,
    /// How often it is tried.
    pub attempts: usize,
}

impl Call {
    pub fn new(method: Method, path: impl Into<String>, pairs: &[(&str, &str)]) -> Self {
        let (path, query) = (path.into(), query(pairs));
        let attempts = PAUSES.len() + 1;
        Self { method, path, query, range: None, body: Bytes::new(), limit: None, attempts }
    }

    pub fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub fn limit(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Pauses after failed attempts.
    fn pauses(&self) -> impl Iterator<Item = &'static Duration> + use<> {
        PAUSES.iter().take(self.attempts.saturating_sub(1))
    }
}

/// A response whose body is still to be read.
pub(crate) struct Opened {
    pub head: Parts,
    pub body: Incoming,
    /// Closes when dropped.
    pub connection: Connection,
}

impl Sender {
    pub fn new(
        connector: Connector,
        signer: Signer,
        bucket: String,
        limits: RequestDeadlines,
    ) -> Self {
        Self { connector, signer, bucket, limits }
    }

    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Sends a request, and reads the whole response.
    pub async fn fetch(&self, call: &Call) -> Result<(Parts, String), S3Error> {
        let limit = call.limit.unwrap_or(self.limits.answer);
        let mut pauses = call.pauses();
        loop {
            let done = timeout(limit, self.fetch_once(call)).await;
            let done = done.unwrap_or_else(|_| Err(self.silent(limit)));
            match (&done, pauses.next()) {
                (Err(error), Some(pause)) if error.may_pass() => {
                    wait(call, error, limit.min(*pause)).await;
                }
                _ => return done,
            }
        }
    }

    /// Sends a request, and leaves the body of the response to the caller.
    pub async fn open(&self, call: &Call) -> Result<Opened, S3Error> {
        let limit = call.limit.unwrap_or(self.limits.answer);
        let mut pauses = call.pauses();
        loop {
            let done = timeout(limit, self.open_once(call)).await;
            let done = done.unwrap_or_else(|_| Err(self.silent(limit)));
            match (&done, pauses.next()) {
                (Err(error), Some(pause)) if error.may_pass() => {
                    wait(call, error, limit.min(*pause)).await;
                }
                _ => return done,
            }
        }
    }

    async fn fetch_once(&self, call: &Call) -> Result<(Parts, String), S3Error> {
        let Opened { head, body, connection } = self.open_once(call).await?;
        let body = self.read(body, MAX_REPLY).await?;
        self.connector.keep(connection);
        // An upload that took long has status 200 before it is known to have failed.
        if body.contains("<Error>") {
            return Err(self.failed(&head, &body));
        }
        Ok((head, body))
    }

    /// One attempt. The service may have closed a connection that was used before: then there is a
    /// second one.
    async fn open_once(&self, call: &Call) -> Result<Opened, S3Error> {
        let mut connection = self.connector.connect().await?;
        let mut answer = connection.send(self.signed(call)?).await;
        if answer.is_err() && connection.reused {
            connection = self.connector.dial().await?;
            answer = connection.send(self.signed(call)?).await;
        }
        let answer = answer.map_err(|source| S3Error::Unreachable {
            endpoint: self.connector.endpoint(),
            source,
        })?;
        let (head, body) = answer.into_parts();
        if head.status.is_success() {
            return Ok(Opened { head, body, connection });
        }
        let body = self.read(body, MAX_REPLY).await?;
        self.connector.keep(connection);
        Err(self.failed(&head, &body))
    }

    fn failed(&self, head: &Parts, body: &str) -> S3Error {
        let region = head.headers.get("x-amz-bucket-region");
        let region = region.and_then(|it| it.to_str().ok()).map(str::to_owned);
        let (endpoint, status) = (self.connector.endpoint(), head.status);
        Failed { endpoint, bucket: &self.bucket, status, region, body }.error()
    }

    fn signed(&self, call: &Call) -> Result<Request<Full<Bytes>>, S3Error> {
        let host = self.connector.address().authority.as_str();
        let payload = sha256(&call.body);
        let (method, path, query) = (call.method.as_str(), call.path.as_str(), call.query.as_str());
        let signable = Signable { method, path, query, host, payload: &payload };
        let signature = self.signer.sign(&signable, OffsetDateTime::now_utc());
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(target)
            .header(header::HOST, host)
            .header(header::USER_AGENT, USER_AGENT)
            .header(HeaderName::from_static("x-amz-content-sha256"), payload)
            .header(HeaderName::from_static("x-amz-date"), signature.date);
        let mut authorization = HeaderValue::try_from(signature.authorization)
            .map_err(|_| S3Error::Settings("HELMDECK_S3_ACCESS_KEY has invalid characters"))?;
        authorization.set_sensitive(true);
        request = request.header(header::AUTHORIZATION, authorization);
        if let Some((first, last)) = call.range {
            request = request.header(header::RANGE, format!("bytes={first}-{last}"));
        }
        request
            .body(Full::new(call.body.clone()))
            .map_err(|_| S3Error::Settings("HELMDECK_S3_ENDPOINT is not a valid address"))
    }

    /// Reads a body of text.
    async fn read(&self, mut body: Incoming, max_bytes: usize) -> Result<String, S3Error> {
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.broken(error))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > max_bytes {
                return Err(self.not_s3("it is too long"));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn broken(&self, error: hyper::Error) -> S3Error {
        let (endpoint, source) = (self.connector.endpoint(), std::io::Error::other(error));
        S3Error::Unreachable { endpoint, source }
    }

    pub fn silent(&self, limit: Duration) -> S3Error {
        S3Error::Silent { endpoint: self.connector.endpoint(), limit }
    }

    pub fn not_s3(&self, what: impl Into<String>) -> S3Error {
        S3Error::NotS3 { endpoint: self.connector.endpoint(), what: what.into() }
    }

    /// Fails unless a response has this status.
    pub fn expect(&self, head: &Parts, status: StatusCode) -> Result<(), S3Error> {
        if head.status == status {
            return Ok(());
        }
        Err(self.not_s3(format!("status {}", head.status)))
    }
}

/// Waits before the next attempt.
async fn wait(call: &Call, error: &S3Error, pause: Duration) {
    debug!(%error, method = %call.method, "S3 request is repeated");
    sleep(pause + jitter(pause)).await;
}

/// A random time up to half of `pause`, so that clients do not repeat their requests together.
fn jitter(pause: Duration) -> Duration {
    let mut random = [0];
    // Without random numbers there is no jitter.
    let _ = getrandom::fill(&mut random);
    let [random] = random;
    pause.mul_f64(f64::from(random) / 512.0)
}
