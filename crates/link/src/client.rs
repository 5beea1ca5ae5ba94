//! The server's end of the link: calls with deadlines over reused connections.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use helmdeck_wire::{
    ActionCall, ErrorBody, ErrorCode,
    cast::CastView,
    control::Hands,
    guest::{
        Begin, EndPrivate, ForwardedPorts, HandedOver, Hello, LimitSites, OneClient,
        PictureRequest, RefusedSites, StartPrivate,
    },
    private::PrivateEnded,
    ticket::Role,
    trace::{ReadTrace, TraceLog, TracePicture},
};
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode,
    header::{CONNECTION, CONTENT_TYPE, UPGRADE},
};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, combinators::UnsyncBoxBody};
use hyper::{body::Incoming, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use crate::{FrameStream, LinkError, ProgressStream, Reply, route};

/// The largest answer; enough for a 7680×4320 picture.
const MAX_REPLY: usize = 128 << 20;
/// Opening a connection is local work; a guest that needs longer is stuck.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// Long enough for a restarting browser.
const BROWSER_DEADLINE: Duration = Duration::from_secs(30);
/// Long enough to start or stop a browser and carry over its site storage.
const PRIVATE_DEADLINE: Duration = Duration::from_secs(120);
/// Limit on kept idle connections.
const MAX_IDLE: usize = 8;

/// Any byte stream to a guest.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Opens new connections to one guest.
#[async_trait]
pub trait Connect: Send + Sync + 'static {
    /// A new stream to the guest.
    async fn connect(&self) -> std::io::Result<Box<dyn ByteStream>>;
}

/// The body of a request to the guest: JSON, or a streamed file.
pub type Outgoing = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;
/// One connection to the guest.
pub(crate) type Connection = SendRequest<Outgoing>;

/// The connection of a program in the sandbox.
pub struct Tunnel {
    /// Its byte stream.
    pub stream: Box<dyn ByteStream>,
    /// The forwarded port the program connected to; `None` for the proxy.
    pub forwarded_port: Option<u16>,
}

/// A cheap handle to one guest.
///
/// Dropping the future of a call closes its connection, which makes the guest cancel the action.
#[derive(Clone)]
pub struct Link {
    shared: Arc<Shared>,
}

struct Shared {
    connect: Box<dyn Connect>,
    /// Connections that wait for their next call.
    idle: Mutex<Vec<Connection>>,
}

impl Link {
    /// A link that opens connections with `connect` when needed.
    pub fn new(connect: impl Connect) -> Self {
        let shared = Shared { connect: Box::new(connect), idle: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Asks the guest for its version, waiting until it answers.
    pub async fn hello(&self, deadline: Duration) -> Result<Hello, LinkError> {
        let reply = self.call(get(route::HELLO)?, deadline).await?;
        parsed(&reply.body)
    }

    /// Starts a session in the guest; [`Self::watch`] reports its progress.
    pub async fn begin(&self, begin: &Begin, deadline: Duration) -> Result<(), LinkError> {
        self.call(post(route::BEGIN, begin)?, deadline).await.map(|_| ())
    }

    /// The guest's reports since its start. The stream ends with the guest.
    pub async fn watch(&self) -> Result<ProgressStream, LinkError> {
        let mut connection = within(CONNECT_DEADLINE, self.open()).await?;
        let send = connection.send_request(get(route::WATCH)?);
        let response = within(CONNECT_DEADLINE, async { send.await.map_err(LinkError::Broken) });
        Ok(ProgressStream::new(connection, response.await?.into_body()))
    }

    /// Asks the guest to perform an action. With [`Hands::Off`], the action only reads.
    pub async fn act(
        &self,
        action: &ActionCall,
        hands: Hands,
        deadline: Duration,
    ) -> Result<Reply, LinkError> {
        let mut request = request(Method::POST, &route::act(action.name), action.body.clone())?;
        request.headers_mut().insert(route::HANDS, HeaderValue::from_static(hands.as_str()));
        self.call(request, deadline).await
    }

    /// Waits for a program's outgoing connection and returns it. There is no deadline, because a
    /// session may never open one. Dropping the future withdraws the offer.
    pub async fn tunnel(&self) -> Result<Tunnel, LinkError> {
        let (stream, headers) = self.switch(route::TUNNEL, route::TUNNEL_PROTOCOL).await?;
        let port = headers.get(route::FORWARDED_PORT).map(HeaderValue::to_str);
        let nonsense = || LinkError::Nonsense("a forwarded port that is not a number".to_owned());
        let forwarded_port = match port {
            Some(port) => Some(port.ok().and_then(|port| port.parse().ok()).ok_or_else(nonsense)?),
            None => None,
        };
        Ok(Tunnel { stream, forwarded_port })
    }

    /// Makes the guest listen on exactly these ports.
    pub async fn set_forwards(&self, forwards: &ForwardedPorts) -> Result<(), LinkError> {
        self.call(post(route::FORWARDS, forwards)?, CONNECT_DEADLINE).await.map(|_| ())
    }

    /// Opens an RFB stream of the X server for a role.
    pub async fn rfb(&self, role: Role) -> Result<Box<dyn ByteStream>, LinkError> {
        let path = format!("{}?role={}", route::RFB, role.as_str());
        within(CONNECT_DEADLINE, self.upgrade(&path, route::RFB_PROTOCOL)).await
    }

    /// Opens a stream of thumbnails, sent when the screen changes.
    pub async fn frames(&self, wanted: PictureRequest) -> Result<FrameStream, LinkError> {
        let PictureRequest { width, fps, quality } = wanted;
        let path = format!("{}?width={width}&fps={fps}&quality={quality}", route::FRAMES);
        let stream = self.upgrade(&path, route::FRAMES_PROTOCOL);
        Ok(FrameStream::new(within(CONNECT_DEADLINE, stream).await?))
    }

    /// Opens the browser's debugging protocol for one client.
    pub async fn cdp(&self, client: &OneClient) -> Result<Box<dyn ByteStream>, LinkError> {
        let path = address(route::CDP, client)?;
        within(BROWSER_DEADLINE, self.upgrade(&path, route::CDP_PROTOCOL)).await
    }

    /// Opens a cast of the browser for one viewer; see [`crate::cast`].
    pub async fn cast(
        &self,
        view: &CastView,
        client: &OneClient,
    ) -> Result<Box<dyn ByteStream>, LinkError> {
        let path = format!("{}&{}", address(route::CAST, view)?, query(client)?);
        within(CONNECT_DEADLINE, self.upgrade(&path, route::CAST_PROTOCOL)).await
    }

    /// Starts a private sign-in.
    pub async fn start_private(&self, wanted: &StartPrivate) -> Result<(), LinkError> {
        self.call(post(route::PRIVATE, wanted)?, PRIVATE_DEADLINE).await.map(|_| ())
    }

    /// Ends a private sign-in.
    pub async fn end_private(&self, wanted: &EndPrivate) -> Result<PrivateEnded, LinkError> {
        let reply = self.call(post(route::END_PRIVATE, wanted)?, PRIVATE_DEADLINE).await?;
        parsed(&reply.body)
    }

    /// Limits the sites that the browser opens, and says what was refused meanwhile.
    pub async fn limit_sites(&self, wanted: &LimitSites) -> Result<RefusedSites, LinkError> {
        let reply = self.call(post(route::SITES, wanted)?, CONNECT_DEADLINE).await?;
        parsed(&reply.body)
    }

    /// Control changed: releases all keys and buttons. While a person has control, settings of
    /// debugging clients that interfere are undone.
    pub async fn release_all(&self, handed_over: HandedOver) -> Result<(), LinkError> {
        self.call(post(route::RELEASE_ALL, &handed_over)?, CONNECT_DEADLINE).await.map(|_| ())
    }

    pub(crate) async fn upgrade(
        &self,
        path: &str,
        protocol: &'static str,
    ) -> Result<Box<dyn ByteStream>, LinkError> {
        self.switch(path, protocol).await.map(|(stream, _)| stream)
    }

    /// Upgrades a connection to another protocol; also returns the headers of the answer.
    async fn switch(
        &self,
        path: &str,
        protocol: &'static str,
    ) -> Result<(Box<dyn ByteStream>, HeaderMap), LinkError> {
        let mut connection = within(CONNECT_DEADLINE, self.open()).await?;
        let mut request = get(path)?;
        let headers = request.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static(protocol));
        let response = connection.send_request(request).await.map_err(LinkError::Broken)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let (head, body) = response.into_parts();
            return Err(refusal(head.status, &collect(body).await?));
        }
        let headers = response.headers().clone();
        let upgraded = hyper::upgrade::on(response).await.map_err(LinkError::Broken)?;
        Ok((Box::new(TokioIo::new(upgraded)), headers))
    }

    /// The guest's log.
    pub async fn log(&self, deadline: Duration) -> Result<String, LinkError> {
        let reply = self.call(get(route::LOG)?, deadline).await?;
        Ok(String::from_utf8_lossy(&reply.body).into_owned())
    }

    /// The guest's trace.
    pub async fn trace(
        &self,
        wanted: &ReadTrace,
        deadline: Duration,
    ) -> Result<TraceLog, LinkError> {
        let reply = self.call(get(&address(route::TRACE, wanted)?)?, deadline).await?;
        parsed(&reply.body)
    }

    /// A small JPEG picture of the trace.
    pub async fn trace_picture(
        &self,
        wanted: &TracePicture,
        deadline: Duration,
    ) -> Result<Bytes, LinkError> {
        let reply = self.call(get(&address(route::TRACE_PICTURE, wanted)?)?, deadline).await?;
        Ok(reply.body)
    }

    pub(crate) async fn call(
        &self,
        request: Request<Outgoing>,
        limit: Duration,
    ) -> Result<Reply, LinkError> {
        within(limit, async {
            let mut connection = self.connection().await?;
            let response = connection.send_request(request).await.map_err(LinkError::Broken)?;
            let (head, body) = response.into_parts();
            let body = collect(body).await?;
            self.keep(connection);
            if head.status == StatusCode::OK {
                return Ok(Reply { headers: head.headers, body });
            }
            Err(refusal(head.status, &body))
        })
        .await
    }

    /// An idle connection that is still open, or a new one.
    async fn connection(&self) -> Result<Connection, LinkError> {
        while let Some(mut idle) = self.take_idle() {
            if idle.ready().await.is_ok() {
                return Ok(idle);
            }
        }
        within(CONNECT_DEADLINE, self.open()).await
    }

    fn take_idle(&self) -> Option<Connection> {
        self.shared.idle.lock().pop()
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.shared.idle.lock();
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
    }

    pub(crate) async fn open(&self) -> Result<Connection, LinkError> {
        let stream = self.shared.connect.connect().await.map_err(LinkError::Connect)?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(LinkError::Broken)?;
        // Ends when `sender` is dropped or the guest closes the connection.
        helmdeck_task::spawn(connection.with_upgrades());
        Ok(sender)
    }
}

pub(crate) async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, LinkError>>,
) -> Result<T, LinkError> {
    timeout(limit, work).await.unwrap_or(Err(LinkError::Deadline(limit)))
}

pub(crate) fn refusal(status: StatusCode, body: &[u8]) -> LinkError {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(refusal) => LinkError::Refused(refusal),
        Err(_) => LinkError::Nonsense(format!("status {status}")),
    }
}

pub(crate) async fn collect(body: Incoming) -> Result<Bytes, LinkError> {
    match Limited::new(body, MAX_REPLY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = "the answer is larger than 128 MB; request less";
            Err(LinkError::Refused(ErrorBody::new(ErrorCode::PayloadTooLarge, message)))
        }
        Err(error) => Err(LinkError::Nonsense(error.to_string())),
    }
}

pub(crate) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, LinkError> {
    serde_json::from_slice(body).map_err(|e| LinkError::Nonsense(e.to_string()))
}

pub(crate) fn get(path: &str) -> Result<Request<Outgoing>, LinkError> {
    request(Method::GET, path, Bytes::new())
}

pub(crate) fn address(route: &str, query: &impl Serialize) -> Result<String, LinkError> {
    Ok(format!("{route}?{}", self::query(query)?))
}

fn query(query: &impl Serialize) -> Result<String, LinkError> {
    serde_urlencoded::to_string(query).map_err(|e| LinkError::Nonsense(e.to_string()))
}

pub(crate) fn post(path: &str, body: &impl Serialize) -> Result<Request<Outgoing>, LinkError> {
    let body = serde_json::to_vec(body).map_err(|e| LinkError::Nonsense(e.to_string()))?;
    request(Method::POST, path, body.into())
}

fn request(method: Method, path: &str, body: Bytes) -> Result<Request<Outgoing>, LinkError> {
    outgoing(method, path, Full::new(body).map_err(|never| match never {}).boxed_unsync())
}

pub(crate) fn outgoing(
    method: Method,
    path: &str,
    body: Outgoing,
) -> Result<Request<Outgoing>, LinkError> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::HOST, "guest")
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(|e| LinkError::Nonsense(e.to_string()))
}
