//! An upstream proxy, and how to request a connection from it.

mod connect;
mod error;
mod socks;

use std::fmt;

use tokio::net::TcpStream;

use crate::{Bypass, EgressError, Host, MACHINE_NAME, Target};

pub use error::ViaError;

/// The longest username or password that SOCKS5 can carry.
const MAX_CREDENTIAL: usize = 255;

/// An upstream proxy.
#[derive(Clone)]
pub struct Via {
    protocol: Protocol,
    server: Target,
    credentials: Option<Credentials>,
    bypass: Vec<Bypass>,
}

/// The protocol of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// HTTP CONNECT.
    Http,
    /// RFC 1928.
    Socks5,
}

/// The login for the proxy.
#[derive(Clone)]
struct Credentials {
    username: String,
    password: String,
}

impl Via {
    /// Parses `http://host:port` or `socks5://host:port`. Errors never quote the text.
    pub fn new(server: &str) -> Result<Self, EgressError> {
        let bad = EgressError::BadVia;
        let (protocol, authority) = match server.split_once("://") {
            Some(("http", rest)) => (Protocol::Http, rest),
            Some(("socks5", rest)) => (Protocol::Socks5, rest),
            _ => return Err(bad("expected http://host:port or socks5://host:port")),
        };
        if authority.contains('@') {
            return Err(bad("contains credentials; set username and password instead"));
        }
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let server = Target::parse(authority, None)
            .map_err(|_| bad("expected only a host and a port after the scheme"))?;
        Ok(Self { protocol, server, credentials: None, bypass: Vec::new() })
    }

    /// Sets the login.
    pub fn logging_in(self, username: &str, password: &str) -> Result<Self, EgressError> {
        let bad = EgressError::BadVia;
        if username.is_empty() || username.len().max(password.len()) > MAX_CREDENTIAL {
            return Err(bad("the username must have 1 to 255 bytes, and the password at most 255"));
        }
        if self.protocol == Protocol::Http && username.contains(':') {
            return Err(bad("the username must not contain a colon"));
        }
        let (username, password) = (username.to_owned(), password.to_owned());
        Ok(Self { credentials: Some(Credentials { username, password }), ..self })
    }

    /// Sets the hosts that are dialled directly.
    #[must_use]
    pub fn bypassing(self, bypass: Vec<Bypass>) -> Self {
        Self { bypass, ..self }
    }

    /// Whether a host is dialled directly. The machine's own loopback always is.
    pub(crate) fn bypasses(&self, host: &Host) -> bool {
        matches!(host, Host::Name(name) if name == MACHINE_NAME)
            || self.bypass.iter().any(|bypass| bypass.covers(host))
    }

    /// The proxy's address.
    pub(crate) fn server(&self) -> &Target {
        &self.server
    }

    /// Requests a connection to the target over a connection to the proxy. The caller sets the
    /// deadline.
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
