//! A local web server for test pages.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
    time::sleep,
};

/// Serves pages until dropped, at both `localhost` and `127.0.0.1`, which a browser treats as two
/// sites.
pub struct Server {
    address: SocketAddr,
    task: AbortHandle,
}

#[derive(Clone)]
pub struct Reply {
    pub status: &'static str,
    pub headers: String,
    pub body: String,
    pub delay: Duration,
    /// Pause between the headers and the body.
    pub pause: Duration,
}

impl Reply {
    pub fn page(body: impl Into<String>) -> Self {
        let headers = "Content-Type: text/html; charset=utf-8\r\n".to_owned();
        let (delay, pause) = (Duration::ZERO, Duration::ZERO);
        Self { status: "200 OK", headers, body: body.into(), delay, pause }
    }

    pub fn status(self, status: &'static str) -> Self {
        Self { status, ..self }
    }

    pub fn header(mut self, header: &str) -> Self {
        self.headers += &format!("{header}\r\n");
        self
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn pausing(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

impl Server {
    /// `reply` returns the page of each path.
    pub async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let reply = Arc::new(reply);
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let reply = Arc::clone(&reply);
                tokio::spawn(async move {
                    let _ = serve(stream, move |path| reply(path)).await;
                });
            }
        });
        Self { address, task: task.abort_handle() }
    }

    /// One page for every path.
    pub async fn of(body: &str) -> Self {
        let body = body.to_owned();
        Self::start(move |_| Reply::page(body.clone())).await
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address of a path at the other site.
    pub fn elsewhere(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, reply: impl Fn(&str) -> Reply) -> Result<(), std::io::Error> {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or("/");
    let Reply { status, headers, body, delay, pause } = reply(path);
    sleep(delay).await;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    sleep(pause).await;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Whether the request is complete, including its body.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    length.is_none_or(|length| body.len() >= length.trim().parse().unwrap())
}
