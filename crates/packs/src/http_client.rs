//! Requests of packs to web servers. Every connection passes the egress policy.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use helmdeck_egress::{ConnectError, Connector, EgressError, Policy, Target};
pub(crate) use helmdeck_egress::{Duplex, path};
use helmdeck_wire::{ErrorCode, error::with_causes};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::rustls::Error as TlsError;

use crate::{PackError, PackResult};

/// How many redirects a request follows.
pub(crate) const MAX_REDIRECTS: usize = 10;
/// How a server sees us.
pub(crate) const USER_AGENT: &str = concat!("helmdeck/", env!("CARGO_PKG_VERSION"));

/// Makes requests to web servers. Cheap to clone.
#[derive(Clone)]
pub struct HttpClient {
    connector: Connector,
    /// Whether redirects to other servers are refused.
    stays: bool,
    /// Is told of connections that the policy refuses.
    on_denied: Option<OnDenied>,
}

/// What is told of a refused connection: the target, and the reason.
type OnDenied = Arc<dyn Fn(&Target, &EgressError) + Send + Sync>;

/// A request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Method.
    pub method: Method,
    /// Address.
    pub url: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// Maximum size of the response. The rest is left out.
    pub max_bytes: usize,
    /// How long the whole request may take.
    pub timeout: Duration,
}

/// A response.
#[derive(Debug)]
pub struct HttpResponse {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, up to the limit.
    pub body: Bytes,
    /// Whether the body is longer.
    pub truncated: bool,
    /// Where it came from, after redirects.
    pub url: String,
}

/// A connection that the policy allowed.
pub(crate) struct Connection {
    /// The bytes, decrypted.
    pub stream: Box<dyn Duplex>,
    /// The host, as the policy judged it.
    pub host: String,
    /// Host and port, as the address has them.
    pub authority: String,
}

impl Connection {
    /// Sends a finished request. `shown` is its address as the caller wrote it: the finished one may
    /// contain secrets.
    pub async fn send(self, request: &HttpRequest, shown: String) -> PackResult<HttpResponse> {
        let response = exchange(self.stream, &self.authority, request).await?;
        let (head, body) = response.into_parts();
        let (body, truncated) = read(body, request.max_bytes).await?;
        Ok(HttpResponse { status: head.status, headers: head.headers, body, truncated, url: shown })
    }
}

impl HttpRequest {
    /// A request for a document, with limits for one that fits in memory.
    pub fn get(url: &str) -> Self {
        Self {
            method: Method::GET,
            url: url.to_owned(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            max_bytes: 16 << 20,
            timeout: Duration::from_secs(30),
        }
    }
}

impl HttpClient {
    /// A client for this policy, which trusts the certificates of the system.
    pub fn new(policy: Policy) -> Result<Self, TlsError> {
        Ok(Self { connector: Connector::new(policy)?, stays: false, on_denied: None })
    }

    /// A client for services that the operator configured, which may be in any network. It follows
    /// no redirect to another server, so that such a service cannot lead it elsewhere.
    pub fn for_services() -> Result<Self, TlsError> {
        Ok(Self { connector: Connector::for_services()?, stays: true, on_denied: None })
    }

    /// The same client, which tells of connections that the policy refuses.
    pub(crate) fn telling(
        &self,
        on_denied: impl Fn(&Target, &EgressError) + Send + Sync + 'static,
    ) -> Self {
        Self { on_denied: Some(Arc::new(on_denied)), ..self.clone() }
    }

    fn tell(&self, target: &Target, error: &EgressError) {
        if let (Some(tell), EgressError::Denied { .. }) = (&self.on_denied, error) {
            tell(target, error);
        }
    }

    /// Sends a request and follows redirects. `finish` completes each request after its connection is
    /// allowed and open; it gets the host.
    pub async fn send(
        &self,
        request: HttpRequest,
        finish: impl AsyncFn(&str, HttpRequest) -> PackResult<HttpRequest>,
    ) -> PackResult<HttpResponse> {
        let limit = request.timeout;
        let sending = self.follow(request, finish);
        timeout(limit, sending).await.unwrap_or_else(|_| {
            let message = format!("no complete answer within {} s", limit.as_secs());
            Err(PackError::new(ErrorCode::Timeout, message))
        })
    }

    /// Sends a request, and returns the response even if it is a redirect.
    pub async fn send_once(&self, request: HttpRequest) -> PackResult<HttpResponse> {
        let limit = request.timeout;
        timeout(limit, self.once(request, &unchanged)).await.unwrap_or_else(|_| {
            let message = format!("no complete answer within {} s", limit.as_secs());
            Err(PackError::new(ErrorCode::Timeout, message))
        })
    }

    async fn follow(
        &self,
        mut request: HttpRequest,
        finish: impl AsyncFn(&str, HttpRequest) -> PackResult<HttpRequest>,
    ) -> PackResult<HttpResponse> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.once(request.clone(), &finish).await?;
            let Some(next) = self.redirect(&request, &response)? else { return Ok(response) };
            request = next;
        }
        Err(PackError::failed(format!("more than {MAX_REDIRECTS} redirects")))
    }

    /// The next request, if the response is a redirect.
    pub(crate) fn redirect(
        &self,
        request: &HttpRequest,
        response: &HttpResponse,
    ) -> PackResult<Option<HttpRequest>> {
        let next = redirect(request, response);
        match &next {
            Some(next)
                if self.stays && authority(&next.url).ok() != authority(&request.url).ok() =>
            {
                let message = format!("egress denied: {} redirects to another server", request.url);
                Err(PackError::new(ErrorCode::EgressDenied, message))
            }
            _ => Ok(next),
        }
    }

    async fn once(
        &self,
        request: HttpRequest,
        finish: &impl AsyncFn(&str, HttpRequest) -> PackResult<HttpRequest>,
    ) -> PackResult<HttpResponse> {
        let shown = request.url.clone();
        let connection = self.connect(&shown).await?;
        let request = finish(&connection.host, request).await?;
        connection.send(&request, shown).await
    }

    /// Connects to a host and port, if the policy allows it.
    pub(crate) async fn dial(&self, target: &Target) -> PackResult<TcpStream> {
        self.connector.dial(target).await.map_err(|error| {
            self.tell(target, &error);
            refused(target, &error)
        })
    }

    /// Connects to the server of an address, if the policy allows it.
    pub(crate) async fn connect(&self, url: &str) -> PackResult<Connection> {
        let opened = self.connector.connect(url).await.map_err(|error| {
            if let ConnectError::Egress { target, source } = &error {
                self.tell(target, source);
            }
            unconnected(error)
        })?;
        let helmdeck_egress::Connection { stream, host, authority } = opened;
        Ok(Connection { stream, host, authority })
    }
}

async fn unchanged(_host: &str, request: HttpRequest) -> PackResult<HttpRequest> {
    Ok(request)
}

/// Sends one request over a connection.
async fn exchange(
    stream: Box<dyn Duplex>,
    authority: &str,
    request: &HttpRequest,
) -> PackResult<hyper::Response<Incoming>> {
    let broken = |error: hyper::Error| PackError::failed(with_causes(&error)).unreached();
    let (mut sender, connection) =
        http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(broken)?;
    helmdeck_task::spawn(connection);
    let path = path(&request.url);
    let uri: Uri = path
        .parse()
        .map_err(|_| PackError::invalid("url", format!("{path:?} is not a valid path")))?;
    let mut message = Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method.clone();
    *message.uri_mut() = uri;
    *message.headers_mut() = request.headers.clone();
    let headers = message.headers_mut();
    let host = HeaderValue::try_from(authority.rsplit('@').next().unwrap_or_default());
    headers.insert(header::HOST, host.map_err(|_| PackError::invalid("url", "bad host"))?);
    headers.entry(header::USER_AGENT).or_insert(HeaderValue::from_static(USER_AGENT));
    headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    sender.send_request(message).await.map_err(broken)
}

/// Reads a body up to a limit.
async fn read(mut body: Incoming, max_bytes: usize) -> PackResult<(Bytes, bool)> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| PackError::failed(with_causes(&error)).unreached())?;
        let Ok(data) = frame.into_data() else { continue };
        let room = max_bytes - bytes.len();
        if data.len() > room {
            bytes.extend_from_slice(data.get(..room).unwrap_or_default());
            return Ok((bytes.freeze(), true));
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes.freeze(), false))
}

/// The next request, if the response is a redirect.
fn redirect(request: &HttpRequest, response: &HttpResponse) -> Option<HttpRequest> {
    let keeps_method = match response.status.as_u16() {
        301..=303 => matches!(request.method, Method::GET | Method::HEAD),
        307 | 308 => true,
        _ => return None,
    };
    let location = response.headers.get(header::LOCATION)?.to_str().ok()?;
    let url = join(&request.url, location)?;
    let mut next = HttpRequest { url, ..request.clone() };
    if !keeps_method {
        next.method = Method::GET;
        next.body = Bytes::new();
        next.headers.remove(header::CONTENT_TYPE);
    }
    if authority(&next.url).ok() != authority(&request.url).ok() {
        // Credentials are for the host that the caller named.
        for name in [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION] {
            next.headers.remove(name);
        }
    }
    Some(next)
}

/// An address relative to another.
pub(crate) fn join(base: &str, location: &str) -> Option<String> {
    if location.starts_with("http://") || location.starts_with("https://") {
        return Some(location.to_owned());
    }
    let (scheme, rest) = base.split_once("://")?;
    if let Some(rest) = location.strip_prefix("//") {
        return Some(format!("{scheme}://{rest}"));
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    if location.starts_with('/') {
        return Some(format!("{scheme}://{authority}{location}"));
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(format!("{scheme}://{authority}{folder}/{location}"))
}

/// Whether an address is encrypted, and its host with port.
pub(crate) fn authority(url: &str) -> PackResult<(bool, &str)> {
    helmdeck_egress::authority(url).map_err(unconnected)
}

fn unconnected(error: ConnectError) -> PackError {
    match &error {
        ConnectError::BadUrl(message) => PackError::invalid("url", message.as_str()),
        ConnectError::Egress { target, source } => refused(target, source),
        ConnectError::Tls { .. } | ConnectError::TlsDeadline { .. } => {
            PackError::failed(error.to_string())
        }
    }
}

fn refused(target: &Target, error: &EgressError) -> PackError {
    match error {
        EgressError::Denied { .. } => {
            let message = format!("egress denied: {target}: {error}");
            let hint = "an admin can allow an address range with HELMDECK_EGRESS_ALLOWLIST";
            PackError::new(ErrorCode::EgressDenied, message).hint(hint)
        }
        EgressError::BadTarget { .. } => PackError::invalid("url", error.to_string()),
        EgressError::Unreachable { .. } => {
            PackError::failed(format!("{target}: {}", with_causes(error))).unreached()
        }
        _ => PackError::failed(format!("{target}: {}", with_causes(error))),
    }
}

#[cfg(test)]
mod tests;
