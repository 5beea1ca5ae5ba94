//! TLS: the server's certificate, and the handshake.

mod advice;
pub(crate) mod plain;
pub(crate) mod self_signed;

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use helmdeck_tls::{FileError, certificates, private_key, provider};
use parking_lot::Mutex;
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::Config;

pub use advice::Advice;

/// How often the certificate's files are looked at while clients connect.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The first byte of a TLS connection: a handshake record. No method of HTTP begins with it.
const HANDSHAKE: u8 = 0x16;
/// What is spoken inside.
const PROTOCOL: &[u8] = b"http/1.1";

/// Why the server cannot speak TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Certificate and key do not go together, or are of a kind that is not supported.
    #[error("the certificate {cert} cannot be used with the key {key}")]
    Unusable {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why not.
        #[source]
        source: rustls::Error,
    },
    /// No certificate could be made.
    #[error("a self-signed certificate cannot be made")]
    NotMade(#[source] rcgen::Error),
}

/// Where certificate and key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// What the certificate's files looked like: modification time, size and inode of each.
type Stamp = [Option<(i64, i64, u64, u64)>; 2];

impl Files {
    /// Those of a server with these settings, if it speaks TLS.
    pub fn of(config: &Config) -> Option<Self> {
        match (&config.tls.cert, &config.tls.key) {
            (Some(cert), Some(key)) => Some(Self { cert: cert.clone(), key: key.clone() }),
            _ => config.tls.self_signed.then(|| self_signed::files(&config.data_dir)),
        }
    }

    fn stamp(&self) -> Stamp {
        [&self.cert, &self.key].map(|path| {
            let about = fs::metadata(path).ok()?;
            Some((about.mtime(), about.mtime_nsec(), about.size(), about.ino()))
        })
    }

    /// Reads certificate and key, and checks that they go together.
    pub fn load(&self) -> Result<ServerConfig, TlsError> {
        let chain = certificates(&self.cert)?;
        let key = private_key(&self.key)?;
        let unusable = |source| {
            let Self { cert, key } = self.clone();
            TlsError::Unusable { cert, key, source }
        };
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(config)
    }
}

/// What encrypts connections. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    shared: Arc<Shared>,
}

struct Shared {
    files: Files,
    current: Mutex<Current>,
}

struct Current {
    config: Arc<ServerConfig>,
    stamp: Stamp,
    looked: Instant,
}

/// A connection of which the first bytes are known.
pub(crate) enum Opened {
    /// It is encrypted.
    Encrypted(Box<TlsStream<TcpStream>>),
    /// The client does not speak TLS.
    Plain(TcpStream),
}

impl Tls {
    /// What these settings ask for, if they do; a self-signed certificate is made if needed.
    pub fn start(config: &Config) -> Result<Option<Self>, TlsError> {
        if config.tls.self_signed {
            self_signed::ensure(config)?;
        }
        let Some(files) = Files::of(config) else { return Ok(None) };
        let stamp = files.stamp();
        let config = Arc::new(files.load()?);
        let current = Mutex::new(Current { config, stamp, looked: Instant::now() });
        Ok(Some(Self { shared: Arc::new(Shared { files, current }) }))
    }

    /// The handshake with a client. The caller sets the deadline.
    pub async fn accept(&self, stream: TcpStream) -> io::Result<Opened> {
        let mut first = [0];
        match stream.peek(&mut first).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if first != [HANDSHAKE] => return Ok(Opened::Plain(stream)),
            _ => {}
        }
        let acceptor = TlsAcceptor::from(self.config());
        Ok(Opened::Encrypted(Box::new(acceptor.accept(stream).await?)))
    }

    /// The certificate in use, from files that changed if they did.
    fn config(&self) -> Arc<ServerConfig> {
        let mut current = self.shared.current.lock();
        if current.looked.elapsed() < LOOK_EVERY {
            return current.config.clone();
        }
        current.looked = Instant::now();
        let files = &self.shared.files;
        let stamp = files.stamp();
        if stamp == current.stamp {
            return current.config.clone();
        }
        // Also when they cannot be used: of two files, one is replaced first.
        current.stamp = stamp;
        match files.load() {
            Ok(config) => {
                tracing::info!(cert = %files.cert.display(), "The TLS certificate was replaced");
                current.config = Arc::new(config);
            }
            Err(error) => {
                let error = helmdeck_wire::error::with_causes(&error);
                tracing::warn!("The TLS certificate stays the one before: {error}");
                crate::metrics::certificate_refused();
            }
        }
        current.config.clone()
    }
}

/// Checks that the certificate of these settings, if they name one, can be used.
pub fn check(config: &Config) -> Result<(), TlsError> {
    match Files::of(config) {
        Some(files) if !config.tls.self_signed => files.load().map(drop),
        _ => Ok(()),
    }
}
