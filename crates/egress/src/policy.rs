//! Decides what may be dialled: first by name, then by address and port. Pure.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::Arc,
};

use crate::{Cidr, Rule, address};

/// The name by which a session reaches the machine's own loopback.
pub const MACHINE_NAME: &str = "host.helmdeck.internal";

/// Names of cloud metadata servers, which give out credentials.
const METADATA_NAMES: [&str; 9] = [
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
];

/// Ranges closed by default. The first match gives the reason.
const CLOSED: [(Cidr, &str); 26] = [
    (Cidr::v4([169, 254, 169, 254], 32), "the metadata server of most clouds"),
    (Cidr::v4([168, 63, 129, 16], 32), "the metadata server of Azure"),
    (Cidr::v4([0, 0, 0, 0], 8), "this network"),
    (Cidr::v4([10, 0, 0, 0], 8), "a private network"),
    (Cidr::v4([100, 64, 0, 0], 10), "a provider's private network"),
    (Cidr::v4([127, 0, 0, 0], 8), "the machine's loopback"),
    (Cidr::v4([169, 254, 0, 0], 16), "link-local"),
    (Cidr::v4([172, 16, 0, 0], 12), "a private network"),
    (Cidr::v4([192, 0, 0, 0], 24), "reserved for protocols"),
    (Cidr::v4([192, 0, 2, 0], 24), "documentation"),
    (Cidr::v4([192, 168, 0, 0], 16), "a private network"),
    (Cidr::v4([198, 18, 0, 0], 15), "benchmark networks"),
    (Cidr::v4([198, 51, 100, 0], 24), "documentation"),
    (Cidr::v4([203, 0, 113, 0], 24), "documentation"),
    (Cidr::v4([224, 0, 0, 0], 4), "multicast"),
    (Cidr::v4([240, 0, 0, 0], 4), "reserved, and broadcast"),
    (Cidr::one(Ipv6Addr::UNSPECIFIED), "no address"),
    (Cidr::one(Ipv6Addr::LOCALHOST), "the machine's loopback"),
    (Cidr::v6([0x64, 0xff9b, 1], 48), "a local NAT64 of unknown layout"),
    (Cidr::v6([0x100, 0, 0], 64), "discarded"),
    (Cidr::v6([0x2001, 0xdb8, 0], 32), "documentation"),
    (Cidr::v6([0x3fff, 0, 0], 20), "documentation"),
    (Cidr::v6([0xfc00, 0, 0], 7), "a private network"),
    (Cidr::v6([0xfe80, 0, 0], 10), "link-local"),
    (Cidr::v6([0xfec0, 0, 0], 10), "a private network (site-local, deprecated)"),
    (Cidr::v6([0xff00, 0, 0], 8), "multicast"),
];

/// Why something is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowReason {
    /// No rule closes the address.
    Public,
    /// The operator opened this range.
    Allowlisted(Cidr),
}

/// The policy. Clones are cheap and equivalent.
#[derive(Debug, Clone)]
pub struct Policy {
    allowlist: Arc<[Cidr]>,
    own: Arc<[SocketAddr]>,
    is_this_machine: fn(IpAddr) -> bool,
}

impl Policy {
    /// The default block list, with the ranges in `allowlist` opened.
    ///
    /// `own` are the addresses that helmdeck itself listens on, including wildcards. The allowlist
    /// cannot open them.
    pub fn new(allowlist: impl Into<Arc<[Cidr]>>, own: impl Into<Arc<[SocketAddr]>>) -> Self {
        Self { allowlist: allowlist.into(), own: own.into(), is_this_machine }
    }

    /// Judges a normalized name (see [`Host`](crate::Host)) before it is resolved.
    pub fn judge_name(&self, name: &str) -> Result<(), Rule> {
        if name == "localhost" || name.ends_with(".localhost") {
            return Err(Rule::Localhost);
        }
        if METADATA_NAMES.contains(&name) {
            return Err(Rule::MetadataName);
        }
        Ok(())
    }

    /// Judges an address before it is dialled.
    ///
    /// An IPv6 address with an embedded IPv4 address is judged as IPv4, and never by an IPv6 range
    /// of the allowlist.
    pub fn judge(&self, to: SocketAddr) -> Result<AllowReason, Rule> {
        let mut ground = AllowReason::Public;
        for address in address::judged(to.ip()) {
            match self.judge_one(address, to.port())? {
                AllowReason::Public => {}
                opened => ground = opened,
            }
        }
        Ok(ground)
    }

    fn judge_one(&self, address: IpAddr, port: u16) -> Result<AllowReason, Rule> {
        if self.is_own(address, port) {
            return Err(Rule::OwnListener);
        }
        if let Some(range) = self.allowlist.iter().find(|range| range.contains(address)) {
            return Ok(AllowReason::Allowlisted(*range));
        }
        if let Some((range, what)) = CLOSED.iter().find(|(range, _)| range.contains(address)) {
            return Err(Rule::Range { range: *range, what });
        }
        // A connection from the machine to itself would bypass the firewall in front of it.
        if (self.is_this_machine)(address) {
            return Err(Rule::ThisMachine);
        }
        Ok(AllowReason::Public)
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        // The kernel treats the unspecified address as loopback.
        let address = match address {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
            other => other,
        };
        self.own.iter().filter(|own| own.port() == port).any(|own| {
            let own = own.ip().to_canonical();
            own == address
                || own.is_unspecified()
                    && (address.is_loopback() || (self.is_this_machine)(address))
        })
    }
}

/// Whether the kernel would reach the address without leaving the machine. Sends nothing.
fn is_this_machine(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // For its own addresses, the kernel picks the same address as source.
    let source = UdpSocket::bind((any, 0))
        .and_then(|socket| socket.connect((address, 9)).and_then(|()| socket.local_addr()));
    source.is_ok_and(|source| source.ip() == address)
}

#[cfg(test)]
mod tests;
