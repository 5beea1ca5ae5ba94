//! Errors of outgoing connections.

use std::{io, net::IpAddr};

use crate::{Rule, ViaError};

/// A connection that was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// An allowlist entry that is neither a range nor an address.
    #[error("{0:?} is not an address range; use a range such as 10.1.0.0/16 or a single address")]
    BadRange(String),
    /// A malformed target.
    #[error("{text:?} cannot be dialled: {reason}")]
    BadTarget {
        /// The target as given.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The policy refuses the target.
    #[error("{rule}")]
    Denied {
        /// The rule that refuses.
        rule: Rule,
        /// The refused address, if it is already known.
        address: Option<IpAddr>,
    },
    /// The name has no address.
    #[error("the name does not resolve")]
    Unresolved(#[source] io::Error),
    /// The name was not resolved in time.
    #[error("the name was not resolved in time")]
    ResolveDeadline,
    /// None of the allowed addresses accepted the connection.
    #[error("could not connect to {address}")]
    Unreachable {
        /// The address that was tried last.
        address: IpAddr,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// None of the allowed addresses answered in time.
    #[error("{address} did not answer in time")]
    ConnectDeadline {
        /// The address that was tried first.
        address: IpAddr,
    },
    /// The connection broke before the answer.
    #[error("the connection was closed before the server answered")]
    Broken(#[source] hyper::Error),
    /// The server's answer violates HTTP.
    #[error("the server's answer is invalid: {0}")]
    Nonsense(&'static str),
    /// The server did not answer the request in time.
    #[error("the request was not answered in time")]
    AnswerDeadline,
    /// A malformed proxy setting. It is not quoted, because it may contain a secret.
    #[error("{0}")]
    BadVia(&'static str),
    /// A malformed bypass entry.
    #[error("{0:?} is not a host; use a name, *.name, an address or a range such as 10.1.0.0/16")]
    BadBypass(String),
    /// The session's upstream proxy did not connect.
    #[error(transparent)]
    Via(#[from] ViaError),
}

impl EgressError {
    /// The refusing rule and the address, for the target or the upstream proxy.
    pub(crate) fn denial(&self) -> Option<(Rule, Option<IpAddr>)> {
        match self {
            Self::Denied { rule, address } => Some((*rule, *address)),
            Self::Via(ViaError::Unreachable(cause)) => cause.denial(),
            Self::BadRange(_)
            | Self::BadTarget { .. }
            | Self::BadVia(_)
            | Self::BadBypass(_)
            | Self::Unresolved(_)
            | Self::ResolveDeadline
            | Self::Unreachable { .. }
            | Self::ConnectDeadline { .. }
            | Self::Broken(_)
            | Self::Nonsense(_)
            | Self::AnswerDeadline
            | Self::Via(_) => None,
        }
    }
}
