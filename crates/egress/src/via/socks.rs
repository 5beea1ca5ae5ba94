//! Requests a connection from a SOCKS5 proxy (RFC 1928), with a password if required (RFC 1929).

use std::net::IpAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    Credentials, ViaError,
    error::Login::{Refused, Wanted},
};
use crate::{
    Host, Target,
    socks::{CONNECT, NO_AUTHENTICATION, VERSION},
};

const BY_PASSWORD: u8 = 2;
/// The version of the password exchange.
const PASSWORD_VERSION: u8 = 1;

pub(super) async fn ask(
    stream: &mut TcpStream,
    target: &Target,
    credentials: Option<&Credentials>,
) -> Result<(), ViaError> {
    let greeting: &[u8] = match credentials {
        Some(_) => &[VERSION, 2, NO_AUTHENTICATION, BY_PASSWORD],
        None => &[VERSION, 1, NO_AUTHENTICATION],
    };
    stream.write_all(greeting).await?;
    let [version, method] = stream.read_u16().await?.to_be_bytes();
    if version != VERSION {
        return Err(ViaError::Nonsense("it does not speak SOCKS5"));
    }
    match (method, credentials) {
        (NO_AUTHENTICATION, _) => {}
        (BY_PASSWORD, Some(credentials)) => log_in(stream, credentials).await?,
        (_, Some(_)) => return Err(ViaError::Credentials(Refused)),
        (_, None) => return Err(ViaError::Credentials(Wanted)),
    }
    stream.write_all(&request(target)).await?;
    answer(stream).await
}

async fn log_in(stream: &mut TcpStream, credentials: &Credentials) -> Result<(), ViaError> {
    let mut message = vec![PASSWORD_VERSION];
    put_text(&mut message, &credentials.username);
    put_text(&mut message, &credentials.password);
    stream.write_all(&message).await?;
    let [_version, status] = stream.read_u16().await?.to_be_bytes();
    if status == 0 { Ok(()) } else { Err(ViaError::Credentials(Refused)) }
}

fn request(target: &Target) -> Vec<u8> {
    let mut request = vec![VERSION, CONNECT, 0];
    match &target.host {
        Host::Address(IpAddr::V4(v4)) => {
            request.push(1);
            request.extend(v4.octets());
        }
        Host::Name(name) => {
            request.push(3);
            put_text(&mut request, name);
        }
        Host::Address(IpAddr::V6(v6)) => {
            request.push(4);
            request.extend(v6.octets());
        }
    }
    request.extend(target.port.to_be_bytes());
    request
}

/// Appends a length and a text. INVARIANT: names and credentials have at most 255 bytes.
fn put_text(message: &mut Vec<u8>, text: &str) {
    message.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    message.extend(text.bytes().take(usize::from(u8::MAX)));
}

async fn answer(stream: &mut TcpStream) -> Result<(), ViaError> {
    let [version, reply, _reserved, kind] = stream.read_u32().await?.to_be_bytes();
    if version != VERSION {
        return Err(ViaError::Nonsense("it does not speak SOCKS5"));
    }
    if reply != 0 {
        return Err(ViaError::Refused(meaning(reply).to_owned()));
    }
    // The bound address is not needed, but must be read: the target's bytes follow it.
    let length = match kind {
        1 => 4,
        3 => usize::from(stream.read_u8().await?),
        4 => 16,
        _ => return Err(ViaError::Nonsense("its answer has an unknown address type")),
    };
    let mut bound = vec![0; length + 2];
    stream.read_exact(&mut bound).await?;
    Ok(())
}

fn meaning(reply: u8) -> &'static str {
    match reply {
        1 => "general failure",
        2 => "not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "an unknown code",
    }
}
