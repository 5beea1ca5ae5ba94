//! Floods of connections: others are still served.

use std::{collections::HashMap, time::Duration};

use helmdeck_wire::SessionId;
use jsonwebtoken::{EncodingKey, Header, encode};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::client::{SECRET, TestServer};

const PATIENCE: Duration = Duration::from_secs(30);
/// Limit of the process, which is both server and attackers.
const DESCRIPTORS: usize = 2000;
/// The server's limits of connections: in total, and of one token.
const CONNECTIONS: usize = DESCRIPTORS / 4;
const OF_ONE_TOKEN: usize = CONNECTIONS / 4;
/// More connections than the server accepts.
const FLOOD: usize = CONNECTIONS + 100;

/// A server whose limits are small enough to be reached quickly.
async fn server() -> TestServer {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(DESCRIPTORS as u64), maximum }).unwrap();
    TestServer::start().await
}

/// A single-use view ticket of a session.
fn ticket(session: &SessionId) -> String {
    let claims = json!({
        "sub": "agent", "token": "t", "session": session, "role": "view", "reusable": false,
        "jti": "tick-1", "exp": 4_102_444_800_i64, "iss": "helmdeck-ticket",
    });
    encode(&Header::default(), &claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
}

/// Connects, sends some bytes, and stays.
async fn say(server: &TestServer, words: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    // The server may have closed the connection already.
    let _ = stream.write_all(words.as_bytes()).await;
    stream
}

/// Status of the response.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut head)).await.expect("an answer").unwrap();
    std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
}

/// Health checks are answered, and callers are served.
async fn assert_others_are_served(server: &TestServer) {
    let health = timeout(PATIENCE, server.get("/healthz", "")).await.expect("an answer");
    assert_eq!(health.status, 200);
    let token = server.token(&["sessions:read"]);
    let sessions = timeout(PATIENCE, server.get("/api/v1/sessions", &token)).await;
    assert_eq!(sessions.expect("an answer").status, 200);
}

#[tokio::test]
async fn a_single_use_ticket_opens_one_events_feed_however_often_it_is_used() {
    let server = server().await;
    let id = SessionId::from_random([7; 12]);
    let path = format!("/api/v1/events?session_id={id}&ticket={}", ticket(&id));
    let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
    let (mut open, mut answers) = (Vec::new(), HashMap::<u16, usize>::new());
    for _ in 0..FLOOD {
        let mut stream = say(&server, &head).await;
        *answers.entry(status(&mut stream).await).or_default() += 1;
        open.push(stream);
    }
    assert_eq!(answers, HashMap::from([(200, 1), (409, FLOOD - 1)]));
    assert_others_are_served(&server).await;
}

#[tokio::test]
async fn half_sent_heads_block_no_other_client() {
    let server = server().await;
    let mut open = Vec::new();
    for _ in 0..FLOOD {
        let head = "GET /api/v1/sessions HTTP/1.1\r\nhost: x\r\n";
        // Excess connections wait in the system's queue.
        match timeout(Duration::from_secs(2), say(&server, head)).await {
            Ok(stream) => open.push(stream),
            Err(_) => break,
        }
    }
    assert_others_are_served(&server).await;
}

#[tokio::test]
async fn the_limit_of_one_token_does_not_affect_others() {
    let server = server().await;
    let token = server.token(&["sessions:act"]);
    let head =
        format!("GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
    let (mut open, mut answers) = (Vec::new(), HashMap::<u16, usize>::new());
    for _ in 0..OF_ONE_TOKEN + 88 {
        let mut stream = say(&server, &head).await;
        *answers.entry(status(&mut stream).await).or_default() += 1;
        open.push(stream);
    }
    assert_eq!(answers, HashMap::from([(200, OF_ONE_TOKEN), (429, 88)]));
    let refused = server.get("/api/v1/events", &token).await;
    refused.assert_error(429, "too_many_connections");
    assert_eq!(refused.header("retry-after"), "1");
    assert_others_are_served(&server).await;
    drop(open);
}

#[tokio::test]
async fn requests_that_never_send_their_body_leave_room_for_callers() {
    let server = server().await;
    let head = "POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n";
    let mut open = Vec::new();
    for _ in 0..FLOOD {
        match timeout(Duration::from_secs(2), say(&server, head)).await {
            Ok(stream) => open.push(stream),
            Err(_) => break,
        }
    }
    assert_others_are_served(&server).await;
}
