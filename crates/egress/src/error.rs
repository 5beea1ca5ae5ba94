//! Why a connection out could not be had.

use std::{io, net::IpAddr};

use crate::{Rule, ViaError};

/// A connection that was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// An allowlist entry that is neither a range nor an address.
    #[error("{0:?} is not a range of addresses: write 10.1.0.0/16 or a single address")]
    BadRange(String),
    /// Something that cannot be dialled because of how it is written.
    #[error("{text:?} cannot be dialled: {reason}")]
    BadTarget {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The policy refuses.
    #[error("{rule}")]
    Denied {
        /// The rule that refuses.
        rule: Rule,
        /// The address it refuses, where there is one already.
        address: Option<IpAddr>,
    },
    /// The name has no address.
    #[error("the name does not resolve")]
    Unresolved(#[source] io::Error),
    /// The name was not resolved in time.
    #[error("the name was not resolved in time")]
    ResolveDeadline,
    /// None of the allowed addresses took the connection.
    #[error("{address} does not take the connection")]
    Unreachable {
        /// The address that was tried last.
        address: IpAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// None of the allowed addresses answered in time.
    #[error("{address} did not answer in time")]
    ConnectDeadline {
        /// The address that was tried first.
        address: IpAddr,
    },
    /// The connection broke before an answer came.
    #[error("the connection broke before an answer came")]
    Broken(#[source] hyper::Error),
    /// The other side answered against the rules of HTTP.
    #[error("the answer makes no sense: {0}")]
    Nonsense(&'static str),
    /// The other side took the request and then said nothing.
    #[error("the request was not answered in time")]
    AnswerDeadline,
    /// A proxy to leave by that is not written as one. What was written may hold a secret.
    #[error("{0}")]
    BadVia(&'static str),
    /// A host to bypass such a proxy for that is none.
    #[error("{0:?} is not a host: write a name, *.name, an address or a range such as 10.1.0.0/16")]
    BadBypass(String),
    /// The proxy that the session leaves by did not give a connection.
    #[error(transparent)]
    Via(#[from] ViaError),
}

impl EgressError {
    /// The rule that refuses, be it the target or the proxy to leave by, and the address.
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
