//! What an operator should know about TLS when the server starts.

use std::{fmt, net::SocketAddr, path::PathBuf};

use helmdeck_tls::{certificates, fingerprint};

use super::self_signed;
use crate::Config;

/// Something to tell the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Other machines can reach the server over plain HTTP.
    Exposed {
        /// Where it listens.
        addr: SocketAddr,
    },
    /// Clients do not trust the certificate by themselves.
    SelfSigned {
        /// Its SHA-256 fingerprint.
        fingerprint: String,
        /// The file that clients need.
        file: PathBuf,
    },
}

impl Advice {
    /// What there is to say about these settings.
    pub fn of(config: &Config) -> Option<Self> {
        if config.is_exposed() {
            return Some(Self::Exposed { addr: config.addr });
        }
        if !config.tls.self_signed {
            return None;
        }
        let file = self_signed::files(&config.data_dir).cert;
        let certificate = certificates(&file).ok()?.into_iter().next()?;
        Some(Self::SelfSigned { fingerprint: fingerprint(&certificate), file })
    }

    /// Whether something is wrong.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::Exposed { .. })
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exposed { addr } => write!(
                f,
                "WARNING: {addr} is open to other machines without TLS, so passwords, tokens and \
                 screens can be read on the network. Start the server with --tls-self-signed \
                 (HELMDECK_TLS_SELF_SIGNED=true), or set HELMDECK_VNC_PUBLIC_BASE=https://… if a \
                 proxy encrypts"
            ),
            Self::SelfSigned { fingerprint, file } => write!(
                f,
                "The TLS certificate is self-signed. SHA-256 fingerprint: {fingerprint}. To trust \
                 it, copy {file} to the client and use helmdeck --ca-file, HELMDECK_CA_FILE or \
                 curl --cacert",
                file = file.display()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(env: &[(&str, &str)]) -> Config {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(None, env).unwrap()
    }

    #[test]
    fn a_server_for_other_machines_without_tls_is_warned_about_with_the_flag_that_helps() {
        let dir = ("HELMDECK_DATA_DIR", "/nonexistent");
        let advice = Advice::of(&load(&[dir, ("HELMDECK_ADDR", ":3000")])).unwrap();
        assert!(advice.is_warning());
        let text = advice.to_string();
        assert!(text.starts_with("WARNING: 0.0.0.0:3000 is open"), "{text}");
        assert!(text.contains("--tls-self-signed"), "{text}");
        assert_eq!(Advice::of(&load(&[dir])), None);
    }

    #[test]
    fn a_self_signed_certificate_is_announced_with_its_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let place = ("HELMDECK_DATA_DIR", dir.path().to_str().unwrap());
        let config = load(&[place, ("HELMDECK_TLS_SELF_SIGNED", "true")]);
        assert_eq!(Advice::of(&config), None, "before it is made");
        self_signed::ensure(&config).unwrap();
        let Some(Advice::SelfSigned { fingerprint, file }) = Advice::of(&config) else {
            panic!("no advice");
        };
        assert_eq!(file, dir.path().join("tls/self-signed.pem"));
        assert_eq!(fingerprint.split(':').count(), 32);
    }
}
