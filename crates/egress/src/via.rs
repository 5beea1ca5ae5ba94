//! Another proxy to leave by: what it is, and how it is asked for a connection.

mod connect;
mod error;
mod socks;

use std::fmt;

use tokio::net::TcpStream;

use crate::{Bypass, EgressError, Host, MACHINE_NAME, Target};

pub use error::ViaError;

/// The longest username or password that SOCKS5 can carry.
const MAX_CREDENTIAL: usize = 255;

/// A proxy to leave by.
#[derive(Clone)]
pub struct Via {
    protocol: Protocol,
    server: Target,
    credentials: Option<Credentials>,
    bypass: Vec<Bypass>,
}

/// What the proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// HTTP CONNECT.
    Http,
    /// RFC 1928.
    Socks5,
}

/// Who to log in as.
#[derive(Clone)]
struct Credentials {
    username: String,
    password: String,
}

impl Via {
    /// Reads `http://host:port` or `socks5://host:port`. An error never quotes what was read.
    pub fn new(server: &str) -> Result<Self, EgressError> {
        let bad = EgressError::BadVia;
        let (protocol, authority) = match server.split_once("://") {
            Some(("http", rest)) => (Protocol::Http, rest),
            Some(("socks5", rest)) => (Protocol::Socks5, rest),
            _ => return Err(bad("expected http://host:port or socks5://host:port")),
        };
        if authority.contains('@') {
            return Err(bad("has credentials in it: give them as username and password"));
        }
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let server = Target::parse(authority, None)
            .map_err(|_| bad("expected a host and a port after the scheme, and nothing else"))?;
        Ok(Self { protocol, server, credentials: None, bypass: Vec::new() })
    }

    /// Logs in there.
    pub fn logging_in(self, username: &str, password: &str) -> Result<Self, EgressError> {
        let bad = EgressError::BadVia;
        if username.is_empty() || username.len().max(password.len()) > MAX_CREDENTIAL {
            return Err(bad("expected a username of 1 to 255 bytes, and no longer a password"));
        }
        if self.protocol == Protocol::Http && username.contains(':') {
            return Err(bad("a colon in it would be taken for the beginning of the password"));
        }
        let (username, password) = (username.to_owned(), password.to_owned());
        Ok(Self { credentials: Some(Credentials { username, password }), ..self })
    }

    /// Leaves these hosts to be dialled directly.
    #[must_use]
    pub fn bypassing(self, bypass: Vec<Bypass>) -> Self {
        Self { bypass, ..self }
    }

    /// Whether a host is dialled directly. The machine's own loopback always is.
    pub(crate) fn bypasses(&self, host: &Host) -> bool {
        matches!(host, Host::Name(name) if name == MACHINE_NAME)
            || self.bypass.iter().any(|bypass| bypass.covers(host))
    }

    /// Where it listens.
    pub(crate) fn server(&self) -> &Target {
        &self.server
    }

    /// Asks for a connection to the target on one to the proxy, which then leads there. The caller
    /// sets the deadline.
    pub(crate) async fn ask(
        &self,
        stream: &mut TcpStream,
        target: &Target,
    ) -> Result<(), ViaError> {
        match self.protocol {
            Protocol::Http => connect::ask(stream, target, self.credentials.as_ref()).await,
            Protocol::Socks5 => socks::ask(stream, target, self.credentials.as_ref()).await,
        }
    }
}

impl fmt::Debug for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Via")
            .field("protocol", &self.protocol)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
