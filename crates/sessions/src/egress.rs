//! A session's way out: connections of its programs come through the link, and are served by the
//! proxy under the server's policy, or carried to a forwarded port.

use std::{collections::VecDeque, io, sync::Arc};

use helmdeck_egress::{ByteStream, Decision, Gate, Incoming, Policy, Proxy, Verdict, Via};
use helmdeck_link::Link;
use helmdeck_wire::{SessionId, session};
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tracing::{debug, info};

use crate::forwards::Forwards;

/// Refused and failed requests that are remembered, to explain why a page did not load.
const REMEMBERED: usize = 64;

/// What became of the requests to get out.
#[derive(Default)]
pub(crate) struct Decisions {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    allowed: u64,
    denied: u64,
    failed: u64,
    /// The last that were denied or failed, newest last, each with its number.
    recent: VecDeque<(u64, Decision)>,
}

impl Known {
    /// How many were denied or failed so far: the number of the last of them.
    fn number(&self) -> u64 {
        self.denied + self.failed
    }
}

impl Decisions {
    pub fn counts(&self) -> session::Egress {
        let Known { allowed, denied, failed, .. } = *self.known.lock();
        session::Egress { allowed, denied, failed }
    }

    /// A moment, for [`Self::since`].
    pub fn mark(&self) -> u64 {
        self.known.lock().number()
    }

    /// What was refused or failed since that moment, newest first.
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
pub(crate) fn serve(
    id: &SessionId,
    link: Link,
    (policy, via): (Policy, Option<Via>),
    decisions: Arc<Decisions>,
    forwards: Arc<Forwards>,
) -> Proxy {
    let id = id.clone();
    let gate = Gate::new(policy).leaving(via).with_observer(move |decision| {
        log(&id, &decision);
        decisions.note(decision);
    });
    Proxy::serve(Tunnels { link, forwards, forwarded: JoinSet::new() }, gate)
}

fn log(id: &SessionId, Decision { host, port, verdict, .. }: &Decision) {
    let id = id.as_str();
    match verdict {
        Verdict::Allowed => {
            debug!(session.id = id, host, port, "Connection out is allowed");
        }
        Verdict::Denied(rule) => {
            info!(session.id = id, host, port, %rule, "Connection out is denied");
        }
        Verdict::Failed(failure) => {
            info!(session.id = id, host, port, ?failure, "Connection out failed");
        }
    }
}

/// Connections as the guest hands them over. Those to forwarded ports are no business of the proxy.
struct Tunnels {
    link: Link,
    forwards: Arc<Forwards>,
    /// They end with the proxy.
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
