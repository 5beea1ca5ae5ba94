//! IPv4 addresses embedded in IPv6 addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses to judge in place of `address`: all of them must pass.
///
/// Usually one: the address itself, or its embedded IPv4 address. A Teredo address contains two:
/// the relay's server and the host behind it.
pub(crate) fn judged(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let (first, second) = match address {
        IpAddr::V4(_) => (address, None),
        IpAddr::V6(v6) => inside(v6),
    };
    std::iter::once(first).chain(second)
}

fn inside(v6: Ipv6Addr) -> (IpAddr, Option<IpAddr>) {
    let [a, b, c, d, e, f, g, h] = v6.segments();
    let last = || IpAddr::V4(joined(g, h));
    match [a, b, c, d, e, f] {
        // These two have separate rules, which give a better reason than 0.0.0.0/8.
        [0, 0, 0, 0, 0, 0] if g == 0 && h <= 1 => (v6.into(), None),
        // IPv4-compatible, IPv4-mapped, and IPv4-translated (RFC 2765).
        [0, 0, 0, 0, 0, 0 | 0xffff] | [0, 0, 0, 0, 0xffff, 0] => (last(), None),
        // NAT64 (RFC 6052), and its local prefix (RFC 8215) in the usual layout. Other layouts of
        // the local prefix are not parsed: the block list covers all of it.
        [0x64, 0xff9b, 0 | 1, 0, 0, 0] => (last(), None),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => (joined(high, low).into(), None),
        // Teredo (RFC 4380): the host's address is stored inverted.
        [0x2001, 0, high, low, ..] => (joined(!g, !h).into(), Some(IpAddr::V4(joined(high, low)))),
        _ => (v6.into(), None),
    }
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        judged(text.parse().unwrap()).map(|address| address.to_string()).collect()
    }

    #[test]
    fn embedded_ipv4_addresses_are_found_in_every_form() {
        for form in [
            "10.1.2.3",
            "::ffff:10.1.2.3",
            "::10.1.2.3",
            "::ffff:0:10.1.2.3",
            "64:ff9b::10.1.2.3",
            "64:ff9b:1::10.1.2.3",
            "2002:a01:203::1",
        ] {
            assert_eq!(of(form), ["10.1.2.3"], "{form}");
        }
        assert_eq!(of("2001:0:4136:e378:8000:63bf:f5fe:fdfc"), ["10.1.2.3", "65.54.227.120"]);
    }

    #[test]
    fn other_addresses_are_judged_as_they_are() {
        for own in ["::", "::1", "2606:4700::1111", "64:ff9b:1:a01:2:300::", "2001:db8::1"] {
            assert_eq!(of(own), [own]);
        }
    }
}
