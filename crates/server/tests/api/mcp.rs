//! The MCP door, over the wire, with fake guests.

mod client;
mod connections;
mod content;
mod long_calls;
mod models;
mod packs;
mod refusals;
mod schemas;
mod streams;
mod surfaces;
mod tasks;
mod tools;

use helmdeck_testkit::fake::{FakeServer, State};
use serde_json::{Value, json};

use client::McpClient;

/// A client of the newest protocol.
pub fn modern(server: &FakeServer, subject: &str) -> McpClient {
    McpClient::modern(server.address, server.token(subject, "sessions:*"))
}

async fn legacy(server: &FakeServer, subject: &str) -> McpClient {
    McpClient::legacy(server.address, server.token(subject, "sessions:*")).await
}

fn session_of(reply: &Value) -> String {
    reply["_session_id"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[tokio::test]
async fn both_generations_of_the_protocol_list_and_call_the_same_tools() {
    let server = FakeServer::start().await;
    let (new, old) = (modern(&server, "ann"), legacy(&server, "bob").await);
    assert_eq!(new.tools().await, old.tools().await);
    for client in [new, old] {
        let created = client.ok("session-create", json!({ "mode": "desktop" })).await;
        let session = session_of(&created);
        let clicked = client.ok("desktop-click", json!({ "x": 1, "y": 2 })).await;
        assert_eq!(session_of(&clicked), session);
        assert!(clicked["_live_view"].as_str().unwrap().ends_with(&format!("/sessions/{session}")));
        assert_eq!(server.runtime.guest(&session).bodies("click").len(), 1);
    }
}

#[tokio::test]
async fn a_session_of_the_older_protocol_survives_a_restart_of_the_server() {
    let mut server = FakeServer::start().await;
    let mut client = legacy(&server, "ann").await;
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    server.leave().await;
    server.restart().await;
    client.address = server.address;
    let clicked = client.ok("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(session_of(&clicked), session);
}

#[tokio::test]
async fn two_callers_share_neither_sessions_nor_resources_nor_the_current_session() {
    let server = FakeServer::start().await;
    let (ann, bob) = (legacy(&server, "ann").await, modern(&server, "bob"));
    let session = session_of(&ann.ok("session-create", json!({ "mode": "desktop" })).await);

    let uri = format!("helmdeck://sessions/{session}/screenshot");
    let listed = |list: Value| list["resources"].to_string().contains(&session);
    assert!(listed(ann.request("resources/list", json!({})).await.result()));
    assert!(!listed(bob.request("resources/list", json!({})).await.result()));
    let read = bob.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read.error()["code"], -32602);
    let named = bob.error("desktop-click", json!({ "x": 1, "y": 2, "_session_id": session })).await;
    assert_eq!(named["error"], "not_found");
    assert_eq!(bob.error("session-show", json!({})).await["error"], "missing_session_id");
    let own = session_of(&bob.ok("session-create", json!({})).await);
    assert_ne!(own, session);

    // The same name means another session for each of them.
    let (anns, bobs) = (server.token("ann", "sessions:*"), server.token("bob", "sessions:*"));
    let work =
        |token: &String| McpClient::modern(server.address, token.clone()).at("/mcp?session=work");
    let shared = session_of(&work(&anns).ok("session-create", json!({})).await);
    let none = work(&bobs).error("session-show", json!({})).await;
    assert_eq!(none["error"], "missing_session_id");
    let bobs_own = session_of(&work(&bobs).ok("session-create", json!({})).await);
    assert_ne!(bobs_own, shared);
    assert_eq!(session_of(&work(&anns).ok("session-show", json!({})).await), shared);

    // Not even with the id of the other's MCP session.
    let mut thief = legacy(&server, "bob").await;
    thief.session = ann.session.clone();
    let stolen = thief.request("tools/list", json!({})).await;
    assert_eq!(stolen.status, 404, "{}", stolen.text);
}

#[tokio::test]
async fn the_first_calls_share_one_new_session_which_stays_current() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let go = json!({ "url": "http://x.test" });
    let (one, two) =
        tokio::join!(client.ok("browser-navigate", go.clone()), client.ok("browser-navigate", go));
    assert_eq!(session_of(&one), session_of(&two));
    assert_eq!(server.runtime.guests().len(), 1);
}

#[tokio::test]
async fn named_current_sessions_are_apart_and_shared_by_name() {
    let server = FakeServer::start().await;
    let token = server.token("ann", "sessions:*");
    let at = |name: &str| {
        let path = format!("/mcp?session={name}");
        McpClient::modern(server.address, token.clone()).at(&path)
    };
    let work = session_of(&at("work").ok("session-create", json!({})).await);
    let play = session_of(&at("play").ok("session-create", json!({})).await);
    assert_ne!(work, play);
    assert_eq!(session_of(&at("work").ok("session-show", json!({})).await), work);
}

#[tokio::test]
async fn a_tool_with_a_field_for_a_session_uses_the_current_or_the_named_one() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let tools = client.tools().await;
    let tool = tools.iter().find(|tool| tool["name"] == "egress-test").unwrap();
    assert!(tool["inputSchema"]["properties"]["_session_id"].is_object(), "{tool}");
    let target = json!({ "url": "https://example.test" });
    assert_eq!(client.ok("egress-test", target.clone()).await.get("_session_id"), None);

    let proxy = json!({ "server": "http://10.1.2.3:3128" });
    let with_proxy = session_of(&client.ok("session-create", json!({ "proxy": proxy })).await);
    let tested = client.ok("egress-test", target.clone()).await;
    assert_eq!(session_of(&tested), with_proxy);
    assert!(tested.to_string().contains("10.1.2.3"), "the session's proxy is tested: {tested}");
    client.ok("session-create", json!({})).await;
    let named = json!({ "url": "https://example.test", "_session_id": with_proxy });
    assert_eq!(session_of(&client.ok("egress-test", named).await), with_proxy);
}

#[tokio::test]
async fn a_session_is_refused_where_it_means_nothing() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({})).await);
    let error = client.error("session-list", json!({ "_session_id": session })).await;
    assert_eq!(
        (&error["error"], &error["field"]),
        (&json!("invalid_input"), &json!("_session_id"))
    );
}

#[tokio::test]
async fn an_ended_current_session_is_reported_once_and_then_replaced() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let go = json!({ "url": "http://x.test" });
    let first = session_of(&client.ok("browser-navigate", go.clone()).await);
    server
        .client("ann", "sessions:*")
        .delete(&format!("/api/v1/sessions/{first}"))
        .await
        .expect(204);

    let error = client.error("browser-navigate", go.clone()).await;
    assert!(error["message"].as_str().unwrap().contains(&first), "{error}");
    let second = session_of(&client.ok("browser-navigate", go).await);
    assert_ne!(first, second);
    client.ok("session-end", json!({})).await;
    assert_eq!(client.error("session-show", json!({})).await["error"], "missing_session_id");
}

#[tokio::test]
async fn a_desktop_tool_in_a_headless_session_says_how_to_get_a_desktop() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    client.ok("session-create", json!({})).await;
    let error = client.error("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(error["error"], "not_desktop_mode");
    assert!(error["message"].as_str().unwrap().contains("session-create"), "{error}");
}

#[tokio::test]
async fn cancelling_a_call_reaches_the_guest() {
    let server = FakeServer::start().await;
    let client = legacy(&server, "ann").await;
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let guest = server.runtime.guest(&session);
    guest.hold("hold_key");
    let arguments = json!({ "keys": "shift", "seconds": 20 });
    let params = json!({ "name": "desktop-hold_key", "arguments": arguments });
    let cancel = async {
        guest.until("hold_key", State::UnderWay).await;
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
        });
        client.post(&cancelled, &[]).await;
        guest.until("hold_key", State::Cancelled).await;
    };
    let (reply, ()) = tokio::join!(client.request("tools/call", params), cancel);
    assert!(reply.messages.is_empty(), "a cancelled call is not answered: {}", reply.text);
}

#[tokio::test]
async fn hanging_up_cancels_a_call_of_the_stateless_protocol() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let guest = server.runtime.guest(&session);
    guest.hold("hold_key");
    tokio::select! {
        _ = client.call("desktop-hold_key", json!({ "keys": "shift", "seconds": 20 })) => panic!("held"),
        () = guest.until("hold_key", State::UnderWay) => {}
    }
    guest.until("hold_key", State::Cancelled).await;
}

#[tokio::test]
async fn a_person_who_drives_stops_agents_at_this_door_too() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let session = session_of(&client.ok("session-create", json!({ "mode": "desktop" })).await);
    let take = format!("/api/v1/sessions/{session}/control/take");
    server
        .bearer(server.person_token("ann", "sessions:*"))
        .post(&take, &json!({}))
        .await
        .expect(200);
    let error = client.error("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(error["error"], "control_held");
}
