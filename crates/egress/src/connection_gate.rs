//! Opens connections: resolves once, judges every address, dials one that passed.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use crate::{
    Decision, EgressError, Host, MACHINE_NAME, Policy, Resolve, Scheme, SystemResolver, Target,
    Via, ViaError, dial::dial,
};

/// Limit on addresses tried for one name.
const MAX_ADDRESSES: usize = 16;

/// Limits and timeouts. The defaults are those of the product.
#[derive(Debug, Clone, Copy)]
pub struct ProxyLimits {
    /// Limit on simultaneous connections of one proxy; further ones are refused.
    pub connections: usize,
    /// Timeout for resolving a name.
    pub resolve: Duration,
    /// Timeout for connecting to any of its addresses.
    pub connect: Duration,
    /// Timeout for an upstream proxy to connect to its target.
    pub proxy: Duration,
    /// Timeout for a client to send its request, from its first byte or its last answer.
    pub head: Duration,
    /// Timeout for a server to begin its answer while no byte moves.
    pub answer: Duration,
    /// Timeout for a connection on which no byte moves.
    pub idle: Duration,
    /// The same after one side has finished.
    pub half_closed: Duration,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            resolve: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            proxy: Duration::from_secs(30),
            head: Duration::from_secs(60),
            answer: Duration::from_secs(5 * 60),
            idle: Duration::from_secs(10 * 60),
            half_closed: Duration::from_secs(60),
        }
    }
}

/// The one place where outgoing connections are made. Cheap to clone.
#[derive(Clone)]
pub struct ConnectionGate {
    policy: Policy,
    resolver: Arc<dyn Resolve>,
    observer: Arc<dyn Fn(Decision) + Send + Sync>,
    limits: ProxyLimits,
    via: Option<Arc<Via>>,
}

/// A connection that the policy allowed.
#[derive(Debug)]
pub struct Dialled {
    /// The connection.
    pub stream: TcpStream,
    /// The address that was judged and dialled.
    pub address: IpAddr,
}

impl ConnectionGate {
    /// A gate with the system's resolver and without an observer.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            resolver: Arc::new(SystemResolver::default()),
            observer: Arc::new(|_| {}),
            limits: ProxyLimits::default(),
            via: None,
        }
    }

    /// Uses an upstream proxy, if given.
    #[must_use]
    pub fn leaving(self, via: Option<Via>) -> Self {
        Self { via: via.map(Arc::new), ..self }
    }

    /// Resolves names with `resolver`.
    #[must_use]
    pub fn with_resolver(self, resolver: impl Resolve) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Reports each decision to `observer`, which must not block.
    #[must_use]
    pub fn with_observer(self, observer: impl Fn(Decision) + Send + Sync + 'static) -> Self {
        Self { observer: Arc::new(observer), ..self }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(self, limits: ProxyLimits) -> Self {
        Self { limits, ..self }
    }

    /// Connects to the target if the policy allows it, and reports the decision.
    pub async fn open(&self, target: &Target, scheme: Scheme) -> Result<Dialled, EgressError> {
        let opened = self.judge_and_dial(target).await;
        (self.observer)(match &opened {
            Ok(dialled) => Decision::allowed(target, scheme, dialled.address),
            Err(error) => Decision::from_error(target, scheme, error),
        });
        opened
    }

    /// Reports another request on a connection opened for the same target.
    pub(crate) fn reused(&self, target: &Target, scheme: Scheme, address: IpAddr) {
        (self.observer)(Decision::allowed(target, scheme, address));
    }

    pub(crate) fn limits(&self) -> &ProxyLimits {
        &self.limits
    }

    async fn judge_and_dial(&self, target: &Target) -> Result<Dialled, EgressError> {
        match &self.via {
            Some(via) if !via.bypasses(&target.host) => self.dial_by(via, target).await,
            _ => self.dial_directly(target).await,
        }
    }

    /// Connects through an upstream proxy. The target is judged as far as possible without
    /// resolving it.
    async fn dial_by(&self, via: &Via, target: &Target) -> Result<Dialled, EgressError> {
        match &target.host {
            Host::Address(address) => drop(self.allowed(&[*address], target.port)?),
            Host::Name(name) => self
                .policy
                .judge_name(name)
                .map_err(|rule| EgressError::Denied { rule, address: None })?,
        }
        let dialled = self.dial_directly(via.server()).await;
        let mut dialled = dialled.map_err(|error| ViaError::Unreachable(Box::new(error)))?;
        let asking = timeout(self.limits.proxy, via.ask(&mut dialled.stream, target));
        asking.await.map_err(|_| ViaError::Deadline)??;
        Ok(dialled)
    }

    async fn dial_directly(&self, target: &Target) -> Result<Dialled, EgressError> {
        let addresses =
            addresses(&target.host, &self.policy, &*self.resolver, &self.limits).await?;
        let allowed = self.allowed(&addresses, target.port)?;
        let tried = allowed.first().map_or(Ipv4Addr::UNSPECIFIED.into(), SocketAddr::ip);
        match timeout(self.limits.connect, dial(&allowed)).await {
            Ok(Ok(stream)) => {
                let address = stream.peer_addr().map_or(tried, |peer| peer.ip());
                Ok(Dialled { stream, address })
            }
            Ok(Err(Some(failure))) => Err(EgressError::Unreachable {
                address: failure.address.ip(),
                source: failure.source,
            }),
            Ok(Err(None)) => Err(EgressError::Unresolved(io::ErrorKind::NotFound.into())),
            Err(_) => Err(EgressError::ConnectDeadline { address: tried }),
        }
    }

    /// The addresses that may be dialled; if there are none, the reason for the first.
    fn allowed(&self, addresses: &[IpAddr], port: u16) -> Result<Vec<SocketAddr>, EgressError> {
        let mut allowed = Vec::new();
        let mut refusal = None;
        for address in addresses {
            let to = SocketAddr::new(*address, port);
            match self.policy.judge(to) {
                Ok(_) => allowed.push(to),
                Err(rule) => {
                    let denied = EgressError::Denied { rule, address: Some(*address) };
                    refusal.get_or_insert(denied);
                }
            }
        }
        match refusal {
            Some(denied) if allowed.is_empty() => Err(denied),
            _ => Ok(allowed),
        }
    }
}

/// The addresses of a host, in the form in which they are dialled.
pub(crate) async fn addresses(
    host: &Host,
    policy: &Policy,
    resolver: &dyn Resolve,
    limits: &ProxyLimits,
) -> Result<Vec<IpAddr>, EgressError> {
    let name = match host {
        Host::Address(address) => return Ok(vec![address.to_canonical()]),
        Host::Name(name) => name.as_str(),
    };
    policy.judge_name(name).map_err(|rule| EgressError::Denied { rule, address: None })?;
    if name == MACHINE_NAME {
        return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
    }
    let found = timeout(limits.resolve, resolver.resolve(name)).await;
    let found =
        found.map_err(|_| EgressError::ResolveDeadline)?.map_err(EgressError::Unresolved)?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found.into_iter().map(|address| address.to_canonical()) {
        if addresses.len() < MAX_ADDRESSES && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(EgressError::Unresolved(io::ErrorKind::NotFound.into()));
    }
    Ok(addresses)
}

impl fmt::Debug for ConnectionGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionGate").field("policy", &self.policy).finish_non_exhaustive()
    }
}
