//! A host and a port, from a request line, an address bar or a command.

use std::fmt;

use crate::{EgressError, Host, host::bad};

/// The target of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The port; all ports are treated alike.
    pub port: u16,
}

impl Target {
    /// Parses `host` or `host:port`; `port` is the default.
    pub fn parse(text: &str, port: Option<u16>) -> Result<Self, EgressError> {
        let (host, written) = match text.rsplit_once(':') {
            // A colon inside brackets, or one of several, belongs to an IPv6 address.
            Some((host, _)) if host.contains(':') && !host.ends_with(']') => (text, None),
            Some((host, written)) if !written.ends_with(']') => (host, Some(written)),
            _ => (text, None),
        };
        let port = match written {
            Some(written) if written.bytes().all(|b| b.is_ascii_digit()) => written.parse().ok(),
            Some(_) => None,
            None => port,
        };
        let port = port.ok_or_else(|| bad(text, "it needs a port from 0 to 65535"))?;
        Ok(Self { host: Host::parse(host)?, port })
    }

    /// Parses a URL, or a target with the port of HTTPS as default.
    pub fn from_url(text: &str) -> Result<Self, EgressError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
        let port = match scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" => Some(80),
            "https" | "wss" => Some(443),
            "ftp" => Some(21),
            "ssh" => Some(22),
            "git" => Some(9418),
            _ => None,
        };
        // Browsers treat a backslash as a slash.
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        Self::parse(host, port)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_hosts_and_addresses_are_read() {
        for (text, target) in [
            ("http://Example.com/a?b:1#c", "example.com:80"),
            ("https://example.com", "example.com:443"),
            ("example.com", "example.com:443"),
            ("example.com:8080", "example.com:8080"),
            ("http://user:secret@10.0.0.1:81/@evil", "10.0.0.1:81"),
            ("http://example.com@127.1/", "127.0.0.1:80"),
            ("http://a.example\\@b.example/", "a.example:80"),
            ("[::1]:8080", "[::1]:8080"),
            ("http://[2606:4700::1111]/", "[2606:4700::1111]:80"),
            ("::1", "[::1]:443"),
            ("ws://[::ffff:10.0.0.1]", "10.0.0.1:80"),
        ] {
            assert_eq!(Target::from_url(text).unwrap().to_string(), target, "{text}");
        }
    }

    #[test]
    fn a_missing_or_invalid_port_is_refused() {
        for text in ["gopher://a", "a:", "a:65536", "a:+80", "a:80a", "http://", "[::1]:x", ":80"] {
            assert!(Target::from_url(text).is_err(), "{text}");
        }
        assert!(Target::parse("example.com", None).is_err());
    }
}
