//! The SOCKS5 side of the proxy (RFC 1928): CONNECT without authentication, nothing else.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::{
    ConnectionGate, EgressError, Host, Scheme, Target, ViaError,
    activity::{Activity, Metered},
    proxy::Client,
    tunnel::carry,
};

/// The first byte of every SOCKS5 message.
pub(crate) const VERSION: u8 = 5;
/// The first byte of a SOCKS4 request, which is refused.
pub(crate) const VERSION_4: u8 = 4;

pub(crate) const NO_AUTHENTICATION: u8 = 0;
const NO_METHOD: u8 = 0xff;
pub(crate) const CONNECT: u8 = 1;
/// A complete SOCKS4 refusal.
const REFUSED_4: [u8; 8] = [0, 0x5b, 0, 0, 0, 0, 0, 0];

/// The reply codes of SOCKS5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Succeeded = 0,
    Failure = 1,
    NotAllowed = 2,
    HostUnreachable = 4,
    Refused = 5,
    TooSlow = 6,
    CommandUnknown = 7,
    AddressUnknown = 8,
}

/// Serves a client until it disconnects, including its tunnel.
pub(crate) async fn serve(
    mut stream: Metered<Client>,
    gate: &ConnectionGate,
    activity: &Arc<Activity>,
) {
    let request = timeout(gate.limits().head, read_request(&mut stream)).await;
    let target = match request {
        Ok(Ok(Ok(target))) => target,
        Ok(Ok(Err(reply))) => return answer(&mut stream, reply).await,
        // The client disconnected or was too slow; no answer is needed.
        Ok(Err(_)) | Err(_) => return,
    };
    match gate.open(&target, Scheme::Socks).await {
        Ok(dialled) => {
            answer(&mut stream, Reply::Succeeded).await;
            let mut upstream = Metered::new(dialled.stream, activity);
            carry(&mut stream, &mut upstream, activity).await;
        }
        Err(error) => answer(&mut stream, reply_to(&error)).await,
    }
}

/// Refuses a SOCKS4 client.
pub(crate) async fn refuse_4(mut stream: Metered<Client>) {
    let _ = stream.write_all(&REFUSED_4).await;
}

/// Reads the greeting and the request; the inner error is for requests that cannot be served.
async fn read_request(stream: &mut Metered<Client>) -> io::Result<Result<Target, Reply>> {
    expect_version(stream).await?;
    let count = stream.read_u8().await?;
    let mut methods = vec![0; usize::from(count)];
    stream.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        stream.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(io::ErrorKind::Unsupported.into());
    }
    stream.write_all(&[VERSION, NO_AUTHENTICATION]).await?;

    expect_version(stream).await?;
    let command = stream.read_u8().await?;
    let _reserved = stream.read_u8().await?;
    let host = match stream.read_u8().await? {
        1 => Ok(Host::Address(IpAddr::V4(Ipv4Addr::from(stream.read_u32().await?)))),
        3 => {
            let mut name = vec![0; usize::from(stream.read_u8().await?)];
            stream.read_exact(&mut name).await?;
            Host::parse(&String::from_utf8_lossy(&name)).map_err(|_| Reply::Failure)
        }
        4 => Ok(Host::Address(IpAddr::V6(Ipv6Addr::from(stream.read_u128().await?)))),
        // The length of such an address is unknown, so nothing after it is read.
        _ => return Ok(Err(Reply::AddressUnknown)),
    };
    let port = stream.read_u16().await?;
    if command != CONNECT {
        return Ok(Err(Reply::CommandUnknown));
    }
    Ok(host.map(|host| Target { host, port }))
}

async fn expect_version(stream: &mut Metered<Client>) -> io::Result<()> {
    match stream.read_u8().await? {
        VERSION => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

async fn answer(stream: &mut Metered<Client>, reply: Reply) {
    // The bound address is not revealed: all zero, which clients expect. A write failure shows
    // again when the tunnel is used.
    let _ = stream.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await;
}

fn reply_to(error: &EgressError) -> Reply {
    match error {
        EgressError::Denied { .. } => Reply::NotAllowed,
        EgressError::Unresolved(_) => Reply::HostUnreachable,
        EgressError::Unreachable { source, .. }
            if source.kind() == io::ErrorKind::ConnectionRefused =>
        {
            Reply::Refused
        }
        EgressError::Unreachable { .. } => Reply::HostUnreachable,
        EgressError::ResolveDeadline
        | EgressError::ConnectDeadline { .. }
        | EgressError::AnswerDeadline => Reply::TooSlow,
        EgressError::Via(ViaError::Unreachable(cause)) => match reply_to(cause) {
            Reply::NotAllowed => Reply::NotAllowed,
            _ => Reply::Failure,
        },
        EgressError::Via(ViaError::Refused(_)) => Reply::HostUnreachable,
        EgressError::Via(ViaError::Deadline) => Reply::TooSlow,
        EgressError::Via(
            ViaError::Credentials(_) | ViaError::Nonsense(_) | ViaError::Broken(_),
        )
        | EgressError::BadRange(_)
        | EgressError::BadTarget { .. }
        | EgressError::BadVia(_)
        | EgressError::BadBypass(_)
        | EgressError::Broken(_)
        | EgressError::Nonsense(_) => Reply::Failure,
    }
}
