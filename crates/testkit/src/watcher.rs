//! A viewer that speaks RFB over a WebSocket, correctly or not.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::HeaderValue;
use tokio::time::timeout;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use crate::{
    Listens,
    dial::{Duplex, dial},
};

/// How long a viewer waits on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);

/// An open live view.
pub struct Watcher {
    socket: WebSocketStream<Box<dyn Duplex>>,
    received: Vec<u8>,
    /// The screen's size, as the X server reports it.
    pub size: (u16, u16),
}

/// A refused connection: status and error code.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub u16, pub String);

impl Watcher {
    /// Opens a WebSocket at a path with these headers.
    pub async fn socket(
        server: &impl Listens,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<WebSocketStream<Box<dyn Duplex>>, Refused> {
        let mut request = format!("ws://{}{path}", server.address()).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let stream = dial(server.address(), server.trusted().as_ref()).await;
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(response)) => {
                let body = response.body().clone().unwrap_or_default();
                let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
                let code = body["error"].as_str().unwrap_or_default().to_owned();
                Err(Refused(response.status().as_u16(), code))
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Opens a live view and performs the handshake.
    pub async fn open(
        server: &impl Listens,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Refused> {
        let socket = Self::socket(server, path, headers).await?;
        let mut watcher = Self { socket, received: Vec::new(), size: (0, 0) };
        assert_eq!(watcher.read(12).await, b"RFB 003.008\n");
        watcher.send(b"RFB 003.008\n").await;
        assert_eq!(watcher.read(2).await, [1, 1]);
        watcher.send(&[1]).await;
        assert_eq!(watcher.read(4).await, [0; 4]);
        watcher.send(&[0]).await;
        let init = watcher.read(24).await;
        let number = |at: usize| u16::from_be_bytes([init[at], init[at + 1]]);
        watcher.size = (number(0), number(2));
        let name = u32::from_be_bytes([init[20], init[21], init[22], init[23]]);
        watcher.read(name as usize).await;
        Ok(watcher)
    }

    /// Sends any bytes.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.socket.send(Message::Binary(bytes.to_vec().into())).await;
    }

    /// Presses and releases a key.
    pub async fn key(&mut self, symbol: u32) {
        for down in [1, 0] {
            let mut message = vec![4, down, 0, 0];
            message.extend(symbol.to_be_bytes());
            self.send(&message).await;
        }
    }

    /// Presses and releases a key with QEMU's extension.
    pub async fn qemu_key(&mut self, symbol: u32, code: u32) {
        for down in [1, 0] {
            let mut message = vec![255, 0, 0, down];
            message.extend(symbol.to_be_bytes());
            message.extend(code.to_be_bytes());
            self.send(&message).await;
        }
    }

    /// Moves the pointer with these buttons pressed.
    pub async fn pointer(&mut self, x: u16, y: u16, buttons: u8) {
        let mut message = vec![5, buttons];
        message.extend(x.to_be_bytes());
        message.extend(y.to_be_bytes());
        self.send(&message).await;
    }

    /// Requests the whole screen, raw, and waits for it: four bytes per pixel.
    pub async fn picture(&mut self) -> Vec<u8> {
        let (width, height) = self.size;
        self.send(&[2, 0, 0, 1, 0, 0, 0, 0]).await;
        let mut request = vec![3, 0, 0, 0, 0, 0];
        request.extend(width.to_be_bytes());
        request.extend(height.to_be_bytes());
        self.send(&request).await;
        let wide = usize::from(width) * 4;
        let mut pixels = vec![0; wide * usize::from(height)];
        let mut missing = pixels.len();
        while missing > 0 {
            let head = self.read(4).await;
            assert_eq!(head[0], 0, "only pictures are sent");
            for _ in 0..u16::from_be_bytes([head[2], head[3]]) {
                let rectangle = self.read(12).await;
                let number =
                    |at: usize| usize::from(u16::from_be_bytes([rectangle[at], rectangle[at + 1]]));
                let (x, y, across) = (number(0) * 4, number(2), number(4) * 4);
                let part = self.read(across * number(6)).await;
                missing = missing.saturating_sub(part.len());
                // Rectangles arrive in any order.
                for (line, row) in part.chunks(across).enumerate() {
                    pixels[(y + line) * wide + x..][..across].copy_from_slice(row);
                }
            }
        }
        pixels
    }

    /// Waits until the server has read everything: it answers a later request.
    pub async fn settled(&mut self) {
        self.picture().await;
    }

    /// Everything that the server sends within this time.
    pub async fn listen(&mut self, during: Duration) -> Vec<u8> {
        let mut heard = std::mem::take(&mut self.received);
        let listening = async {
            while let Some(Ok(message)) = self.socket.next().await {
                if let Message::Binary(bytes) = message {
                    heard.extend(bytes);
                }
            }
        };
        let _ = timeout(during, listening).await;
        heard
    }

    /// Waits until the server closes the connection. Returns code and reason.
    pub async fn closed(mut self) -> (u16, String) {
        let closing = async {
            while let Some(Ok(message)) = self.socket.next().await {
                if let Message::Close(Some(CloseFrame { code, reason })) = message {
                    return (code.into(), reason.to_string());
                }
            }
            (1006, String::new())
        };
        timeout(PATIENCE, closing).await.expect("the server closes the connection")
    }

    async fn read(&mut self, count: usize) -> Vec<u8> {
        let reading = async {
            while self.received.len() < count {
                match self.socket.next().await {
                    Some(Ok(Message::Binary(bytes))) => self.received.extend(bytes),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    other => panic!("the view ended: {other:?}"),
                }
            }
        };
        timeout(PATIENCE, reading).await.expect("the server sends");
        self.received.drain(..count).collect()
    }
}
