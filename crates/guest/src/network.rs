//! The session's network: loopback, and a link that is up but leads nowhere.
//!
//! With loopback alone, Chromium reports pages as offline, so a session has one more interface with
//! an address. Its other end is in the same namespace and has no address: there is no route, and
//! the proxy stays the only way out.

use std::{fs, io, net::Ipv4Addr};

use rustix::{
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with},
    process::{getgid, getuid},
    thread::{UnshareFlags, unshare_unsafe},
};

/// The names of the link and its other end.
const LINK: (&str, u32) = ("eth0", 2);
const OTHER_END: (&str, u32) = ("eth0-peer", 3);
/// An address from the documentation range, which no network uses.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// The index of loopback in every new namespace.
const LOOPBACK: u32 = 1;

// Numbers of the kernel's rtnetlink interface.
const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const REQUEST_ACK: u16 = 0x1 | 0x4;
const CREATE_NEW: u16 = 0x200 | 0x400;
const IFF_UP: u32 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NESTED: u16 = 1 << 15;

/// Gives the calling process, which must have one thread, a separate network. Returns a description
/// of the problem if the link could not be created. No capability remains afterwards.
pub fn enter() -> io::Result<Option<String>> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: the process has one thread, and descriptors are not unshared.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    raise(LOOPBACK)?;
    let linked = make_link();
    helmdeck_spawn::drop_capabilities()?;
    Ok(linked.err().map(|error| {
        format!("pages see the browser as offline, because no veth link could be created: {error}")
    }))
}

/// Creates the link and brings both ends up.
fn make_link() -> io::Result<()> {
    ask(RTM_NEWLINK, REQUEST_ACK | CREATE_NEW, &new_link())?;
    raise(OTHER_END.1)?;
    raise(LINK.1)?;
    ask(RTM_NEWADDR, REQUEST_ACK | CREATE_NEW, &address())
}

/// Brings a link up.
fn raise(index: u32) -> io::Result<()> {
    ask(RTM_NEWLINK, REQUEST_ACK, &link(index, IFF_UP))
}

/// Sends one request to the kernel, and waits for the answer, which is immediate.
fn ask(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    let family = AddressFamily::NETLINK;
    // Without a protocol: NETLINK_ROUTE is 0.
    let socket = socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let length = u32::try_from(16 + body.len()).map_err(io::Error::other)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Sequence number and sender, which are needed only with several requests.
    message.extend([0; 8]);
    message.extend(body);
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (answered, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    match refusal(answer.get(..answered).unwrap_or_default()) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error)),
        None => Err(io::Error::other("the kernel's answer is invalid")),
    }
}

/// The error number in an answer; 0 on success.
fn refusal(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let error = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(-error)
}

/// Identifies a link and sets its flags: `struct ifinfomsg`.
fn link(index: u32, flags: u32) -> Vec<u8> {
    let mut message = vec![0; 4];
    message.extend(index.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message
}

/// A new link and its other end. Neither can be up before both exist.
fn new_link() -> Vec<u8> {
    let named = |(name, index): (&str, u32)| {
        let mut message = link(index, 0);
        message.extend(attribute(IFLA_IFNAME, &[name.as_bytes(), &[0]].concat()));
        message
    };
    let peer = attribute(VETH_INFO_PEER | NESTED, &named(OTHER_END));
    let data = attribute(IFLA_INFO_DATA | NESTED, &peer);
    let kind = attribute(IFLA_INFO_KIND, b"veth\0");
    let mut message = named(LINK);
    message.extend(attribute(IFLA_LINKINFO | NESTED, &[kind, data].concat()));
    message
}

/// The link's address, alone in its network: `struct ifaddrmsg`.
fn address() -> Vec<u8> {
    let family = AddressFamily::INET.as_raw().to_ne_bytes();
    let mut message = vec![family[0], 32, 0, 0];
    message.extend(LINK.1.to_ne_bytes());
    message.extend(attribute(IFA_LOCAL, &ADDRESS.octets()));
    message.extend(attribute(IFA_ADDRESS, &ADDRESS.octets()));
    message
}

/// A value with its type and length, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    // No value here is longer than a hundred bytes.
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
