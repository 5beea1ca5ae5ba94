//! A proxy for outgoing connections of sessions: real sockets, one server behind every name.

use std::{io, net::SocketAddr, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    task::{AbortHandle, JoinSet},
};

/// A proxy that connects every request to one server, and records the requests.
///
/// It refuses `refused.test`, never answers for `silent.test`, and sends a greeting together with
/// its answer for `early.test`.
pub struct Upstream {
    /// Where it listens.
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

/// Protocol of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// HTTP CONNECT.
    Http,
    /// SOCKS5.
    Socks5,
}

struct Place {
    speaks: Speaks,
    to: SocketAddr,
    login: Option<(String, String)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Upstream {
    /// A proxy on this address that connects to `to`, if the login is right.
    pub async fn start(
        ip: &str,
        speaks: Speaks,
        to: SocketAddr,
        login: Option<(&str, &str)>,
    ) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::default());
        let login = login.map(|(name, word)| (name.to_owned(), word.to_owned()));
        let place = Arc::new(Place { speaks, to, login, asked: Arc::clone(&asked) });
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let place = Arc::clone(&place);
                connections.spawn(async move {
                    let _ = place.serve(stream).await;
                });
            }
        });
        Self { address, asked, task: task.abort_handle() }
    }

    /// Its address as a session's `proxy.server`.
    pub fn server(&self, speaks: Speaks) -> String {
        let scheme = match speaks {
            Speaks::Http => "http",
            Speaks::Socks5 => "socks5",
        };
        format!("{scheme}://{}", self.address)
    }

    /// Every target of an authorized request.
    pub async fn asked(&self) -> Vec<String> {
        self.asked.lock().await.clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Place {
    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let target = match self.speaks {
            Speaks::Http => self.http(&mut stream).await?,
            Speaks::Socks5 => self.socks(&mut stream).await?,
        };
        let Some(target) = target else { return Ok(()) };
        self.asked.lock().await.push(target.clone());
        let host = target.rsplit_once(':').map_or("", |(host, _)| host);
        let (yes, no): (&[u8], &[u8]) = match self.speaks {
            Speaks::Http => (b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n"),
            // Bound to a name, which has its own length.
            Speaks::Socks5 => (b"\x05\x00\x00\x03\x01x\x00\x01", b"\x05\x02\x00\x01\0\0\0\0\0\0"),
        };
        match host {
            "refused.test" => return stream.write_all(no).await,
            "silent.test" => return std::future::pending().await,
            "early.test" => return stream.write_all(&[yes, b"early bytes"].concat()).await,
            _ => stream.write_all(yes).await?,
        }
        let mut server = TcpStream::connect(self.to).await?;
        copy_bidirectional(&mut stream, &mut server).await?;
        Ok(())
    }

    async fn http(&self, stream: &mut TcpStream) -> io::Result<Option<String>> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let knows = self.login.as_ref().is_none_or(|(name, word)| {
            let encoded = BASE64_STANDARD.encode(format!("{name}:{word}"));
            head.contains(&format!("Proxy-Authorization: Basic {encoded}\r\n"))
        });
        if !knows {
            let answer = b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=x\r\n\r\n";
            stream.write_all(answer).await?;
            return Ok(None);
        }
        let target = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next());
        Ok(target.map(str::to_owned))
    }

    async fn socks(&self, stream: &mut TcpStream) -> io::Result<Option<String>> {
        let [_version, count] = stream.read_u16().await?.to_be_bytes();
        let mut methods = vec![0; usize::from(count)];
        stream.read_exact(&mut methods).await?;
        let method = if self.login.is_some() { 2 } else { 0 };
        if !methods.contains(&method) {
            stream.write_all(&[5, 0xff]).await?;
            return Ok(None);
        }
        stream.write_all(&[5, method]).await?;
        if let Some((name, word)) = &self.login {
            let _version = stream.read_u8().await?;
            let given = (text(stream).await?, text(stream).await?);
            let right = given == (name.clone(), word.clone());
            stream.write_all(&[1, u8::from(!right)]).await?;
            if !right {
                return Ok(None);
            }
        }
        let [_, _, _, kind] = stream.read_u32().await?.to_be_bytes();
        let host = match kind {
            1 => std::net::Ipv4Addr::from(stream.read_u32().await?).to_string(),
            3 => text(stream).await?,
            _ => format!("[{}]", std::net::Ipv6Addr::from(stream.read_u128().await?)),
        };
        Ok(Some(format!("{host}:{}", stream.read_u16().await?)))
    }
}

/// A length-prefixed text.
async fn text(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
