//! A test web server that counts what it sees.

use std::{
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, Full, combinators::BoxBody};
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::task::AbortOnDropHandle;

type Answer = BoxBody<Bytes, hyper::Error>;

/// A web server on one address. Dropping it stops it.
pub struct Origin {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    _task: AbortOnDropHandle<()>,
}

/// What the server has seen so far.
#[derive(Default)]
pub struct Seen {
    /// Connections accepted so far.
    pub accepted: AtomicUsize,
    /// Open connections.
    pub open: AtomicUsize,
    /// Bytes of `/big` passed to the connection.
    pub sent: AtomicU64,
}

impl Origin {
    pub async fn start(ip: &str) -> Self {
        Self::start_at(ip, 0).await
    }

    /// Two servers on the same port of two addresses.
    pub async fn start_both(one: &str, other: &str) -> (Self, Self) {
        let one = Self::start(one).await;
        let other = Self::start_at(other, one.address.port()).await;
        (one, other)
    }

    async fn start_at(ip: &str, port: u16) -> Self {
        let listener = TcpListener::bind((ip.parse::<IpAddr>().unwrap(), port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let task = tokio::spawn(serve(listener, Arc::clone(&seen)));
        Self { address, seen, _task: AbortOnDropHandle::new(task) }
    }

    /// A URL of this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn accepted(&self) -> usize {
        self.seen.accepted.load(Ordering::SeqCst)
    }

    /// Waits until no connection is open.
    pub async fn deserted(&self) {
        let began = Instant::now();
        while self.seen.open.load(Ordering::SeqCst) > 0 {
            assert!(began.elapsed() < Duration::from_secs(5), "a connection is still open");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn serve(listener: TcpListener, seen: Arc<Seen>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        seen.accepted.fetch_add(1, Ordering::SeqCst);
        let open = Open::new(Arc::clone(&seen));
        connections.spawn(async move {
            let seen = &open.0;
            let service = service_fn(|request| answer(request, Arc::clone(seen)));
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            let _ = serving.with_upgrades().await;
        });
    }
}

/// Counts an open connection while it exists.
struct Open(Arc<Seen>);

impl Open {
    fn new(seen: Arc<Seen>) -> Self {
        seen.open.fetch_add(1, Ordering::SeqCst);
        Self(seen)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(
    mut request: Request<Incoming>,
    seen: Arc<Seen>,
) -> Result<Response<Answer>, Infallible> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    Ok(match request.uri().path() {
        "/hello" => text("hello from the test host\n"),
        "/echo" => Response::new(request.into_body().boxed()),
        "/head" => {
            text(&format!("{} {}\n{:#?}", request.method(), request.uri(), request.headers()))
        }
        "/redirect" => {
            let mut response = text("elsewhere\n");
            *response.status_mut() = StatusCode::FOUND;
            response.headers_mut().insert(header::LOCATION, query.parse().unwrap());
            response
        }
        "/big" => Response::new(Zeros { left: query.parse().unwrap(), seen }.boxed()),
        "/count" => {
            let mut body = request.into_body();
            let mut count = 0;
            while let Some(frame) = body.frame().await {
                count += frame.unwrap().into_data().map_or(0, |data| data.len());
            }
            text(&count.to_string())
        }
        "/sink" => std::future::pending().await,
        "/close" => {
            let mut response = text("and goodbye\n");
            response.headers_mut().insert(header::CONNECTION, "close".parse().unwrap());
            response
        }
        "/socket" => {
            let upgrade = hyper::upgrade::on(&mut request);
            tokio::spawn(async move {
                let mut stream = TokioIo::new(upgrade.await.unwrap());
                let (mut read, mut write) = tokio::io::split(&mut stream);
                let _: io::Result<u64> = tokio::io::copy(&mut read, &mut write).await;
            });
            let mut response = Response::new(Empty::new().map_err(|e| match e {}).boxed());
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            response.headers_mut().insert(header::CONNECTION, "upgrade".parse().unwrap());
            response.headers_mut().insert(header::UPGRADE, "websocket".parse().unwrap());
            response
        }
        path => {
            let mut response = text(&format!("nothing at {path}\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    })
}

fn text(text: &str) -> Response<Answer> {
    Response::new(Full::from(text.to_owned()).map_err(|e| match e {}).boxed())
}

/// A body of zeros without a declared length.
struct Zeros {
    left: usize,
    seen: Arc<Seen>,
}

impl Body for Zeros {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        static BLOCK: [u8; 64 << 10] = [0; 64 << 10];
        let count = self.left.min(BLOCK.len());
        if count == 0 {
            return Poll::Ready(None);
        }
        self.left -= count;
        self.seen.sent.fetch_add(count as u64, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&BLOCK[..count])))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
