//! Connections: accept them, bound them, drain them.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, response::Response};
use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

/// Beyond this many, clients wait in the system's queue.
const MAX_CONNECTIONS: usize = 2048;
/// Of all descriptors, connections of clients get one in so many: each may need another one to a
/// guest, and sessions need theirs to live, start and reach the network.
const DESCRIPTORS_PER_CONNECTION: usize = 4;
/// How long a client may take to send a request's head, and stay silent between requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may leave what it was sent unacknowledged.
const SILENCE_MS: u32 = 45_000;
/// After an accept that failed, for example because all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// When connections are to end.
#[derive(Clone, Default)]
struct Stop {
    /// After the request they are busy with.
    soon: CancellationToken,
    /// At once.
    now: CancellationToken,
}

/// Serves until `shutdown`, then lets running requests end for as long as `drain`. Returns what
/// `shutdown` returned.
pub async fn serve<T>(
    listener: TcpListener,
    router: Router,
    drain: Duration,
    shutdown: impl Future<Output = T>,
) -> T {
    let (connections, stop) = (TaskTracker::new(), Stop::default());
    let slots = Arc::new(Semaphore::new(max_connections(getrlimit(Resource::Nofile).current)));
    let mut shutdown = pin!(shutdown);
    let asked = loop {
        tokio::select! {
            asked = &mut shutdown => break asked,
            (stream, peer, slot) = accept(&listener, &slots) => {
                connections.spawn(connection(stream, peer, router.clone(), stop.clone(), slot));
            }
        }
    };
    drop(listener);
    stop.soon.cancel();
    connections.close();
    if tokio::time::timeout(drain, connections.wait()).await.is_err() {
        tracing::warn!(
            requests = connections.len(),
            "Requests still running at the end of the drain are cut off"
        );
        stop.now.cancel();
        connections.wait().await;
    }
    asked
}

/// How many connections there may be with this limit on descriptors, if there is one.
fn max_connections(descriptors: Option<u64>) -> usize {
    let descriptors = descriptors.and_then(|most| usize::try_from(most).ok());
    let share = descriptors.map_or(MAX_CONNECTIONS, |most| most / DESCRIPTORS_PER_CONNECTION);
    share.clamp(1, MAX_CONNECTIONS)
}

/// The next connection, once there is room for one.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so there always is a slot.
    let slot = slots.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, slot),
            Err(error) => {
                tracing::warn!(%error, "Accepting a connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    stop: Stop,
    _slot: Option<OwnedSemaphorePermit>,
) {
    // A click is a small packet that must not wait for another.
    let _ = stream.set_nodelay(true);
    // What a client that vanished was sent is given up soon, not after the system's quarter hour.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, SILENCE_MS);
    let answer = service_fn(move |request| answer(router.clone(), request, peer.ip()));
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.soon.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                () = stop.now.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        // Clients that leave early are everyday life.
        tracing::debug!(%error, "A connection broke");
    }
}

async fn answer(
    router: Router,
    mut request: Request<Incoming>,
    peer: IpAddr,
) -> Result<Response, Infallible> {
    request.extensions_mut().insert(Peer(peer));
    router.oneshot(request.map(Body::new)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_all_else() {
        assert_eq!(max_connections(None), MAX_CONNECTIONS);
        assert_eq!(max_connections(Some(1 << 20)), MAX_CONNECTIONS);
        assert_eq!(max_connections(Some(1024)), 256);
        assert_eq!(max_connections(Some(2)), 1);
    }
}
