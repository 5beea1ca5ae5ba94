//! Streams of the MCP door: notifications, and the transport of 2024-11-05.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use helmdeck_testkit::{eventually, fake::FakeServer};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{
    client::{McpClient, events},
    legacy, modern, session_of,
};

const SOON: Duration = Duration::from_secs(20);

/// Reads a stream until a text has come.
async fn until(body: &mut Incoming, read: &mut String, wanted: &str) {
    let came = until_it(body, read, |read| read.contains(wanted)).await;
    assert!(came, "{wanted} did not come");
}

/// Reads a stream until this holds for all that has come. Returns whether it did in time.
async fn until_it(body: &mut Incoming, read: &mut String, holds: impl Fn(&str) -> bool) -> bool {
    let reading = async {
        while !holds(read) {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    };
    tokio::time::timeout(SOON, reading).await.is_ok()
}

#[tokio::test]
async fn an_older_client_hears_of_sessions_and_of_screens_that_it_follows() {
    let server = FakeServer::start().await;
    let client = legacy(&server, "ann").await;
    let (status, _, mut stream) = client.open(Method::GET, None, &[]).await;
    assert_eq!(status, StatusCode::OK);
    let mut read = String::new();
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    until(&mut stream, &mut read, "notifications/resources/list_changed").await;

    let uri = format!("helmdeck://sessions/{session}/screenshot");
    client.request("resources/subscribe", json!({ "uri": uri })).await.result();
    let guest = server.runtime.guest(&session);
    let repainting = async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            guest.repaint();
        }
    };
    tokio::select! {
        () = until(&mut stream, &mut read, "notifications/resources/updated") => {}
        () = repainting => {}
    }
    let updated =
        events(&read).into_iter().find(|it| it["method"] == "notifications/resources/updated");
    assert_eq!(updated.unwrap()["params"]["uri"], json!(uri));
    client.request("resources/unsubscribe", json!({ "uri": uri })).await.result();
}

#[tokio::test]
async fn a_resource_that_is_followed_before_the_client_is_initialized_tells_of_changes() {
    let server = FakeServer::start().await;
    let client = McpClient::greeted(server.address, server.token("ann", "sessions:*")).await;
    let uri = json!({ "uri": "helmdeck://sessions" });
    client.request("resources/subscribe", uri).await.result();
    let (_, _, mut stream) = client.open(Method::GET, None, &[]).await;
    client.ok("session-create", json!({})).await;
    until(&mut stream, &mut String::new(), "notifications/resources/updated").await;
}

#[tokio::test]
async fn a_stateless_client_listens_for_what_it_asked_for() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let body = json!({
        "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen",
        "params": {
            "notifications": { "resourcesListChanged": true },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let headers = [("mcp-method", "subscriptions/listen")];
    let (status, _, mut stream) = client.open(Method::POST, Some(&body), &headers).await;
    assert_eq!(status, StatusCode::OK);
    let mut read = String::new();
    until(&mut stream, &mut read, "notifications/subscriptions/acknowledged").await;
    client.ok("session-create", json!({})).await;
    until(&mut stream, &mut read, "notifications/resources/list_changed").await;
}

#[tokio::test]
async fn a_new_pack_of_the_operator_changes_the_list_of_tools() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = FakeServer::start_with(&[("HELMDECK_COMMAND_PACKS_DIR", path)]).await;
    let client = legacy(&server, "ann").await;
    let (_, _, mut stream) = client.open(Method::GET, None, &[]).await;
    let program = folder.path().join("count.sh");
    fs::write(&program, "#!/bin/sh\ncat\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    until(&mut stream, &mut String::new(), "notifications/tools/list_changed").await;
    assert!(client.tools().await.iter().any(|tool| tool["name"] == "cmd-count"));
}

#[tokio::test]
async fn a_key_of_a_provider_that_comes_or_goes_changes_the_list_of_tools() {
    let server = FakeServer::start().await;
    let admin = server.admin();
    let token = server.token("ann", "sessions:*,models:use");
    let client = McpClient::legacy(server.address, token).await;
    let has_vision = async || client.tools().await.iter().any(|tool| tool["name"] == "vision-act");
    assert!(!has_vision().await);
    let (_, _, mut stream) = client.open(Method::GET, None, &[]).await;
    let mut read = String::new();

    let key = json!({ "provider": "openai", "key": "some key" });
    let made = admin.post("/api/v1/providers/keys", &key).await.expect(201).json();
    until(&mut stream, &mut read, "notifications/tools/list_changed").await;
    assert!(has_vision().await);

    read.clear();
    let path = format!("/api/v1/providers/keys/{}", made["id"].as_str().unwrap());
    admin.delete(&path).await.expect(204);
    until(&mut stream, &mut read, "notifications/tools/list_changed").await;
    assert!(!has_vision().await);
}

#[tokio::test]
async fn the_skill_has_a_new_pack_of_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let server = FakeServer::start_with(&[("HELMDECK_COMMAND_PACKS_DIR", path)]).await;
    let listed = async || {
        let skill = server.stranger().get("/api/v1/skill").await.expect(200).text();
        skill.contains("- `cmd-count`: ").then_some(())
    };
    assert!(listed().await.is_none());
    let program = folder.path().join("count.sh");
    fs::write(&program, "#!/bin/sh\ncat\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    eventually(SOON, listed).await.expect("the skill lists the pack");
}

/// A connection by the transport of 2024-11-05.
struct OldClient {
    client: McpClient,
    stream: Incoming,
    read: String,
    /// Where it posts.
    path: String,
}

impl OldClient {
    /// Opens the stream of a token.
    async fn open(server: &FakeServer, token: &str) -> Self {
        let client = McpClient::modern(server.address, token.to_owned()).at("/api/v1/mcp/sse");
        let (status, _, mut stream) = client.open(Method::GET, None, &[]).await;
        assert_eq!(status, StatusCode::OK);
        let mut read = String::new();
        until(&mut stream, &mut read, "sessionId=").await;
        let path = read.lines().find_map(|line| line.strip_prefix("data:")).unwrap();
        let path = path.trim().to_owned();
        Self { client: client.at(&path), stream, read, path }
    }

    async fn say(&self, message: &Value) -> StatusCode {
        self.client.post(message, &[("mcp-protocol-version", "")]).await.status
    }

    async fn initialize(&mut self) {
        assert_eq!(self.say(&hello()).await, StatusCode::ACCEPTED);
        until(&mut self.stream, &mut self.read, "\"2024-11-05\"").await;
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.say(&done).await, StatusCode::ACCEPTED);
    }

    /// The session in the reply to a call.
    async fn session(&mut self, tool: &str) -> String {
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": tool, "arguments": {} },
        });
        self.read.clear();
        assert_eq!(self.say(&call).await, StatusCode::ACCEPTED);
        let reply = |read: &str| events(read).into_iter().find(|message| message["id"] == 2);
        until_it(&mut self.stream, &mut self.read, |read| reply(read).is_some()).await;
        let reply = reply(&self.read).unwrap_or_else(|| panic!("no reply: {}", self.read));
        session_of(&reply["result"]["structuredContent"])
    }
}

fn hello() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "old", "version": "1" },
        },
    })
}

#[tokio::test]
async fn the_transport_of_2024_answers_on_its_stream_and_to_its_owner_only() {
    let server = FakeServer::start().await;
    let mut ann = OldClient::open(&server, &server.token("ann", "sessions:*")).await;
    let bob = modern(&server, "bob").at(&ann.path);
    let refused = bob.post(&hello(), &[("mcp-protocol-version", "")]).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    ann.initialize().await;
    ann.session("session-create").await;
}

#[tokio::test]
async fn streams_of_2024_with_one_token_have_separate_current_sessions() {
    let server = FakeServer::start().await;
    let token = server.token("ann", "sessions:*");
    let mut one = OldClient::open(&server, &token).await;
    let mut other = OldClient::open(&server, &token).await;
    one.initialize().await;
    other.initialize().await;
    let (ones, others) =
        (one.session("session-create").await, other.session("session-create").await);
    assert_ne!(ones, others);
    assert_eq!(one.session("session-show").await, ones);
    assert_eq!(other.session("session-show").await, others);
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let server = FakeServer::start().await;
    let (token, id) = server.listed_token("ann", false, "sessions:*", SOON * 3).await;
    let client = McpClient::legacy(server.address, token).await;
    let (_, _, stream) = client.open(Method::GET, None, &[]).await;
    server.admin().delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    tokio::time::timeout(SOON, stream.collect()).await.expect("it ends").unwrap();
}
