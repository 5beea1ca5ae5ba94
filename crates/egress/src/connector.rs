//! Connections of the server itself to web servers, by their address. The policy judges them like
//! those of sandboxes.

use std::time::Duration;

use helmdeck_tls::client_config;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{Error as TlsError, pki_types::ServerName},
};

use crate::{Cidr, ConnectionGate, EgressError, Policy, Resolve, Scheme, Target};

/// How long a server may take for its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Connects to web servers. Cheap to clone.
#[derive(Clone)]
pub struct Connector {
    gate: ConnectionGate,
    tls: TlsConnector,
}

/// A connection that the policy allowed.
pub struct Connection {
    /// The bytes, decrypted.
    pub stream: Box<dyn Duplex>,
    /// The host, as the policy judged it.
    pub host: String,
    /// Host and port, as the address has them.
    pub authority: String,
}

/// A stream in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Why there is no connection. No request was sent.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not one of a web server.
    #[error("{0}")]
    BadUrl(String),
    /// The connection was refused or failed.
    #[error("{target}: {source}")]
    Egress {
        /// Host and port.
        target: Target,
        /// Why.
        #[source]
        source: EgressError,
    },
    /// TLS failed.
    #[error("TLS with {host} failed: {source}")]
    Tls {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The TLS handshake took too long.
    #[error("TLS with {host} took too long")]
    TlsDeadline {
        /// The host.
        host: String,
    },
}

impl Connector {
    /// A connector for this policy, which trusts the certificates of the system.
    pub fn new(policy: Policy) -> Result<Self, TlsError> {
        let tls = TlsConnector::from(client_config()?);
        Ok(Self { gate: ConnectionGate::new(policy), tls })
    }

    /// A connector for services that the operator configured, which may be in any network.
    pub fn for_services() -> Result<Self, TlsError> {
        let all = Cidr::list("0.0.0.0/0,::/0").unwrap_or_default();
        Self::new(Policy::new(all, Vec::new()))
    }

    /// Resolves names with `resolver`.
    #[must_use]
    pub fn with_resolver(self, resolver: impl Resolve) -> Self {
        Self { gate: self.gate.with_resolver(resolver), ..self }
    }

    /// Connects to a host and port.
    pub async fn dial(&self, target: &Target) -> Result<TcpStream, EgressError> {
        Ok(self.gate.open(target, Scheme::Direct).await?.stream)
    }

    /// Connects to the server of an address.
    pub async fn connect(&self, url: &str) -> Result<Connection, ConnectError> {
        let (secure, authority) = authority(url)?;
        let port = if secure { 443 } else { 80 };
        let target = Target::parse(authority, Some(port))
            .map_err(|error| ConnectError::BadUrl(error.to_string()))?;
        let stream = match self.dial(&target).await {
            Ok(stream) => stream,
            Err(source) => return Err(ConnectError::Egress { target, source }),
        };
        let host = target.host.to_string();
        let stream: Box<dyn Duplex> =
            if secure { self.encrypt(&host, stream).await? } else { Box::new(stream) };
        Ok(Connection { stream, host, authority: authority.to_owned() })
    }

    async fn encrypt(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<Box<dyn Duplex>, ConnectError> {
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
        let name = name.map_err(|_| ConnectError::BadUrl(format!("{host} is not a host")))?;
        let host = host.to_owned();
        match timeout(HANDSHAKE, self.tls.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(source)) => Err(ConnectError::Tls { host, source }),
            Err(_) => Err(ConnectError::TlsDeadline { host }),
        }
    }
}

/// Whether an address is encrypted, and its host with port.
pub fn authority(url: &str) -> Result<(bool, &str), ConnectError> {
    let lower = url.get(..8.min(url.len())).unwrap_or_default().to_ascii_lowercase();
    let secure = lower.starts_with("https://");
    if !secure && !lower.starts_with("http://") {
        let message = format!("url: {url:?} does not start with http:// or https://");
        return Err(ConnectError::BadUrl(message));
    }
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        let message = "url: it contains credentials; use a header with ${vault:NAME} instead";
        return Err(ConnectError::BadUrl(message.to_owned()));
    }
    Ok((secure, authority))
}

/// The path and query of an address.
pub fn path(url: &str) -> String {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    match rest.find(['/', '?']) {
        Some(at) if rest.get(at..).is_some_and(|it| it.starts_with('?')) => {
            format!("/{}", rest.get(at..).unwrap_or_default())
        }
        Some(at) => rest.get(at..).unwrap_or("/").to_owned(),
        None => "/".to_owned(),
    }
}
