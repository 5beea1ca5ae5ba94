//! Forwarded ports: ports of the server's machine, or of a machine that runs `helmdeck forward`,
//! opened on a session's loopback.

mod carry;
mod client;
mod permission;

use std::collections::{BTreeMap, HashMap};

use helmdeck_store::StoreError;
use helmdeck_wire::{
    error::with_causes,
    forward::{Forward, ForwardRule, ForwardedFrom},
    guest::ForwardedPorts,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    io::DuplexStream,
    sync::{Semaphore, mpsc, oneshot, watch},
};
use tracing::warn;

use crate::{
    Caller, Session, SessionError, events::EventKind, history::Attempt, lifecycle::Lifecycle,
    session::Task,
};

pub use client::ClientForward;
pub(crate) use permission::Permission;

/// Maximum number of ports per session.
pub(crate) const MAX_FORWARDS: usize = 32;
/// Maximum number of connections to all of them. More are closed.
const MAX_CONNECTIONS: usize = 256;

/// The forwarded ports of one session.
pub(crate) struct Forwards {
    /// Keyed by the port inside.
    open: Mutex<BTreeMap<u16, Open>>,
    /// Held while the guest is updated.
    change: tokio::sync::Mutex<()>,
    /// Connections that wait for a client's side, by name.
    waiting: Mutex<HashMap<String, oneshot::Sender<DuplexStream>>>,
    connections: Semaphore,
}

/// A forwarded port.
struct Open {
    to: u16,
    target: Target,
    /// Dropped with the forward, which closes its connections.
    alive: watch::Sender<()>,
}

/// Which side dials the port outside.
#[derive(Clone)]
enum Target {
    /// This server.
    Server,
    /// A client, which receives the names of connections to open.
    Client(mpsc::Sender<String>),
}

impl Default for Forwards {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            change: tokio::sync::Mutex::default(),
            waiting: Mutex::default(),
            connections: Semaphore::new(MAX_CONNECTIONS),
        }
    }
}

impl Forwards {
    pub fn list(&self) -> Vec<Forward> {
        let forward = |(port, open): (&u16, &Open)| Forward {
            port: *port,
            to_port: open.to,
            from: match open.target {
                Target::Server => ForwardedFrom::Server,
                Target::Client(_) => ForwardedFrom::Client,
            },
        };
        self.open.lock().iter().map(forward).collect()
    }

    /// The forward of a port inside.
    pub fn find(&self, port: u16) -> Option<Forward> {
        self.list().into_iter().find(|forward| forward.port == port)
    }

    fn insert(&self, rule: ForwardRule, target: Target) {
        let open = Open { to: rule.to, target, alive: watch::Sender::new(()) };
        self.open.lock().insert(rule.port, open);
    }

    fn ports(&self) -> ForwardedPorts {
        ForwardedPorts { ports: self.open.lock().keys().copied().collect() }
    }
}

impl Session {
    /// The session's forwards.
    pub fn forwards(&self) -> Vec<Forward> {
        self.inner.forwards.list()
    }

    /// Forwards a port of the server's machine. Does nothing if it is already forwarded like this.
    pub async fn add_forward(
        &self,
        caller: &Caller,
        rule: ForwardRule,
    ) -> Result<Forward, SessionError> {
        let detail = json!({ "port": rule.port, "to_port": rule.to, "from": "server" });
        let mut attempt = Attempt::named(self, caller.actor(), "forward_open", detail);
        let added = async {
            self.inner.forward_permission.check(caller, &[rule])?;
            let _busy = self.admit_forward().await?;
            self.open_forward(rule, Target::Server).await?;
            self.remember(self.inner.forward_permission.store().add_forward(self.id(), rule)).await;
            Ok(Forward { port: rule.port, to_port: rule.to, from: ForwardedFrom::Server })
        }
        .await;
        attempt.outcome = added.as_ref().map_or_else(SessionError::code, |_| "ok");
        added
    }

    /// Closes a forwarded port and its connections.
    pub async fn remove_forward(&self, caller: &Caller, port: u16) -> Result<(), SessionError> {
        let detail = json!({ "port": port });
        let mut attempt = Attempt::named(self, caller.actor(), "forward_close", detail);
        let removed = async {
            let _busy = self.admit_forward().await?;
            if self.inner.forwards.open.lock().remove(&port).is_none() {
                return Err(SessionError::NoForward(port));
            }
            self.remember(self.inner.forward_permission.store().remove_forward(self.id(), port))
                .await;
            self.tell_guest_forwards().await
        }
        .await;
        attempt.outcome = removed.as_ref().map_or_else(SessionError::code, |()| "ok");
        self.tell(EventKind::Changed);
        removed
    }

    /// Opens the forwards of a new session, before a program inside can take a port.
    pub(crate) async fn begin_forwards(&self) -> Result<(), SessionError> {
        let rules = &self.inner.record.spec.forward;
        if rules.is_empty() {
            return Ok(());
        }
        for rule in rules {
            self.inner.forwards.insert(*rule, Target::Server);
            self.remember(self.inner.forward_permission.store().add_forward(self.id(), *rule))
                .await;
        }
        self.tell_guest_forwards().await
    }

    /// Restores the forwards of an earlier server, and makes the guest close all others.
    pub(crate) async fn adopt_forwards(&self) {
        let rules = self.inner.forward_permission.store().forwards(self.id()).await;
        let rules = rules.unwrap_or_else(|error| {
            let error = with_causes(&error);
            warn!(session.id = self.id().as_str(), error, "Failed to load the forwards");
            Vec::new()
        });
        for rule in rules {
            self.inner.forwards.insert(rule, Target::Server);
        }
        if let Err(error) = self.tell_guest_forwards().await {
            let error = with_causes(&error);
            warn!(session.id = self.id().as_str(), error, "Failed to reopen the forwards");
        }
    }

    /// Removes the forwards of an ended session.
    pub(crate) async fn end_forwards(&self) {
        self.inner.forwards.open.lock().clear();
        self.remember(self.inner.forward_permission.store().remove_forwards(self.id())).await;
    }

    async fn admit_forward(&self) -> Result<Task, SessionError> {
        self.adoption().await;
        self.begin(Lifecycle::begin_use)
    }

    /// Opens a port inside, or changes nothing.
    async fn open_forward(&self, rule: ForwardRule, target: Target) -> Result<(), SessionError> {
        let forwards = &self.inner.forwards;
        let _change = forwards.change.lock().await;
        match forwards.find(rule.port) {
            Some(known) if known.to_port == rule.to && known.from == ForwardedFrom::Server => {
                if matches!(target, Target::Server) {
                    return Ok(());
                }
                return Err(SessionError::ForwardExists(known));
            }
            Some(known) => return Err(SessionError::ForwardExists(known)),
            None if forwards.open.lock().len() >= MAX_FORWARDS => {
                return Err(SessionError::TooManyForwards { limit: MAX_FORWARDS });
            }
            None => {}
        }
        forwards.insert(rule, target);
        let told = self.inner.link.set_forwards(&forwards.ports()).await;
        if told.is_err() {
            forwards.open.lock().remove(&rule.port);
        }
        self.tell(EventKind::Changed);
        told.map_err(|error| self.link_failed(error))
    }

    async fn tell_guest_forwards(&self) -> Result<(), SessionError> {
        let forwards = &self.inner.forwards;
        let _change = forwards.change.lock().await;
        let told = self.inner.link.set_forwards(&forwards.ports()).await;
        told.map_err(|error| self.link_failed(error))
    }

    /// Stores a forward. If the disk is full it still works, but does not survive the server.
    async fn remember(&self, writing: impl Future<Output = Result<(), StoreError>>) {
        if let Err(error) = writing.await {
            let error = with_causes(&error);
            warn!(session.id = self.id().as_str(), error, "Failed to store a forward");
        }
    }
}
