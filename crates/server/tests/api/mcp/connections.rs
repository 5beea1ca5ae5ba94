//! Connections of MCP clients: who hears of them, and what those of one owner share.

use helmdeck_testkit::{Desk, Listener, fake::FakeServer};
use serde_json::{Value, json};

use super::{client::McpClient, session_of};

#[tokio::test]
async fn a_connection_is_reported_to_the_owner_of_the_token_and_no_other_caller() {
    let server = FakeServer::start().await;
    let (ann, bob) = (server.person_token("ann", "sessions:*"), server.token("bob", "sessions:*"));
    let mut anns_events = Listener::open(&server, &ann, None).await;
    let mut bobs_events = Listener::open(&server, &bob, None).await;
    let (ann, bob) = (server.bearer(ann), server.bearer(bob));
    let made = ann.post("/api/v1/connect/codex", &json!({})).await.expect(201).json();
    let token = made["token"].as_str().unwrap().to_owned();

    for client in [
        McpClient::modern(server.address, token.clone()),
        McpClient::legacy(server.address, token).await,
    ] {
        client.tools().await;
    }
    let connected = anns_events.until("mcp_client_connected").await.data;
    assert_eq!(connected["token_id"], made["token_id"]);
    assert_eq!((&connected["label"], &connected["name"]), (&json!("Codex"), &json!("test")));
    let codex = ann.get("/api/v1/connect/codex").await.expect(200).json();
    assert_eq!(codex["connected"][0]["token_id"], made["token_id"]);
    let listed = ann.get("/api/v1/tokens").await.expect(200).json();
    let client = &listed["tokens"][0]["mcp_client"];
    assert!(["http", "sse"].contains(&client["transport"].as_str().unwrap()), "{client}");
    assert!(client["protocol_version"].as_str().unwrap().starts_with("20"), "{client}");

    // Events come in order, so the first one that bob gets is of his own session.
    Desk::desktop(&bob).await;
    assert_eq!(bobs_events.next().await.name, "session");
    let codex = bob.get("/api/v1/connect/codex").await.expect(200).json();
    assert_eq!(codex["connected"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn two_tokens_of_one_subject_share_sessions_but_not_the_current_one() {
    let server = FakeServer::start().await;
    let client = || McpClient::modern(server.address, server.token("ann", "sessions:*"));
    let (one, other) = (client(), client());
    let ones = session_of(&one.ok("session-create", json!({})).await);
    assert_eq!(other.error("session-show", json!({})).await["error"], "missing_session_id");
    let others = session_of(&other.ok("session-create", json!({})).await);
    assert_ne!(ones, others);
    assert_eq!(session_of(&one.ok("session-show", json!({})).await), ones);
    let named = other.ok("session-show", json!({ "_session_id": ones })).await;
    assert_eq!(session_of(&named), ones);
    assert_eq!(session_of(&other.ok("session-show", json!({})).await), others);
}
