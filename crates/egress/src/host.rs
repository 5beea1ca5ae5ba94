//! Parses hosts and normalizes them.
//!
//! System resolvers accept `127.1`, `0x7f000001` or `017700000001` as addresses. They are parsed
//! the same way here, so that no spelling means one thing to the policy and another when dialling.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use crate::EgressError;

/// The longest name that DNS can carry.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A host to dial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// An address, in any spelling.
    Address(IpAddr),
    /// A name: lower case, without a trailing dot, with DNS characters only.
    Name(String),
}

impl Host {
    /// Parses a host; IPv6 addresses may be in brackets.
    pub fn parse(text: &str) -> Result<Self, EgressError> {
        let refuse = |reason| bad(text, reason);
        let unbracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(v6) = unbracketed.or(text.contains(':').then_some(text)) {
            let v6: Ipv6Addr = v6.parse().map_err(|_| refuse("not an IPv6 address"))?;
            return Ok(Self::Address(IpAddr::V6(v6).to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(refuse("a name has 1 to 253 letters"));
        }
        if name.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL) {
            return Err(refuse("a part between dots has 1 to 63 letters"));
        }
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            return Err(refuse(
                "names have letters, digits, hyphens and dots; write others as xn--",
            ));
        }
        // No top-level domain is a number, so this must be an address.
        if name.rsplit('.').next().is_some_and(is_number) {
            let v4 = number_address(&name).ok_or_else(|| refuse("not an IPv4 address"))?;
            return Ok(Self::Address(v4.into()));
        }
        Ok(Self::Name(name))
    }
}

/// An error that quotes at most the length of a name.
pub(crate) fn bad(text: &str, reason: &'static str) -> EgressError {
    EgressError::BadTarget { text: text.chars().take(MAX_NAME).collect(), reason }
}

fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// Parses an IPv4 address like `inet_aton`: one to four parts, each decimal, octal with `0` or
/// hexadecimal with `0x`; the last part fills the remaining bytes.
fn number_address(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 {
        return None;
    }
    let mut bits = 0_u32;
    for (part, shift) in leading.iter().zip([24, 16, 8]) {
        bits |= u32::from(u8::try_from(*part).ok()?) << shift;
    }
    let room = u32::MAX.checked_shr(8 * u32::try_from(leading.len()).ok()?)?;
    (*last <= room).then(|| Ipv4Addr::from(bits | last))
}

fn number(part: &str) -> Option<u32> {
    let (digits, radix) = match (part.strip_prefix("0x"), part.strip_prefix('0')) {
        (Some(""), _) | (_, Some("")) => return Some(0),
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) => (octal, 8),
        (None, None) => (part, 10),
    };
    // `from_str_radix` would accept a sign.
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]"),
            Self::Address(v4) => v4.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::ToSocketAddrs;

    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> String {
        match Host::parse(text) {
            Ok(Host::Address(address)) => address.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn odd_spellings_of_loopback_are_loopback() {
        for text in [
            "127.0.0.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "017700000001",
            "0177.0.0.01",
            "127.1",
            "127.0.1",
            "0x7f.0x0.0x0.0x1",
            "[::ffff:127.0.0.1]",
            "::ffff:7f00:1",
        ] {
            assert_eq!(address(text), "127.0.0.1", "{text}");
        }
        assert_eq!(address("0"), "0.0.0.0");
        assert_eq!(address("[::1]"), "::1");
    }

    #[test]
    fn numeric_hosts_that_are_not_addresses_are_refused() {
        for text in ["256.0.0.1", "1.2.3.4.5", "4294967296", "08.0.0.1", "1.2.3", "foo.1", "a.0x1"]
        {
            let host = Host::parse(text);
            match text {
                "1.2.3" => assert_eq!(host.unwrap(), Host::Address("1.2.0.3".parse().unwrap())),
                _ => assert!(host.is_err(), "{text}"),
            }
        }
    }

    #[test]
    fn names_are_normalized() {
        for text in ["Example.COM", "example.com.", "example.com"] {
            assert_eq!(Host::parse(text).unwrap(), Host::Name("example.com".into()));
        }
        for text in ["xn--bcher-kva.example", "_dmarc.example.com", "1password.com", "a-b.c"] {
            assert!(Host::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn invalid_hosts_are_refused() {
        let long = "a".repeat(64);
        for text in [
            "",
            ".",
            "a..b",
            ".a",
            "a b",
            "127.0.0.1%00",
            "a%2eb",
            "bücher.example",
            "１２７.0.0.1",
            "[::1",
            "::1]",
            "[127.0.0.1]",
            "fe80::1%eth0",
            "a/b",
            "a@b",
            "a:80",
            "a\0b",
            &long,
            &"a.".repeat(128),
        ] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn addresses_are_parsed_like_the_system_does(
            parts in prop::collection::vec(("0x|0|", any::<u32>(), 0..4_u32), 1..5)
        ) {
            let text: Vec<String> = parts.iter().map(|(kind, value, small)| {
                let value = value >> (8 * small);
                match kind.as_str() {
                    "0x" => format!("0x{value:x}"),
                    "0" => format!("0{value:o}"),
                    _ => value.to_string(),
                }
            }).collect();
            let text = text.join(".");
            // Where the system sees no address, it would ask DNS; we refuse.
            if let Ok(Host::Address(ours)) = Host::parse(&text) {
                let system = (text.as_str(), 0).to_socket_addrs().unwrap().next().unwrap();
                prop_assert_eq!(ours, system.ip());
            }
        }

        #[test]
        fn strangers_cannot_make_it_panic(text in "\\PC*") {
            let _ = Host::parse(&text);
        }
    }
}
