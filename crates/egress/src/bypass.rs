//! Hosts that are dialled directly even if the session has an upstream proxy.

use std::str::FromStr;

use crate::{Cidr, EgressError, Host};

/// A host or group of hosts that bypasses the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypass {
    /// This name.
    Name(String),
    /// Every subdomain of this name, which is stored with a leading dot.
    Below(String),
    /// Hosts written as an address in this range. Names are not resolved.
    Range(Cidr),
}

impl Bypass {
    /// Whether it covers this host.
    pub(crate) fn covers(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Name(name), Host::Name(host)) => name == host,
            (Self::Below(suffix), Host::Name(host)) => host.ends_with(suffix.as_str()),
            (Self::Range(range), Host::Address(address)) => range.contains(*address),
            (Self::Name(_) | Self::Below(_), Host::Address(_))
            | (Self::Range(_), Host::Name(_)) => false,
        }
    }
}

impl FromStr for Bypass {
    type Err = EgressError;

    fn from_str(text: &str) -> Result<Self, EgressError> {
        // Shortened, because the text comes from a client.
        let bad = || EgressError::BadBypass(text.chars().take(80).collect());
        if text.contains('/') {
            return text.parse().map(Self::Range).map_err(|_| bad());
        }
        let below = text.strip_prefix("*.");
        match (below, Host::parse(below.unwrap_or(text)).map_err(|_| bad())?) {
            (None, Host::Name(name)) => Ok(Self::Name(name)),
            (Some(_), Host::Name(name)) => Ok(Self::Below(format!(".{name}"))),
            (None, Host::Address(address)) => {
                Cidr::new(address, if address.is_ipv4() { 32 } else { 128 })
                    .map(Self::Range)
                    .ok_or_else(bad)
            }
            (Some(_), Host::Address(_)) => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bypasses_cover_names_suffixes_addresses_and_ranges() {
        let covers = |bypass: &str, host: &str| {
            bypass.parse::<Bypass>().unwrap().covers(&Host::parse(host).unwrap())
        };
        assert!(covers("Build.Example.", "build.example"));
        assert!(!covers("build.example", "x.build.example"));
        assert!(covers("*.internal.example", "a.b.internal.example"));
        assert!(!covers("*.internal.example", "internal.example"));
        assert!(!covers("*.internal.example", "evilinternal.example"));
        assert!(covers("10.0.0.0/8", "10.1.2.3") && !covers("10.0.0.0/8", "11.0.0.1"));
        assert!(covers("10.0.0.1", "0x0a000001") && covers("::1", "[::1]"));
        assert!(!covers("10.0.0.0/8", "ten.example"));
    }

    #[test]
    fn invalid_hosts_are_refused_and_quoted() {
        for text in ["", "*", "*.10.0.0.1", "http://a", "a:80", "10.0.0.0/33", "a b", "*.*.a"] {
            let refused = text.parse::<Bypass>().unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
        }
    }
}
