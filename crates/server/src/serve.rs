//! Accepts, limits and drains connections.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    response::Response,
};
use bytes::Bytes;
use http::{Request, StatusCode};
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use crate::{
    App,
    connection_limits::{Connection, ConnectionLimits},
    tls::{Opened, Tls, plain},
};

/// Deadline for the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Deadline for the head of a connection's first request.
const FIRST_HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Deadline for the head of later requests, and idle time between requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long sent data may stay unacknowledged.
const SILENCE_MS: u32 = 45_000;
/// Pause after a failed accept, for example because all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// The peer's address.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// When connections end.
#[derive(Clone, Default)]
struct Stop {
    /// After the current request.
    soon: CancellationToken,
    /// Immediately.
    now: CancellationToken,
}

/// What a port serves. Cheap to clone.
#[derive(Clone)]
pub struct Serving {
    router: Router,
    limits: ConnectionLimits,
    encryption: Option<Encryption>,
}

/// Encrypts the connections of a port. `plain` answers those that are not encrypted.
#[derive(Clone)]
struct Encryption {
    tls: Tls,
    plain: Router,
}

impl Serving {
    /// These routes, with the limits and the certificate of the server.
    pub fn new(app: &App, router: Router) -> Self {
        let encryption = app.tls.clone().map(|tls| Encryption { tls, plain: plain::router() });
        Self { router, limits: app.connections.clone(), encryption }
    }
}

/// Serves until `shutdown`, then lets running requests finish for up to `drain`. Returns the result
/// of `shutdown`.
pub async fn serve<T>(
    listener: TcpListener,
    serving: Serving,
    drain: Duration,
    shutdown: impl Future<Output = T>,
) -> T {
    let (connections, stop) = (TaskTracker::new(), Stop::default());
    let mut shutdown = pin!(shutdown);
    let asked = loop {
        tokio::select! {
            asked = &mut shutdown => break asked,
            (stream, accepted) = accept(&listener, &serving.limits) => {
                let opened = open(stream, accepted, serving.clone(), stop.clone());
                connections.spawn(helmdeck_task::boxed(opened));
            }
        }
    };
    drop(listener);
    stop.soon.cancel();
    connections.close();
    if tokio::time::timeout(drain, connections.wait()).await.is_err() {
        tracing::warn!(
            requests = connections.len(),
            "Cancelling requests that are still running after the drain"
        );
        stop.now.cancel();
        connections.wait().await;
    }
    asked
}

/// An accepted connection.
struct Accepted {
    peer: IpAddr,
    place: Arc<Connection>,
    limits: ConnectionLimits,
}

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, limits: &ConnectionLimits) -> (TcpStream, Accepted) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let peer = SocketAddr::ip(&peer);
                // A peer with too many connections is disconnected.
                if let Some(place) = limits.admit(peer).await {
                    let place = Arc::new(place);
                    return (stream, Accepted { peer, place, limits: limits.clone() });
                }
            }
            Err(error) => {
                tracing::warn!(%error, "Failed to accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Serves a connection, after the TLS handshake if there is one. Until that is done, the connection
/// counts as one that waits for a request.
async fn open(stream: TcpStream, accepted: Accepted, serving: Serving, stop: Stop) {
    // A click is a small packet that must not be delayed.
    let _ = stream.set_nodelay(true);
    // Give up on unreachable clients soon, not after the system's 15 minutes.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, SILENCE_MS);
    let Serving { router, encryption, .. } = serving;
    let Some(Encryption { tls, plain }) = encryption else {
        return connection(Box::new(stream), accepted, router, stop).await;
    };
    let opened = tokio::select! {
        opened = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)) => opened,
        () = accepted.place.gives_way() => return,
        () = stop.soon.cancelled() => return,
    };
    match opened {
        Ok(Ok(Opened::Encrypted(stream))) => {
            // Its first request is on the way only now.
            accepted.place.rests();
            connection(stream, accepted, router, stop).await;
        }
        Ok(Ok(Opened::Plain(stream))) => {
            connection(Box::new(stream), accepted, plain, stop).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "A TLS handshake failed"),
        Err(_) => tracing::debug!("A TLS handshake took too long"),
    }
}

async fn connection(stream: Box<dyn Stream>, accepted: Accepted, router: Router, stop: Stop) {
    let Accepted { peer, place, limits } = accepted;
    let begun = CancellationToken::new();
    let answer = service_fn(|request: Request<Incoming>| {
        begun.cancel();
        let client = limits.proxies().client(peer, request.headers());
        answer(router.clone(), request, client, place.clone())
    });
    let silent = async {
        if timeout(FIRST_HEAD_TIMEOUT, begun.cancelled()).await.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    let stream = Counted { stream, _place: place.clone() };
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = silent => Ok(()),
        () = place.gives_way() => Ok(()),
        () = stop.soon.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.now.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        // Clients often disconnect early.
        tracing::debug!(%error, "Connection failed");
    }
}

async fn answer(
    router: Router,
    mut request: Request<Incoming>,
    client: IpAddr,
    place: Arc<Connection>,
) -> Result<Response, Infallible> {
    place.begins(client);
    request.extensions_mut().insert(Peer(client));
    request.extensions_mut().insert(place.clone());
    let response = router.oneshot(request.map(Body::new)).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        // An upgraded connection stays counted as its request was.
        return Ok(response);
    }
    Ok(response.map(|body| Body::new(Answer { body, place })))
}

/// The bytes of a connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// The bytes of a connection, including an upgraded one. Its slot is taken until it closes.
struct Counted {
    stream: Box<dyn Stream>,
    _place: Arc<Connection>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The body of a response. When it is sent, the connection is free for another request.
struct Answer {
    body: Body,
    place: Arc<Connection>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.place.rests();
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
        time::{Instant, sleep},
    };

    use super::*;
    use crate::client_address::TrustedProxies;

    /// A client's end of a connection that is served.
    async fn connected() -> DuplexStream {
        let limits = ConnectionLimits::new(None, TrustedProxies::default(), false);
        let peer = IpAddr::from([192, 0, 2, 1]);
        let place = Arc::new(limits.admit(peer).await.unwrap());
        let (client, server) = duplex(1 << 10);
        let accepted = Accepted { peer, place, limits };
        let served = connection(Box::new(server), accepted, Router::new(), Stop::default());
        helmdeck_task::spawn(served);
        client
    }

    /// Sends a head that never ends, a line every second, until the server closes the connection.
    async fn closes_after(client: &mut DuplexStream) -> Duration {
        let (begun, mut answer) = (Instant::now(), Vec::new());
        let (mut from_server, mut to_server) = tokio::io::split(client);
        let writing = async {
            let _ = to_server.write_all(b"GET / HTTP/1.1\r\n").await;
            loop {
                let _ = to_server.write_all(b"x: y\r\n").await;
                sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            _ = from_server.read_to_end(&mut answer) => {}
            () = writing => {}
        }
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_first_head_is_incomplete_after_ten_seconds_is_closed() {
        let took = closes_after(&mut connected().await).await.as_secs();
        assert_eq!(took, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn later_heads_may_take_a_minute() {
        let mut client = connected().await;
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut status = [0; 12];
        client.read_exact(&mut status).await.unwrap();
        assert_eq!(&status, b"HTTP/1.1 404");
        let took = closes_after(&mut client).await.as_secs();
        assert_eq!(took, 60);
    }
}
