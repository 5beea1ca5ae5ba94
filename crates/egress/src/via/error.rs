//! Why a proxy did not give a connection, and what to do about it.

use std::io;

use crate::EgressError;

/// A proxy to leave by that did not give a connection.
#[derive(Debug, thiserror::Error)]
pub enum ViaError {
    /// There is no connection to the proxy itself.
    #[error("the session's proxy cannot be reached")]
    Unreachable(#[source] Box<EgressError>),
    /// It wants to know who asks, or does not like who does.
    #[error("the session's proxy {0}")]
    Credentials(Login),
    /// It does not connect to the target.
    #[error("the session's proxy did not connect: it answered {0}")]
    Refused(String),
    /// It does not speak as it should.
    #[error("the session's proxy makes no sense: {0}")]
    Nonsense(&'static str),
    /// It hung up.
    #[error("the session's proxy hung up")]
    Broken(#[from] io::Error),
    /// It took the request and then said nothing.
    #[error("the session's proxy did not answer in time")]
    Deadline,
}

/// What is wrong with the credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// None were given.
    Wanted,
    /// Those that were given are not right.
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

    /// What to do about it, in a sentence.
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
                "The server may be down, or whoever runs the proxy may not allow it. A host in \
                 proxy.bypass is dialled directly."
            }
            Self::Nonsense(_) | Self::Broken(_) => {
                "Check that proxy.server has the right port and scheme: http or socks5."
            }
            Self::Deadline => "The proxy or the server behind it is slow, or down: try again.",
        };
        advice.to_owned()
    }
}

impl std::fmt::Display for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wanted => "asks for a username and a password, and has been given none",
            Self::Refused => "refuses the username and password it has been given",
        })
    }
}
