//! Outgoing connections of a session's programs. They arrive through the link and go through the
//! proxy under the server's policy, or to a forwarded port.

use std::{collections::VecDeque, io, sync::Arc};

use helmdeck_egress::{
    ByteStream, ConnectionGate, Decision, Incoming, Policy, Proxy, Verdict, Via,
};
use helmdeck_link::Link;
use helmdeck_wire::{SessionId, session};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tracing::{debug, info};

use crate::{Session, audit, forwards::Forwards};

/// Number of refused and failed connections to remember, to explain why a page did not load.
const REMEMBERED: usize = 64;

/// Counts and recent failures of outgoing connections.
#[derive(Default)]
pub(crate) struct Decisions {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    allowed: u64,
    denied: u64,
    failed: u64,
    /// The most recent denied or failed connections with their numbers, newest last.
    recent: VecDeque<(u64, Decision)>,
}

impl Known {
    /// Number of the last denied or failed connection.
    fn number(&self) -> u64 {
        self.denied + self.failed
    }
}

impl Decisions {
    pub fn counts(&self) -> session::Egress {
        let Known { allowed, denied, failed, .. } = *self.known.lock();
        session::Egress { allowed, denied, failed }
    }

    /// The current position, for [`Self::since`].
    pub fn mark(&self) -> u64 {
        self.known.lock().number()
    }

    /// Refused and failed connections since then, newest first.
    pub fn since(&self, mark: u64) -> Vec<Decision> {
        let known = self.known.lock();
        let since = known.recent.iter().rev().take_while(|(number, _)| *number > mark);
        since.map(|(_, decision)| decision.clone()).collect()
    }

    pub fn note(&self, decision: Decision) {
        let mut known = self.known.lock();
        match decision.verdict {
            Verdict::Allowed => {
                known.allowed += 1;
                return;
            }
            Verdict::Denied(_) => known.denied += 1,
            Verdict::Failed(_) => known.failed += 1,
        }
        if known.recent.len() == REMEMBERED {
            known.recent.pop_front();
        }
        let number = known.number();
        known.recent.push_back((number, decision));
    }
}

/// Serves the session's programs until the proxy is dropped.
pub(crate) fn serve(session: &Session, policy: Policy, via: Option<Via>) -> Proxy {
    let inner = &session.inner;
    let (id, audit) = (inner.id.clone(), inner.audit.clone());
    let (decisions, forwards) = (inner.egress.clone(), inner.forwards.clone());
    let link = inner.link.clone();
    let gate = ConnectionGate::new(policy).leaving(via).with_observer(move |decision| {
        log(&id, &decision);
        audit::denied(&audit, &id, &decision);
        decisions.note(decision);
    });
    Proxy::serve(Tunnels { link, forwards, forwarded: JoinSet::new() }, gate)
}

fn log(id: &SessionId, Decision { host, port, verdict, .. }: &Decision) {
    let id = id.as_str();
    match verdict {
        Verdict::Allowed => {
            debug!(session.id = id, host, port, "Outgoing connection allowed");
        }
        Verdict::Denied(rule) => {
            info!(session.id = id, host, port, %rule, "Outgoing connection denied");
        }
        Verdict::Failed(failure) => {
            info!(session.id = id, host, port, %failure, "Outgoing connection failed");
        }
    }
}

/// Connections from the guest. Those to forwarded ports do not go through the proxy.
struct Tunnels {
    link: Link,
    forwards: Arc<Forwards>,
    /// Tasks that end with the proxy.
    forwarded: JoinSet<()>,
}

impl Incoming for Tunnels {
    async fn next(&mut self) -> io::Result<Box<dyn ByteStream>> {
        loop {
            let tunnel = self.link.tunnel().await.map_err(io::Error::other)?;
            while self.forwarded.try_join_next().is_some() {}
            match tunnel.forwarded_port {
                None => return Ok(Box::new(tunnel.stream)),
                Some(port) => {
                    self.forwarded.spawn(self.forwards.clone().carry(port, tunnel.stream));
                }
            }
        }
    }
}
