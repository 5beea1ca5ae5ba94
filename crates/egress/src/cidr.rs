//! Address ranges, as written in an allowlist.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::EgressError;

/// The prefix length of IPv4-mapped addresses.
const MAPPED_PREFIX: u8 = 96;

/// A range of addresses of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cidr(
    /// INVARIANT: the bits after the prefix are zero.
    IpNet,
);

impl Cidr {
    /// The range of all addresses that share `prefix` bits with `address`; `None` if the family has
    /// fewer bits.
    pub fn new(address: IpAddr, prefix: u8) -> Option<Self> {
        let net = IpNet::new(address, prefix).ok()?.trunc();
        // A range of IPv4-mapped addresses becomes an IPv4 range, because that is how they are
        // judged.
        match net.addr().to_canonical() {
            first @ IpAddr::V4(_) if net.addr().is_ipv6() && prefix >= MAPPED_PREFIX => {
                IpNet::new(first, prefix - MAPPED_PREFIX).ok().map(Self)
            }
            _ => Some(Self(net)),
        }
    }

    /// Parses ranges separated by commas or spaces; an empty text is an empty list.
    pub fn list(text: &str) -> Result<Vec<Self>, EgressError> {
        let parts = text.split(|c: char| c == ',' || c.is_whitespace());
        parts.filter(|part| !part.is_empty()).map(str::parse).collect()
    }

    /// Whether the address is in the range. Families never mix.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    pub(crate) const fn v4(octets: [u8; 4], prefix: u8) -> Self {
        let [a, b, c, d] = octets;
        Self(IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)))
    }

    pub(crate) const fn v6(leading: [u16; 3], prefix: u8) -> Self {
        let [a, b, c] = leading;
        Self(IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)))
    }

    pub(crate) const fn one(address: Ipv6Addr) -> Self {
        Self(IpNet::V6(Ipv6Net::new_assert(address, 128)))
    }
}

impl FromStr for Cidr {
    type Err = EgressError;

    /// Parses `10.1.0.0/16`, `fd00::/8`, or a single address. Addresses are parsed by the standard
    /// library, as everywhere else.
    fn from_str(text: &str) -> Result<Self, EgressError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let bad = || EgressError::BadRange(text.to_owned());
        let address: IpAddr = address.trim().parse().map_err(|_| bad())?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.trim().parse().map_err(|_| bad())?,
            None => whole,
        };
        Self::new(address, prefix).ok_or_else(bad)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_holds_its_first_and_last_address_and_no_other() {
        let range = cidr("172.16.0.0/12");
        assert!(range.contains("172.16.0.0".parse().unwrap()));
        assert!(range.contains("172.31.255.255".parse().unwrap()));
        assert!(!range.contains("172.32.0.0".parse().unwrap()));
        assert!(!range.contains("172.15.255.255".parse().unwrap()));
        assert!(cidr("0.0.0.0/0").contains("255.255.255.255".parse().unwrap()));
        assert!(cidr("::/0").contains("ff02::1".parse().unwrap()));
        assert!(!cidr("::/0").contains("10.0.0.1".parse().unwrap()));
    }

    #[test]
    fn host_bits_are_dropped_and_single_addresses_are_ranges() {
        assert_eq!(cidr("10.1.2.3/8").to_string(), "10.0.0.0/8");
        assert_eq!(cidr("127.0.0.2").to_string(), "127.0.0.2/32");
        assert_eq!(cidr("::1").to_string(), "::1/128");
        assert_eq!(cidr("::ffff:10.0.0.0/104").to_string(), "10.0.0.0/8");
    }

    #[test]
    fn a_list_is_split_at_commas_and_spaces() {
        let list = Cidr::list(" 10.0.0.0/8,127.0.0.1 , fd00::/8,").unwrap();
        assert_eq!(list, [cidr("10.0.0.0/8"), cidr("127.0.0.1/32"), cidr("fd00::/8")]);
        assert!(Cidr::list("").unwrap().is_empty());
    }

    #[test]
    fn invalid_ranges_are_refused_and_quoted() {
        for text in ["10.0.0.0/33", "::/129", "10.0.0/8", "example.com", "10.0.0.0/-1", "/8", "1"] {
            let refused = text.parse::<Cidr>().unwrap_err();
            assert!(refused.to_string().contains(text), "{refused}");
        }
    }
}
