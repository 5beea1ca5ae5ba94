//! The address of a client: the peer of its connection or, behind a trusted proxy, the address that
//! the proxy reports.

use std::net::IpAddr;

use helmdeck_egress::Cidr;
use http::HeaderMap;
use ipnet::Ipv6Net;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// Minimum IPv6 network of one customer of a provider.
const CUSTOMER_PREFIX: u8 = 64;

/// Proxies whose `X-Forwarded-For` is trusted: HELMDECK_TRUSTED_PROXIES.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Vec<Cidr>);

impl TrustedProxies {
    pub fn new(ranges: Vec<Cidr>) -> Self {
        Self(ranges)
    }

    /// Whether the peer is a trusted proxy, with many clients behind it.
    pub fn contains(&self, peer: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(peer.to_canonical()))
    }

    /// The client behind `peer`: the last address in `X-Forwarded-For` that is not a trusted proxy.
    /// Earlier entries come from the client itself.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.contains(peer) {
            return peer;
        }
        let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let hops: Vec<_> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        let mut client = peer;
        for hop in hops.into_iter().rev() {
            let Some(address) = address(hop) else { break };
            client = address;
            if !self.contains(address) {
                break;
            }
        }
        client
    }
}

/// An address with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').split(']').next().unwrap_or(text);
    let parsed = bare.parse().ok();
    parsed
        .or_else(|| text.rsplit_once(':').and_then(|(host, _)| host.parse().ok()))
        .map(|address: IpAddr| address.to_canonical())
}

/// The network of an address: an IPv4 address itself, or the customer's IPv6 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Net::new(v6, CUSTOMER_PREFIX).map_or(v6, |net| net.network()).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let proxies = TrustedProxies::new(Cidr::list("10.0.0.0/8").unwrap());
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_says_who_the_client_is() {
        assert_eq!(client("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn an_ipv6_network_is_one_customer_and_an_ipv4_address_is_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn addresses_that_the_client_wrote_itself_are_ignored() {
        assert_eq!(client("10.0.0.1", &["203.0.113.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["203.0.113.9", "198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["198.51.100.7, nonsense"]), "10.0.0.1");
    }
}
