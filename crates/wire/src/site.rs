//! Sites: hosts with their ports.

use serde::{Deserialize, Serialize};

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    host: String,
    port: Option<u16>,
}

impl Site {
    /// Its name or address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The site of an address, with or without a scheme.
    pub fn of(address: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => {
                (host, port.parse().ok())
            }
            _ => (authority, None),
        };
        let host = host.trim_end_matches('.').to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        let usual = match scheme {
            "https" => Some(443),
            "http" => Some(80),
            _ => None,
        };
        (!host.is_empty()).then_some(Self { host, port: port.filter(|port| Some(*port) != usual) })
    }

    /// Whether another site is this one, or below it.
    pub fn covers(&self, other: &Self) -> bool {
        let below = other.host.strip_suffix(&self.host).is_some_and(|rest| rest.ends_with('.'));
        let same = self.host == other.host;
        let local = self.host.parse::<std::net::IpAddr>().is_ok() || self.host == "localhost";
        (same && self.port == other.port) || (below && !local && self.port == other.port)
    }
}
