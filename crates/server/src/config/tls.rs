//! Settings of TLS, and whether other machines can reach the server without it.

use std::path::PathBuf;

use super::{
    Config, absolute,
    layers::{ConfigError, Layers},
};

/// How the server encrypts connections. Without any of these it speaks plain HTTP.
#[derive(Debug, Clone)]
pub struct TlsSettings {
    /// `HELMDECK_TLS_CERT`: a PEM file with the server's certificate and its chain; the server then
    /// speaks HTTPS. Needs `HELMDECK_TLS_KEY`. The files are read again when they change. The same as
    /// `helmdeck serve --tls-cert` (see [operations](operations.md#tls)). Default: none.
    pub cert: Option<PathBuf>,
    /// `HELMDECK_TLS_KEY`: a PEM file with the private key of `HELMDECK_TLS_CERT`. The same as
    /// `helmdeck serve --tls-key`. Default: none.
    pub key: Option<PathBuf>,
    /// `HELMDECK_TLS_SELF_SIGNED`: speaks HTTPS with a self-signed certificate, which is generated on
    /// the first start and kept in `tls` in the data directory. The same as `helmdeck serve
    /// --tls-self-signed`. Default `false`.
    pub self_signed: bool,
}

impl TlsSettings {
    pub(super) fn read(layers: &mut Layers) -> Result<Self, ConfigError> {
        let file = |text: &str| if text.is_empty() { Some(None) } else { absolute(text).map(Some) };
        let settings = Self {
            cert: layers.value("tls_cert", "an absolute path", file, || None)?,
            key: layers.value("tls_key", "an absolute path", file, || None)?,
            self_signed: layers.value(
                "tls_self_signed",
                "true or false",
                |text| text.parse().ok(),
                || false,
            )?,
        };
        match (&settings.cert, &settings.key, settings.self_signed) {
            (Some(_), None, _) => {
                Err(ConfigError::Conflict("HELMDECK_TLS_CERT needs HELMDECK_TLS_KEY"))
            }
            (None, Some(_), _) => {
                Err(ConfigError::Conflict("HELMDECK_TLS_KEY needs HELMDECK_TLS_CERT"))
            }
            (Some(_), Some(_), true) => Err(ConfigError::Conflict(
                "HELMDECK_TLS_SELF_SIGNED and HELMDECK_TLS_CERT are both set: unset one of them",
            )),
            _ => Ok(settings),
        }
    }

    /// Whether the server speaks HTTPS.
    pub fn is_on(&self) -> bool {
        self.self_signed || self.cert.is_some()
    }
}

impl Config {
    /// `https` or `http`, as the server itself speaks.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_on() { "https" } else { "http" }
    }

    /// Whether other machines can reach the server over plain HTTP, with no proxy known to encrypt it.
    pub fn is_exposed(&self) -> bool {
        let public = self.live.vnc_public_base.as_ref().and_then(http::Uri::scheme_str);
        !self.tls.is_on() && !self.addr.ip().is_loopback() && public != Some("https")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let dir = ("HELMDECK_DATA_DIR", "/nonexistent");
        let env = env.iter().copied().chain([dir]);
        Config::load(None, env.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn a_certificate_needs_its_key_and_excludes_a_self_signed_one() {
        let (cert, key) = (("HELMDECK_TLS_CERT", "/c.pem"), ("HELMDECK_TLS_KEY", "/k.pem"));
        let self_signed = ("HELMDECK_TLS_SELF_SIGNED", "true");
        let refused = |env: &[_]| load(env).unwrap_err().to_string();
        assert_eq!(refused(&[cert]), "HELMDECK_TLS_CERT needs HELMDECK_TLS_KEY");
        assert_eq!(refused(&[key]), "HELMDECK_TLS_KEY needs HELMDECK_TLS_CERT");
        assert!(refused(&[cert, key, self_signed]).contains("unset one of them"));
        assert!(refused(&[("HELMDECK_TLS_CERT", "c.pem"), key]).contains("an absolute path"));
        for env in [&[cert, key][..], &[self_signed]] {
            assert_eq!(load(env).unwrap().scheme(), "https");
        }
        assert_eq!(load(&[]).unwrap().scheme(), "http");
    }

    #[test]
    fn an_address_for_other_machines_is_exposed_unless_something_encrypts() {
        let (all, loopback) = (("HELMDECK_ADDR", ":3000"), ("HELMDECK_ADDR", "[::1]:3000"));
        let public = |base| ("HELMDECK_VNC_PUBLIC_BASE", base);
        let exposed = |env: &[_]| load(env).unwrap().is_exposed();
        assert!(exposed(&[all]) && exposed(&[("HELMDECK_ADDR", "192.168.1.5:3000")]));
        assert!(exposed(&[all, public("http://desk.example.com")]));
        assert!(!exposed(&[loopback]) && !exposed(&[]));
        assert!(!exposed(&[all, ("HELMDECK_TLS_SELF_SIGNED", "true")]));
        assert!(!exposed(&[all, public("https://desk.example.com")]));
    }
}
