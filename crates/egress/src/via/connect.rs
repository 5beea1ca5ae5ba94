//! Requests a tunnel from an HTTP proxy.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    Credentials, ViaError,
    error::Login::{Refused, Wanted},
};
use crate::Target;

/// The largest head of an answer.
const MAX_HEAD: usize = 16 << 10;
const END: &[u8] = b"\r\n\r\n";

pub(super) async fn ask(
    stream: &mut TcpStream,
    target: &Target,
    credentials: Option<&Credentials>,
) -> Result<(), ViaError> {
    stream.write_all(request(target, credentials).as_bytes()).await?;
    match status(&head(stream).await?)? {
        status if status.is_success() => Ok(()),
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            Err(ViaError::Credentials(if credentials.is_some() { Refused } else { Wanted }))
        }
        status => Err(ViaError::Refused(status.to_string())),
    }
}

fn request(target: &Target, credentials: Option<&Credentials>) -> String {
    let login = credentials.map(|Credentials { username, password }| {
        let encoded = BASE64_STANDARD.encode(format!("{username}:{password}"));
        format!("Proxy-Authorization: Basic {encoded}\r\n")
    });
    let login = login.unwrap_or_default();
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{login}\r\n")
}

/// Reads a head, but nothing that the server behind the proxy may have sent already.
async fn head(stream: &mut TcpStream) -> Result<Vec<u8>, ViaError> {
    let mut head = Vec::new();
    let mut seen = [0; 1024];
    while head.len() < MAX_HEAD {
        let known = head.len();
        let count = stream.peek(&mut seen).await?;
        if count == 0 {
            return Err(ViaError::Nonsense("it closed the connection within its answer"));
        }
        head.extend(seen.iter().take(count));
        let end = head.windows(END.len()).position(|part| part == END).map(|at| at + END.len());
        head.truncate(end.unwrap_or(head.len()));
        // These bytes have arrived, so this does not wait.
        stream.read_exact(seen.get_mut(..head.len() - known).unwrap_or_default()).await?;
        if end.is_some() {
            return Ok(head);
        }
    }
    Err(ViaError::Nonsense("the head of its answer is too long"))
}

fn status(head: &[u8]) -> Result<StatusCode, ViaError> {
    let nonsense = ViaError::Nonsense("it does not speak HTTP");
    if !head.starts_with(b"HTTP/1.") {
        return Err(nonsense);
    }
    let code = head.split(|byte| *byte == b' ' || *byte == b'\r').nth(1);
    code.and_then(|code| StatusCode::from_bytes(code).ok()).ok_or(nonsense)
}
