//! Certificates, keys and the cryptography of TLS, for servers and clients.

use std::{
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ring::digest::{SHA256, digest};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read or written.
    #[error("{path} cannot be used")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The file has other content.
    #[error("{path} holds no {what} in PEM format")]
    NotPem {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
    },
}

impl FileError {
    /// The file cannot be read or written.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// The cryptography of connections.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Settings of HTTP/1.1 clients that trust the certificates of the system.
pub fn client_config() -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The certificates in a PEM file, at least one.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, FileError> {
    let text = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.ok().filter(|found| !found.is_empty());
    found.ok_or_else(|| FileError::NotPem { path: path.to_owned(), what: "certificate" })
}

/// The private key in a PEM file.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, FileError> {
    PrivateKeyDer::from_pem_slice(&read(path)?)
        .map_err(|_| FileError::NotPem { path: path.to_owned(), what: "private key" })
}

/// The SHA-256 fingerprint of a certificate, in the format of browsers and of `openssl x509
/// -fingerprint`.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::new();
    for byte in digest(&SHA256, certificate).as_ref() {
        let colon = if text.is_empty() { "" } else { ":" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{colon}{byte:02X}");
    }
    text
}

fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(|source| FileError::io(path, source))
}
