//! A listener of events, like a browser's EventSource.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    time::timeout,
};

use crate::{
    Listens,
    dial::{Duplex, dial},
};

/// How long a listener waits on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open stream of events.
pub struct Listener {
    lines: tokio::io::Lines<BufReader<Box<dyn Duplex>>>,
}

/// One event.
#[derive(Debug)]
pub struct Heard {
    /// Id to continue after.
    pub id: String,
    /// Kind of event.
    pub name: String,
    /// What happened.
    pub data: Value,
}

impl Listener {
    /// Listens with a token, continuing after event `last` if given.
    pub async fn open(server: &impl Listens, token: &str, last: Option<&str>) -> Self {
        Self::open_at(server, "/api/v1/events", token, last).await
    }

    /// The same, at another path.
    pub async fn open_at(
        server: &impl Listens,
        path: &str,
        token: &str,
        last: Option<&str>,
    ) -> Self {
        let mut stream = dial(server.address(), server.trusted().as_ref()).await;
        let last = last.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n{last}\r\n",
            server.address()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut listener = Self { lines: BufReader::new(stream).lines() };
        while !listener.line().await.is_empty() {}
        listener
    }

    async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("an event in time").unwrap().expect("the stream continues")
    }

    /// The next event.
    pub async fn next(&mut self) -> Heard {
        let mut heard = Heard { id: String::new(), name: String::new(), data: Value::Null };
        loop {
            let line = self.line().await;
            if let Some(id) = line.strip_prefix("id: ") {
                heard.id = id.to_owned();
            } else if let Some(name) = line.strip_prefix("event: ") {
                heard.name = name.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                heard.data = serde_json::from_str(data).unwrap();
            } else if line.is_empty() && !heard.name.is_empty() {
                return heard;
            }
        }
    }

    /// The next event of this name.
    pub async fn until(&mut self, name: &str) -> Heard {
        loop {
            let heard = self.next().await;
            if heard.name == name {
                return heard;
            }
        }
    }
}
