//! Errors of an upstream proxy, with advice.

use std::io;

use crate::EgressError;

/// The upstream proxy did not connect.
#[derive(Debug, thiserror::Error)]
pub enum ViaError {
    /// The proxy itself cannot be reached.
    #[error("the session's proxy cannot be reached")]
    Unreachable(#[source] Box<EgressError>),
    /// The proxy requires a login, or refuses the given one.
    #[error("the session's proxy {0}")]
    Credentials(Login),
    /// The proxy could not connect to the target.
    #[error("the session's proxy did not connect to the server: it answered {0}")]
    Refused(String),
    /// The proxy violates its protocol.
    #[error("the session's proxy gave an invalid answer: {0}")]
    Nonsense(&'static str),
    /// The proxy closed the connection.
    #[error("the session's proxy closed the connection")]
    Broken(#[from] io::Error),
    /// The proxy did not answer in time.
    #[error("the session's proxy did not answer in time")]
    Deadline,
}

/// What is wrong with the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// None was given.
    Wanted,
    /// The given one was refused.
    Refused,
}

impl ViaError {
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "The session's proxy cannot be reached",
            Self::Credentials(_) => "The session's proxy refuses the credentials",
            Self::Refused(_) => "The session's proxy does not connect to the server",
            Self::Nonsense(_) | Self::Broken(_) | Self::Deadline => {
                "The session's proxy does not answer as it should"
            }
        }
    }

    /// Advice in one sentence.
    pub(crate) fn advice(&self) -> String {
        let advice = match self {
            Self::Unreachable(cause) => match cause.denial() {
                Some((rule, address)) => return rule.advice(address),
                None => "Check that the proxy runs and that proxy.server names it.",
            },
            Self::Credentials(_) => {
                "Create a session with the right proxy.username and proxy.password."
            }
            Self::Refused(_) => {
                "The server may be down, or the proxy may not allow it. Hosts in proxy.bypass are \
                 dialled directly."
            }
            Self::Nonsense(_) | Self::Broken(_) => {
                "Check that proxy.server has the right port and scheme: http or socks5."
            }
            Self::Deadline => "The proxy or the server behind it is slow or down; try again.",
        };
        advice.to_owned()
    }
}

impl std::fmt::Display for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wanted => "requires a username and a password, but none is set",
            Self::Refused => "refuses the username and password",
        })
    }
}
