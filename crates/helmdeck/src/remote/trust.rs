//! Which certificates of servers are good, and what to do about one that is not.

use std::{
    error::Error,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use helmdeck_tls::{certificates, fingerprint, provider};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, OtherError,
    RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::Duplex;

/// Which certificates are good.
pub struct Trust {
    connector: TlsConnector,
    ca_file: Option<PathBuf>,
}

impl Trust {
    /// Those that the system trusts, and those of this file.
    pub fn system(ca_file: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let listed = ca_file.map(certificates).transpose()?.unwrap_or_default();
        for certificate in &listed {
            roots.add(certificate.clone())?;
        }
        if roots.is_empty() {
            let message = "this system has no certificates to trust: install ca-certificates, or \
                           give --ca-file";
            return Err(message.into());
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider());
        Self::new(Good::Signed { by: verifier.build()?, listed }, ca_file)
    }

    /// The certificate of this file and no other, under any name. For the server of this machine,
    /// whose file it is.
    pub fn exactly(file: &Path) -> Result<Self, Box<dyn Error>> {
        let certificate = certificates(file)?.into_iter().next();
        Self::new(Good::Only(certificate.ok_or("no certificate")?), Some(file))
    }

    fn new(good: Good, ca_file: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let provider = provider();
        let verifier = Verifier { good, provider: provider.clone() };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            // A custom verifier, for its error messages and for listed certificates. It is based on
            // the standard one.
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let ca_file = ca_file.map(Path::to_owned);
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), ca_file })
    }

    /// The file with certificates to trust, if there is one.
    pub fn ca_file(&self) -> Option<&Path> {
        self.ca_file.as_deref()
    }

    /// Encrypts a connection to the server at `url`.
    pub async fn handshake(
        &self,
        host: &str,
        stream: TcpStream,
        url: &str,
    ) -> Result<Box<dyn Duplex>, String> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| format!("{url}: {host} is not a host name"))?;
        match self.connector.connect(name, stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(self.explain(&error, url)),
        }
    }

    fn explain(&self, error: &io::Error, url: &str) -> String {
        let cause = error.get_ref().and_then(|error| error.downcast_ref::<TlsError>());
        match cause {
            Some(TlsError::InvalidCertificate(CertificateError::Other(OtherError(refused)))) => {
                match refused.downcast_ref::<Refused>() {
                    Some(refused) => refused.advice(url, self.ca_file.as_deref()),
                    None => format!("{url}: {error}"),
                }
            }
            Some(TlsError::InvalidMessage(_)) => {
                format!("{url} does not speak TLS: use http://, or check the port")
            }
            _ => format!("{url}: {error}"),
        }
    }
}

#[derive(Debug)]
enum Good {
    /// Signed by one of these roots, for the name of the server.
    Signed { by: Arc<WebPkiServerVerifier>, listed: Vec<CertificateDer<'static>> },
    /// This one.
    Only(CertificateDer<'static>),
}

impl Good {
    fn check(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), TlsError> {
        match self {
            Self::Only(expected) if expected == certificate => Ok(()),
            Self::Only(_) => Err(CertificateError::UnknownIssuer.into()),
            Self::Signed { by, listed } => {
                match by.verify_server_cert(certificate, chain, name, &[], now) {
                    // `openssl req -x509` makes servers' certificates that may sign others. One that
                    // is listed itself is meant.
                    Err(TlsError::InvalidCertificate(CertificateError::Other(_)))
                        if listed.contains(certificate) =>
                    {
                        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
                    }
                    checked => checked.map(drop),
                }
            }
        }
    }
}

/// Refuses certificates in words that help.
#[derive(Debug)]
struct Verifier {
    good: Good,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.good.check(end_entity, intermediates, server_name, now) {
            Ok(()) => Ok(ServerCertVerified::assertion()),
            Err(TlsError::InvalidCertificate(why)) => {
                let refused = Refused { why, fingerprint: fingerprint(end_entity) };
                Err(CertificateError::Other(OtherError(Arc::new(refused))).into())
            }
            Err(error) => Err(error),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A certificate that was refused.
#[derive(Debug)]
struct Refused {
    why: CertificateError,
    fingerprint: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.why)
    }
}

impl Error for Refused {}

impl Refused {
    /// What happened, and what to do.
    fn advice(&self, url: &str, ca_file: Option<&Path>) -> String {
        let Self { why, fingerprint } = self;
        match (why, ca_file) {
            (CertificateError::UnknownIssuer | CertificateError::BadSignature, None) => format!(
                "the certificate of {url} is not trusted by this machine (SHA-256 fingerprint \
                 {fingerprint}). If it is the one that helmdeck prints when it starts, copy \
                 tls/self-signed.pem from the server's data directory and give it with --ca-file \
                 FILE or HELMDECK_CA_FILE"
            ),
            (CertificateError::UnknownIssuer | CertificateError::BadSignature, Some(file)) => {
                format!(
                    "the certificate of {url} is not the one in {file}, nor signed by one in it \
                     (SHA-256 fingerprint {fingerprint}). If it is the one that helmdeck prints \
                     when it starts, copy the server's certificate to {file} again",
                    file = file.display()
                )
            }
            (CertificateError::NotValidForNameContext { presented, .. }, _) => format!(
                "the certificate of {url} is for other names: {}. Use one of them, or set \
                 HELMDECK_VNC_PUBLIC_BASE={url} for the server and restart it",
                presented.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", ")
            ),
            (why, _) => format!("the certificate of {url} is refused: {why}"),
        }
    }
}

/// A name without its kind, which rustls writes around it: `DnsName("a.example")`.
fn plain(name: &str) -> &str {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_certificate_comes_with_what_to_do() {
        let advice = |why, file: Option<&str>| {
            let refused = Refused { why, fingerprint: "AB:CD".to_owned() };
            refused.advice("https://a.example:3000", file.map(Path::new))
        };
        let names = || ["DnsName(\"localhost\")", "IpAddress(127.0.0.1)"].map(str::to_owned).into();
        let unknown = advice(CertificateError::UnknownIssuer, None);
        assert!(unknown.contains("AB:CD") && unknown.contains("--ca-file FILE"), "{unknown}");
        let other = advice(CertificateError::BadSignature, Some("/tmp/ca.pem"));
        assert!(other.contains("not the one in /tmp/ca.pem"), "{other}");
        let (expected, presented) = ("a.example".try_into().unwrap(), names());
        let why = CertificateError::NotValidForNameContext { expected, presented };
        let named = advice(why, None);
        assert!(named.contains("other names: localhost, 127.0.0.1. Use"), "{named}");
        assert!(named.contains("HELMDECK_VNC_PUBLIC_BASE=https://a.example:3000"), "{named}");
    }
}
