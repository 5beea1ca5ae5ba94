//! A web site on this machine, for browsers in sandboxes.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// Serves pages until dropped.
pub struct Site {
    address: SocketAddr,
    task: AbortHandle,
}

/// First byte of a TLS client.
const TLS: u8 = 0x16;

/// Content of a path.
pub struct Page {
    /// Header lines, each with a line break.
    pub headers: String,
    /// The body.
    pub body: String,
    /// Delay before the response.
    pub delay: Duration,
}

impl Page {
    /// A page of HTML.
    pub fn html(body: impl Into<String>) -> Self {
        let headers = "content-type: text/html; charset=utf-8\r\n".to_owned();
        Self { headers, body: body.into(), delay: Duration::ZERO }
    }

    /// A file download.
    pub fn file(name: &str, body: impl Into<String>) -> Self {
        let headers = format!("content-disposition: attachment; filename={name}\r\n");
        Self { headers, ..Self::html(body) }
    }

    /// The same page with a delay.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

impl Site {
    /// Settings of a server whose sessions may reach this site.
    pub const REACHABLE: (&'static str, &'static str) =
        ("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.0/8");

    /// A site that maps paths to pages.
    pub async fn start(page: impl Fn(&str) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let page = Arc::new(page);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let page = page.clone();
                tokio::spawn(async move { serve(stream, &*page).await });
            }
        });
        Self { address, task: task.abort_handle() }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path, as sessions use it.
    pub fn url(&self, path: &str) -> String {
        format!("http://host.helmdeck.internal:{}{path}", self.address.port())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, page: &(dyn Fn(&str) -> Page + Send + Sync)) -> Option<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        // A browser that tries TLS first would wait for an answer.
        if request.first() == Some(&TLS) {
            return None;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let Page { headers, body, delay } = page(request.split(' ').nth(1).unwrap_or("/"));
    tokio::time::sleep(delay).await;
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}
