//! Streams of the MCP door: notifications, and the transport of 2024-11-05.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use helmdeck_testkit::fake::FakeServer;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{client::events, legacy, modern, session_of};

const SOON: Duration = Duration::from_secs(20);

/// Reads a stream until a text has come.
async fn until(body: &mut Incoming, read: &mut String, wanted: &str) {
    let reading = async {
        while !read.contains(wanted) {
            let frame = body.frame().await.expect("the stream goes on").unwrap();
            read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    };
    let read = tokio::time::timeout(SOON, reading).await;
    read.unwrap_or_else(|_| panic!("{wanted} did not come"));
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
async fn the_transport_of_2024_answers_on_its_stream_and_to_its_owner_only() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann").at("/api/v1/mcp/sse");
    let (status, _, mut stream) = client.open(Method::GET, None, &[]).await;
    assert_eq!(status, StatusCode::OK);
    let mut read = String::new();
    until(&mut stream, &mut read, "sessionId=").await;
    let path = read.lines().find_map(|line| line.strip_prefix("data:")).unwrap().trim().to_owned();

    let say = async |subject: &str, message: Value| {
        let client = modern(&server, subject).at(&path);
        client.post(&message, &[("mcp-protocol-version", "")]).await.status
    };
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "old", "version": "1" },
        },
    });
    assert_eq!(say("bob", hello.clone()).await, StatusCode::NOT_FOUND);
    assert_eq!(say("ann", hello).await, StatusCode::ACCEPTED);
    until(&mut stream, &mut read, "\"2024-11-05\"").await;
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(say("ann", done).await, StatusCode::ACCEPTED);
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "session-create", "arguments": {} },
    });
    assert_eq!(say("ann", call).await, StatusCode::ACCEPTED);
    until(&mut stream, &mut read, "_session_id").await;
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let server = FakeServer::start().await;
    let (token, id) = server.listed_token("ann", false, "sessions:*", SOON * 3).await;
    let client = super::client::McpClient::legacy(server.address, token).await;
    let (_, _, stream) = client.open(Method::GET, None, &[]).await;
    server.admin().delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    tokio::time::timeout(SOON, stream.collect()).await.expect("it ends").unwrap();
}
