//! A viewer of many sessions at once.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::time::{sleep_until, timeout};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::{Duplex, Listens, Watcher};

/// How long a viewer waits on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open wall.
pub struct Wall {
    socket: WebSocketStream<Box<dyn Duplex>>,
}

impl Wall {
    /// Requests small pictures of these sessions.
    pub async fn watch(server: &impl Listens, token: &str, sessions: &[&str], width: u32) -> Self {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        let mut socket = Watcher::socket(server, "/api/v1/wall", &headers).await.unwrap();
        let watch = json!({ "watch": sessions, "width": width }).to_string();
        socket.send(Message::text(watch)).await.unwrap();
        Self { socket }
    }

    /// The next picture: session and JPEG. `None` if there is none in time.
    pub async fn next(&mut self, patience: Duration) -> Option<(String, Vec<u8>)> {
        let due = tokio::time::Instant::now() + patience;
        loop {
            let message = tokio::select! {
                message = self.socket.next() => message.expect("an open wall").unwrap(),
                () = sleep_until(due) => return None,
            };
            if let Message::Binary(frame) = message {
                let (id, jpeg) = frame[1..].split_at(usize::from(frame[0]));
                assert!(jpeg.starts_with(&[0xff, 0xd8]) && jpeg.ends_with(&[0xff, 0xd9]), "a JPEG");
                return Some((String::from_utf8(id.to_vec()).unwrap(), jpeg.to_vec()));
            }
        }
    }

    /// The next picture of a session.
    pub async fn picture(&mut self, session: &str) -> Vec<u8> {
        let looking = async {
            loop {
                match self.next(PATIENCE).await {
                    Some((id, jpeg)) if id == session => return jpeg,
                    Some(_) | None => {}
                }
            }
        };
        timeout(PATIENCE, looking).await.expect("a picture")
    }
}
