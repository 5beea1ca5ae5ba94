//! Limits of open connections, in total, per caller and per address.
//!
//! Connections that wait for a request give way to new ones, so that half-sent heads block no
//! client. Requests without credentials cannot use the share that is reserved for callers, and all
//! requests together leave a share for health checks. Each caller and each address has a limit.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_wire::ErrorCode;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    client_address::{TrustedProxies, network},
    error::{ApiError, ApiResult},
};

/// Beyond this number, clients wait in the system's queue.
const MOST: usize = 2048;
/// Share of descriptors for client connections: one in this many. Each may need another one to a
/// guest, and sessions need theirs to run, start and reach the network.
const DESCRIPTORS_PER_CONNECTION: usize = 4;
/// How long a new connection may wait for its first request before it may be closed for another. A
/// client sends its head with the last packet of the handshake, so this can be short. The shorter
/// it is, the sooner callers get past a crowd in the system's queue.
const PATIENCE: Duration = Duration::from_millis(200);
/// The same with TLS: the head comes after one more round trip, or two with TLS 1.2.
const PATIENCE_WITH_TLS: Duration = Duration::from_millis(600);
/// The same for a connection that a caller has used: its next request may be in flight.
const PATIENCE_WITH_CALLERS: Duration = Duration::from_secs(1);
/// How often a full server looks for a connection to close.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// When a refused client should retry.
const RETRY_SECONDS: u64 = 1;

/// Number of connections of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shares {
    /// In total.
    total: usize,
    /// Busy with requests and streams. The rest is for health checks.
    busy: usize,
    /// Busy without credentials. The rest is for callers.
    anonymous: usize,
    /// Busy for one token or ticket.
    caller: usize,
    /// From one address, unless it is this machine or a trusted proxy.
    address: usize,
}

impl Shares {
    /// The shares for a limit on descriptors.
    fn of(descriptors: Option<u64>) -> Self {
        let descriptors = descriptors.and_then(|most| usize::try_from(most).ok());
        let share = descriptors.map_or(MOST, |most| most / DESCRIPTORS_PER_CONNECTION);
        let total = share.clamp(4, MOST);
        Self {
            total,
            busy: total - (total / 32).max(1),
            anonymous: total - total / 4,
            caller: total / 4,
            address: total / 8 + 1,
        }
    }
}

/// Tracks every connection. Cheap to clone.
#[derive(Clone)]
pub struct ConnectionLimits {
    shared: Arc<Shared>,
}

struct Shared {
    shares: Shares,
    proxies: TrustedProxies,
    /// With connections that no caller has used.
    patience: Duration,
    open: Mutex<Open>,
    freed: Notify,
}

#[derive(Default)]
struct Open {
    entries: HashMap<u64, Entry>,
    next: u64,
}

struct Entry {
    /// Address of the peer.
    peer: IpAddr,
    /// Address of the client, behind a proxy.
    client: IpAddr,
    doing: Doing,
    since: Instant,
    /// Whether a caller has used it.
    known: bool,
    closes: CancellationToken,
}

/// What a connection is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Doing {
    /// Waiting: its next request is not complete.
    Waiting,
    /// A request that is not classified yet, or a health check.
    Uncounted,
    /// A request without credentials.
    Anonymous,
    /// A request or stream of this token or ticket.
    Caller(Arc<str>),
}

/// Who a request comes from.
#[derive(Debug, Clone, Copy)]
pub enum Who<'a> {
    /// A health check: never refused.
    Health,
    /// No credentials.
    Anonymous,
    /// The holder of this token or ticket.
    Caller(&'a str),
}

impl ConnectionLimits {
    pub fn new(descriptors: Option<u64>, proxies: TrustedProxies, tls: bool) -> Self {
        let (open, freed) = (Mutex::default(), Notify::new());
        let patience = if tls { PATIENCE_WITH_TLS } else { PATIENCE };
        let shared = Shared { shares: Shares::of(descriptors), proxies, patience, open, freed };
        Self { shared: Arc::new(shared) }
    }

    pub fn proxies(&self) -> &TrustedProxies {
        &self.shared.proxies
    }

    /// Waits for room for a connection. `None` if this peer has too many.
    pub async fn admit(&self, peer: IpAddr) -> Option<Connection> {
        let peer = network(peer);
        loop {
            let freed = self.shared.freed.notified();
            match self.try_admit(peer, Instant::now()) {
                Admitted::Yes(connection) => return Some(connection),
                Admitted::TooMany => return None,
                Admitted::Full => {
                    let _ = tokio::time::timeout(LOOK_AGAIN, freed).await;
                }
            }
        }
    }

    fn try_admit(&self, peer: IpAddr, now: Instant) -> Admitted {
        let mut open = self.shared.open.lock();
        let of_peer = |entry: &Entry| entry.peer == peer;
        let many = open.entries.values().filter(|entry| of_peer(entry)).count();
        if !self.is_generous(peer)
            && many >= self.shared.shares.address
            && !open.close_waiting(of_peer, |_| Duration::ZERO, now)
        {
            return Admitted::TooMany;
        }
        if open.entries.len() >= self.shared.shares.total
            && !open.close_waiting(|_| true, |entry| self.patience(entry), now)
        {
            return Admitted::Full;
        }
        let id = open.next;
        open.next += 1;
        let closes = CancellationToken::new();
        let (client, doing, closed) = (peer, Doing::Waiting, closes.clone());
        open.entries.insert(id, Entry { peer, client, doing, since: now, known: false, closes });
        Admitted::Yes(Connection { limits: self.clone(), id, closed })
    }

    fn patience(&self, entry: &Entry) -> Duration {
        if entry.known { PATIENCE_WITH_CALLERS } else { self.shared.patience }
    }

    /// Whether many clients may share this address.
    fn is_generous(&self, address: IpAddr) -> bool {
        address.is_loopback() || self.shared.proxies.contains(address)
    }

    /// Why a request cannot be served now.
    fn refusal(&self, open: &Open, id: u64, who: Who<'_>) -> Option<ApiError> {
        let shares = self.shared.shares;
        let client = open.entries.get(&id).map(|entry| entry.client);
        let (mut busy, mut anonymous, mut same_caller, mut same_client) = (0, 0, 0, 0);
        for (_, entry) in open.entries.iter().filter(|(other, _)| **other != id) {
            match &entry.doing {
                Doing::Waiting | Doing::Uncounted => continue,
                Doing::Anonymous => anonymous += 1,
                Doing::Caller(key) => {
                    same_caller += usize::from(matches!(who, Who::Caller(who) if *who == **key));
                }
            }
            busy += 1;
            same_client += usize::from(Some(entry.client) == client);
        }
        if same_caller >= shares.caller {
            let most = shares.caller;
            return Some(too_many(format!(
                "this token or ticket has reached its limit of {most} open connections"
            )));
        }
        if same_client >= shares.address && client.is_some_and(|it| !self.is_generous(it)) {
            let most = shares.address;
            return Some(too_many(format!(
                "your address has reached its limit of {most} open connections"
            )));
        }
        let full =
            busy >= shares.busy || (anonymous >= shares.anonymous && matches!(who, Who::Anonymous));
        full.then(|| {
            let message = "the server has reached its limit of open connections: try again soon";
            ApiError::new(ErrorCode::Overloaded, message).retry_after(RETRY_SECONDS)
        })
    }
}

fn too_many(message: String) -> ApiError {
    let message = format!("{message}: close some, or wait");
    ApiError::new(ErrorCode::TooManyConnections, message).retry_after(RETRY_SECONDS)
}

enum Admitted {
    Yes(Connection),
    TooMany,
    Full,
}

impl Open {
    /// Closes the connection that has waited longest for its next request, preferring those that no
    /// caller has used. Returns whether there was one.
    fn close_waiting(
        &mut self,
        among: impl Fn(&Entry) -> bool,
        least: impl Fn(&Entry) -> Duration,
        now: Instant,
    ) -> bool {
        let idle = |entry: &Entry| entry.doing == Doing::Waiting && among(entry);
        let waiting = self.entries.iter().filter(|(_, entry)| idle(entry));
        // A caller's connection is closed only if there are no others, not even new ones.
        let oldest = waiting.min_by_key(|(_, entry)| (entry.known, entry.since));
        let waited = |entry: &Entry| now.saturating_duration_since(entry.since);
        let oldest = oldest.filter(|(_, entry)| waited(entry) >= least(entry));
        let Some(id) = oldest.map(|(id, _)| *id) else { return false };
        if let Some(entry) = self.entries.remove(&id) {
            entry.closes.cancel();
        }
        true
    }
}

/// An open connection. Dropping it frees its slot.
pub struct Connection {
    limits: ConnectionLimits,
    id: u64,
    closed: CancellationToken,
}

impl Connection {
    /// Waits until another connection needs its slot.
    pub async fn gives_way(&self) {
        self.closed.cancelled().await;
    }

    /// Marks the arrival of a request from this client.
    pub fn begins(&self, client: IpAddr) {
        self.change(|entry| (entry.client, entry.doing) = (network(client), Doing::Uncounted));
    }

    /// Marks the end of the response: the connection waits for the next request.
    pub fn rests(&self) {
        self.change(|entry| (entry.doing, entry.since) = (Doing::Waiting, Instant::now()));
    }

    /// Counts the request, or refuses it.
    pub fn serves(&self, who: Who<'_>) -> ApiResult<()> {
        let mut open = self.limits.shared.open.lock();
        let doing = match who {
            Who::Health => return Ok(()),
            Who::Anonymous => Doing::Anonymous,
            Who::Caller(key) => Doing::Caller(key.into()),
        };
        if let Some(refusal) = self.limits.refusal(&open, self.id, who) {
            return Err(refusal);
        }
        if let Some(entry) = open.entries.get_mut(&self.id) {
            entry.known |= matches!(doing, Doing::Caller(_));
            entry.doing = doing;
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.limits.shared.open.lock().entries.get_mut(&self.id) {
            change(entry);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.limits.shared.open.lock().entries.remove(&self.id);
        self.limits.shared.freed.notify_one();
    }
}

#[cfg(test)]
mod tests;
