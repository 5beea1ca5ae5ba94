//! Connections to a server, encrypted if it speaks TLS.

use std::{io, net::SocketAddr, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Bytes to and from a server, encrypted or not.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// The certificates that a client trusts.
#[derive(Clone)]
pub struct Trusted(Arc<ClientConfig>);

impl Trusted {
    /// Those of a PEM file.
    pub fn file(path: &Path) -> Self {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).expect("a file") {
            roots.add(certificate.expect("PEM")).expect("a certificate");
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self(Arc::new(config))
    }

    /// Encrypts a connection to the server of this name.
    pub async fn handshake(
        &self,
        name: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        TlsConnector::from(self.0.clone()).connect(name, stream).await
    }
}

/// Connects, with TLS if certificates are trusted.
pub(crate) async fn dial(address: SocketAddr, trusted: Option<&Trusted>) -> Box<dyn Duplex> {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    stream.set_nodelay(true).unwrap();
    match trusted {
        None => Box::new(stream),
        Some(trusted) => {
            let name = address.ip().to_string();
            Box::new(trusted.handshake(&name, stream).await.expect("a trusted certificate"))
        }
    }
}
