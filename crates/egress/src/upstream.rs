//! HTTP connections to servers. Each is kept for the next request to the same target.

use std::{net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{Either, Empty};
use hyper::{
    body::{Body, Incoming},
    client::conn::{
        TrySendError,
        http1::{Builder, SendRequest},
    },
};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    Dialled, EgressError, Target,
    activity::{Activity, Metered},
};

/// The largest head of a response.
const MAX_HEAD: usize = 64 << 10;
const MAX_FIELDS: usize = 256;
/// A kept connection is ready at once, unless its last answer is still in progress.
const READY_DEADLINE: Duration = Duration::from_millis(100);

/// The body of a request: the client's, or empty for a retry.
pub(crate) type Outgoing = Either<Incoming, Empty<Bytes>>;

/// A connection to a server. Dropping it closes the connection.
pub(crate) struct Upstream {
    target: Target,
    address: IpAddr,
    used: bool,
    sender: SendRequest<Outgoing>,
    _driver: AbortOnDropHandle<()>,
}

impl Upstream {
    /// Starts HTTP on a connection that was dialled for `target`.
    pub(crate) async fn begin(
        dialled: Dialled,
        target: Target,
        activity: &Arc<Activity>,
    ) -> Result<Self, EgressError> {
        let stream = TokioIo::new(Metered::new(dialled.stream, activity));
        let handshake = Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_FIELDS)
            .max_buf_size(MAX_HEAD)
            .handshake(stream);
        // Sends nothing yet, so it does not wait.
        let (sender, connection) = handshake.await.map_err(EgressError::Broken)?;
        let driver = helmdeck_task::spawn(async move {
            // The pending request reports the failure, too.
            let _ = connection.with_upgrades().await;
        });
        let driver = AbortOnDropHandle::new(driver);
        Ok(Self { target, address: dialled.address, used: false, sender, _driver: driver })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Whether it has served a request before.
    pub(crate) fn is_used(&self) -> bool {
        self.used
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    /// Whether the connection leads to `target` and can take a request.
    pub(crate) async fn takes(&mut self, target: &Target) -> bool {
        self.target == *target
            && matches!(timeout(READY_DEADLINE, self.sender.ready()).await, Ok(Ok(())))
    }

    /// Sends a request. A request that was not sent is returned with the error.
    pub(crate) async fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Outgoing>>> {
        self.used = true;
        self.sender.try_send_request(request).await
    }
}

/// A copy of a request that may be retried, in case a kept connection closes.
pub(crate) fn copy_of(request: &Request<Outgoing>) -> Option<Request<Outgoing>> {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !safe || !request.body().is_end_stream() {
        return None;
    }
    let mut copy = Request::new(Either::Right(Empty::new()));
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}
