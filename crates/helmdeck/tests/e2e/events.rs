//! What happens, as it happens.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// A listener, as a browser's EventSource is one.
struct Listener {
    lines: tokio::io::Lines<BufReader<TcpStream>>,
}

#[derive(Debug)]
struct Heard {
    id: String,
    name: String,
    data: Value,
}

impl Listener {
    async fn open(server: &Server, token: &str, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let last = last.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let head = format!(
            "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n{last}\r\n",
            server.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut listener = Self { lines: BufReader::new(stream).lines() };
        while !listener.line().await.is_empty() {}
        listener
    }

    async fn line(&mut self) -> String {
        let line = timeout(Duration::from_secs(20), self.lines.next_line()).await;
        line.expect("something happens").unwrap().expect("the stream goes on")
    }

    async fn next(&mut self) -> Heard {
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

    async fn until(&mut self, name: &str) -> Heard {
        loop {
            let heard = self.next().await;
            if heard.name == name {
                return heard;
            }
        }
    }
}

#[tokio::test]
async fn a_listener_hears_of_its_sessions_and_goes_on_where_it_was() {
    let server = Server::start();
    let token = server.token("agent", "sessions:*");
    let client = server.client("agent", "sessions:*");
    let mut listener = Listener::open(&server, &token, None).await;
    let mut stranger = Listener::open(&server, &server.token("other", "sessions:*"), None).await;

    let desk = Desk::desktop(&client).await;
    let created = listener.until("session").await;
    assert_eq!(created.data["id"], desk.id);
    desk.act("agent_status", json!({ "status": "step 1" })).await;
    let status = listener.until("agent_status").await;
    assert_eq!(status.data, json!({ "session_id": desk.id, "status": "step 1" }));
    drop(listener);

    desk.act("click", json!({ "x": 3, "y": 4 })).await;
    let mut again = Listener::open(&server, &token, Some(&status.id)).await;
    // A status message stands in the log of actions, too.
    assert_eq!(again.until("action").await.data["action"], "agent_status");
    let acted = again.until("action").await;
    assert_eq!((&acted.data["action"], &acted.data["detail"]["x"]), (&json!("click"), &json!(3)));
    let path = format!("/api/v1/sessions/{}/control/take", desk.id);
    server.person().post(&path, &json!({})).await.expect(200);
    let control = again.until("control").await;
    assert_eq!((&control.data["driver"], &control.data["yours"]), (&json!("human"), &json!(false)));
    desk.end().await;
    let gone = again.until("session_gone").await.data;
    assert_eq!((&gone["id"], &gone["end_reason"]), (&json!(desk.id), &json!("requested")));
    assert!(gone["ended_at"].is_string(), "{gone}");

    // An id of nowhere: the listener must fetch everything again.
    let mut lost = Listener::open(&server, &token, Some("elsewhere-12")).await;
    assert_eq!(lost.next().await.name, "reset");
    let nothing = timeout(Duration::from_secs(1), stranger.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}
