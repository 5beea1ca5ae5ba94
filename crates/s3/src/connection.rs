//! Connections to a service. A few are kept open between requests.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, pki_types::ServerName},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{S3Error, address::BucketAddress};

/// How long name resolution and connecting may take together, and how long the TLS handshake.
const CONNECT: Duration = Duration::from_secs(10);
/// How many unused connections are kept.
const MAX_IDLE: usize = 4;

/// Connects to the service of a bucket.
pub(crate) struct Connector {
    address: BucketAddress,
    /// The service, for errors.
    endpoint: String,
    tls: Option<TlsConnector>,
    idle: Mutex<Vec<Connection>>,
}

/// An open connection. Dropping it closes it, also in the middle of a request.
pub(crate) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// Whether it was used before. The service may have closed it meanwhile.
    pub reused: bool,
    _task: AbortOnDropHandle<()>,
}

impl Connection {
    /// Sends a request and waits for the head of its response.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> io::Result<Response<Incoming>> {
        self.sender.send_request(request).await.map_err(io::Error::other)
    }
}

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

impl Connector {
    /// `tls` is `None` for plain HTTP.
    pub fn new(address: BucketAddress, endpoint: String, tls: Option<Arc<ClientConfig>>) -> Self {
        let tls = tls.map(TlsConnector::from);
        Self { address, endpoint, tls, idle: Mutex::default() }
    }

    pub fn address(&self) -> &BucketAddress {
        &self.address
    }

    /// The service, for errors.
    pub fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    /// A connection that was used before, or a new one.
    pub async fn connect(&self) -> Result<Connection, S3Error> {
        while let Some(mut connection) = self.take_idle() {
            if connection.sender.ready().await.is_ok() {
                return Ok(Connection { reused: true, ..connection });
            }
        }
        self.dial().await
    }

    /// A new connection.
    pub async fn dial(&self) -> Result<Connection, S3Error> {
        let unreachable = |source| S3Error::Unreachable { endpoint: self.endpoint(), source };
        let dialled =
            timeout(CONNECT, TcpStream::connect((self.address.host.as_str(), self.address.port)));
        let stream = match dialled.await {
            Ok(stream) => stream.map_err(unreachable)?,
            Err(_) => return Err(S3Error::Silent { endpoint: self.endpoint(), limit: CONNECT }),
        };
        // Requests are written at once; waiting for more would only delay them.
        stream.set_nodelay(true).map_err(unreachable)?;
        let stream: Box<dyn Duplex> = match &self.tls {
            Some(tls) => self.encrypt(tls, stream).await?,
            None => Box::new(stream),
        };
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) =
            handshake.map_err(|error| unreachable(io::Error::other(error)))?;
        // Its failures are reported to the sender.
        let task = tokio::spawn(async move { drop(connection.await) });
        Ok(Connection { sender, reused: false, _task: AbortOnDropHandle::new(task) })
    }

    /// Keeps a connection whose response was read completely.
    pub fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE && !connection.sender.is_closed() {
            idle.push(connection);
        }
    }

    fn take_idle(&self) -> Option<Connection> {
        self.idle.lock().pop()
    }

    async fn encrypt(
        &self,
        tls: &TlsConnector,
        stream: TcpStream,
    ) -> Result<Box<dyn Duplex>, S3Error> {
        let failed = |source| S3Error::Tls { endpoint: self.endpoint(), source };
        let name = ServerName::try_from(self.address.host.clone());
        let name = name.map_err(|error| failed(io::Error::other(error)))?;
        match timeout(CONNECT, tls.connect(name, stream)).await {
            Ok(stream) => Ok(Box::new(stream.map_err(failed)?)),
            Err(_) => Err(S3Error::Silent { endpoint: self.endpoint(), limit: CONNECT }),
        }
    }
}
