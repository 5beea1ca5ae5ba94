//! A session's way out: connections of its programs come through the link, and are served by the
//! proxy under the server's policy.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use helmdeck_egress::{ByteStream, Decision, Gate, Incoming, Policy, Proxy, Verdict, Via};
use helmdeck_link::Link;
use helmdeck_wire::{SessionId, session};
use tracing::{debug, info};

/// What became of the requests to get out.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    allowed: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    pub fn read(&self) -> session::Egress {
        session::Egress {
            allowed: self.allowed.load(Ordering::Relaxed),
            denied: self.denied.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

/// Serves the session's programs until the proxy is dropped.
pub(crate) fn serve(
    id: &SessionId,
    link: Link,
    (policy, via): (Policy, Option<Via>),
    counts: Arc<Counts>,
) -> Proxy {
    let id = id.clone();
    let gate =
        Gate::new(policy).leaving(via).with_observer(move |decision| note(&id, &decision, &counts));
    Proxy::serve(Tunnels { link }, gate)
}

fn note(id: &SessionId, decision: &Decision, counts: &Counts) {
    let Decision { host, port, .. } = decision;
    let count = match decision.verdict {
        Verdict::Allowed => {
            debug!(session.id = id.as_str(), host, port, "Connection out is allowed");
            &counts.allowed
        }
        Verdict::Denied(rule) => {
            info!(session.id = id.as_str(), host, port, %rule, "Connection out is denied");
            &counts.denied
        }
        Verdict::Failed(failure) => {
            info!(session.id = id.as_str(), host, port, ?failure, "Connection out failed");
            &counts.failed
        }
    };
    count.fetch_add(1, Ordering::Relaxed);
}

/// Connections as the guest hands them over.
struct Tunnels {
    link: Link,
}

impl Incoming for Tunnels {
    async fn next(&mut self) -> io::Result<Box<dyn ByteStream>> {
        let stream = self.link.tunnel().await.map_err(io::Error::other)?;
        Ok(Box::new(stream))
    }
}
