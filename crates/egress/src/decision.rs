//! The result of each connection request, for metrics and logs.

use std::{fmt, net::IpAddr};

use crate::{EgressError, Rule, Target};

/// A connection request and its result. Contains no path and no query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The requested host, normalized.
    pub host: String,
    /// The requested port.
    pub port: u16,
    /// The address that was dialled or refused, if known. If the host was left to an upstream
    /// proxy, the proxy's address.
    pub address: Option<IpAddr>,
    /// How the connection was requested.
    pub scheme: Scheme,
    /// The result.
    pub verdict: Verdict,
}

/// How a connection was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// A forwarded plain HTTP request.
    Http,
    /// A tunnel with HTTP CONNECT.
    Connect,
    /// A tunnel with SOCKS5.
    Socks,
    /// By the server itself, without the proxy.
    Direct,
}

/// The result of a connection request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed, and connected.
    Allowed,
    /// Refused by a rule.
    Denied(Rule),
    /// Allowed, but the connection failed.
    Failed(Failure),
}

/// Why an allowed connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The target is malformed.
    Malformed,
    /// The name has no address.
    Unresolved,
    /// The connection was refused or the host is unreachable.
    Unreachable,
    /// There was no answer in time.
    Deadline,
    /// The upstream proxy did not connect, for this reason.
    Proxy(&'static str),
}

impl Decision {
    pub(crate) fn allowed(target: &Target, scheme: Scheme, address: IpAddr) -> Self {
        Self::new(target, scheme, Some(address), Verdict::Allowed)
    }

    pub(crate) fn from_error(target: &Target, scheme: Scheme, error: &EgressError) -> Self {
        if let Some((rule, address)) = error.denial() {
            return Self::new(target, scheme, address, Verdict::Denied(rule));
        }
        let failed = |failure, address| (address, Verdict::Failed(failure));
        let (address, verdict) = match error {
            EgressError::Denied { rule, address } => (*address, Verdict::Denied(*rule)),
            EgressError::Via(error) => failed(Failure::Proxy(error.title()), None),
            EgressError::Unresolved(_) => failed(Failure::Unresolved, None),
            EgressError::ResolveDeadline | EgressError::AnswerDeadline => {
                failed(Failure::Deadline, None)
            }
            EgressError::Unreachable { address, .. } => {
                failed(Failure::Unreachable, Some(*address))
            }
            EgressError::ConnectDeadline { address } => failed(Failure::Deadline, Some(*address)),
            EgressError::Broken(_) | EgressError::Nonsense(_) => failed(Failure::Unreachable, None),
            EgressError::BadRange(_)
            | EgressError::BadTarget { .. }
            | EgressError::BadVia(_)
            | EgressError::BadBypass(_) => failed(Failure::Malformed, None),
        };
        Self::new(target, scheme, address, verdict)
    }

    fn new(target: &Target, scheme: Scheme, address: Option<IpAddr>, verdict: Verdict) -> Self {
        Self { host: target.host.to_string(), port: target.port, address, scheme, verdict }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Connect => "connect",
            Self::Socks => "socks",
            Self::Direct => "direct",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Unresolved => "unresolved",
            Self::Unreachable => "unreachable",
            Self::Deadline => "deadline",
            Self::Proxy(_) => "proxy",
        })
    }
}
