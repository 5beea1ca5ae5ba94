//! Sessions that `helmdeck attach` adds.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use helmdeck_testkit::{Watcher, eventually, fake::FakeServer};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);
/// How long the program may be disconnected.
const GRACE: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_session_ends_when_its_program_is_disconnected_for_30_seconds() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let bearer = format!("Bearer {}", server.token("admin", "admin"));
    let headers = [("authorization", bearer.as_str())];
    let mut socket = Watcher::socket(&server, "/api/v1/attach", &headers).await.unwrap();
    let hello = json!({ "attached": { "cdp": "127.0.0.1:1" } });
    socket.send(hello.to_string().into()).await.unwrap();
    let answer: Value = loop {
        let message = socket.next().await.expect("an answer").unwrap();
        if message.is_text() {
            break serde_json::from_str(message.to_text().unwrap()).unwrap();
        }
    };
    let id = answer["attached"]["session_id"].as_str().unwrap();
    drop(socket);
    let path = format!("/api/v1/sessions/{id}");
    server.clock.advance(GRACE - SECOND);
    assert_eq!(client.get(&path).await.expect(200).json()["end_reason"], Value::Null);
    // The server may notice the disconnect only now.
    let over = async || {
        server.clock.advance(2 * SECOND);
        Some(client.get(&path).await.json()["end_reason"].clone())
    };
    let over = async || over().await.filter(|reason| !reason.is_null());
    assert_eq!(eventually(SOON, over).await.expect("it ends"), "guest_lost");
}
