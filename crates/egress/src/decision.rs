//! What became of each request for a connection, for counters and logs.

use std::{fmt, net::IpAddr};

use crate::{EgressError, Rule, Target};

/// One request for a connection and what became of it. Holds no path and no query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The host that was asked for, in normal form.
    pub host: String,
    /// The port that was asked for.
    pub port: u16,
    /// The address that was dialled or refused, where there was one; of the proxy to leave by, if
    /// the host was handed to it.
    pub address: Option<IpAddr>,
    /// How it was asked for.
    pub scheme: Scheme,
    /// What became of it.
    pub verdict: Verdict,
}

/// How a connection was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// A plain HTTP request, forwarded.
    Http,
    /// A tunnel by HTTP CONNECT.
    Connect,
    /// A tunnel by SOCKS5.
    Socks,
    /// By the server itself, without the proxy.
    Direct,
}

/// What became of a request for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed, and connected.
    Allowed,
    /// Refused by a rule.
    Denied(Rule),
    /// Not refused, but not connected either.
    Failed(Failure),
}

/// Why an allowed connection did not come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The target makes no sense.
    Malformed,
    /// The name has no address.
    Unresolved,
    /// Nobody takes the connection.
    Unreachable,
    /// Nobody answered in time.
    Deadline,
    /// The proxy to leave by did not give a connection, for this reason.
    Proxy(&'static str),
}

impl Decision {
    pub(crate) fn allowed(target: &Target, scheme: Scheme, address: IpAddr) -> Self {
        Self::new(target, scheme, Some(address), Verdict::Allowed)
    }

    pub(crate) fn of_error(target: &Target, scheme: Scheme, error: &EgressError) -> Self {
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
