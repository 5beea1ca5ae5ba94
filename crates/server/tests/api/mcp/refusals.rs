//! What the MCP door refuses.

use helmdeck_testkit::fake::FakeServer;
use http::StatusCode;
use serde_json::json;

use super::{client::McpClient, legacy, modern};

fn list() -> serde_json::Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

#[tokio::test]
async fn without_a_token_a_client_learns_where_to_read_about_authorization() {
    let server = FakeServer::start().await;
    let client = McpClient::modern(server.address, String::new());
    let refused = client.post(&list(), &[]).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    let (_, address) = challenge.split_once("resource_metadata=\"").unwrap();
    let path = address.trim_end_matches('"').split_once("localhost").unwrap().1;
    let metadata = server.stranger().get(path).await.expect(200).json();
    assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
    assert!(metadata["resource"].as_str().unwrap().ends_with("/mcp"));
    server.stranger().get("/.well-known/oauth-authorization-server").await.expect(404);
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    for headers in [[("host", "evil.test")], [("origin", "http://evil.test")]] {
        assert_eq!(client.post(&list(), &headers).await.status, StatusCode::FORBIDDEN);
    }
    let client = legacy(&server, "ann").await;
    for host in ["localhost:3000", "127.0.0.1:80", "[::1]:3000", "host.docker.internal:3000"] {
        let reply = client.post(&list(), &[("host", host)]).await;
        assert_eq!(reply.status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn an_unknown_profile_or_parameter_is_refused_by_name() {
    let server = FakeServer::start().await;
    for (query, field) in [("profile=everything", "profile"), ("session=", "session"), ("x=1", "x")]
    {
        let client = modern(&server, "ann").at(&format!("/mcp?{query}"));
        let refused = client.post(&list(), &[]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        assert_eq!(refused.messages[0]["field"], field);
    }
}

#[tokio::test]
async fn a_token_without_the_scope_neither_sees_nor_calls_a_tool() {
    let server = FakeServer::start().await;
    let client = McpClient::modern(server.address, server.token("ann", "sessions:read"));
    let names: Vec<_> = client.tools().await.iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("session-list")) && !names.contains(&json!("desktop-click")));
    let error = client.error("desktop-click", json!({ "x": 1, "y": 2 })).await;
    assert_eq!(error["error"], "forbidden");
    let packs = client.request("resources/read", json!({ "uri": "helmdeck://packs" })).await;
    let text = packs.result()["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("the token lacks the scope"), "{text}");
}

#[tokio::test]
async fn wrong_arguments_are_a_tool_error_that_names_the_field() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    client.ok("session-create", json!({ "mode": "desktop" })).await;
    let error = client.error("desktop-click", json!({ "x": "left", "y": 2 })).await;
    assert_eq!((&error["error"], &error["field"]), (&json!("invalid_coordinates"), &json!("x")));
    let error = client.error("desktop-click", json!({ "x": 1, "y": 2, "z": 3 })).await;
    assert_eq!(error["field"], "z");
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_that_suggests_the_nearest() {
    let server = FakeServer::start().await;
    let client = modern(&server, "ann");
    let params = json!({ "name": "desktop-clik", "arguments": {} });
    let error = client.request("tools/call", params).await.error();
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("desktop-click"), "{error}");
}

#[tokio::test]
async fn tools_of_people_and_admins_are_not_offered() {
    let server = FakeServer::start().await;
    let client = McpClient::modern(server.address, server.token("root", "admin"));
    let names: Vec<_> = client.tools().await.iter().map(|tool| tool["name"].clone()).collect();
    for name in ["token-list", "settings-change", "control-take", "private_sign_in-start"] {
        assert!(!names.contains(&json!(name)), "{name}");
    }
}
