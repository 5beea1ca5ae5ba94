//! Connecting MCP clients: instructions without a token, tokens that are made for clients, and who
//! sees which clients have connected.

use std::time::Duration;

use helmdeck_store::Store;
use helmdeck_testkit::{Client, fake::FakeServer};
use helmdeck_wire::token::McpClient;
use serde_json::{Value, json};
use time::OffsetDateTime;

const HOUR: Duration = Duration::from_secs(3600);

async fn clients(caller: &Client) -> Vec<Value> {
    let list = caller.get("/api/v1/connect").await.expect(200).json();
    list["clients"].as_array().unwrap().clone()
}

#[tokio::test]
async fn every_client_is_explained_without_a_token() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:read");
    let agent = server.bearer(token.clone());
    let listed = clients(&agent).await;
    assert_eq!(listed.len(), 10);
    for client in listed {
        let id = client["id"].as_str().unwrap();
        let answer = agent.get(&format!("/api/v1/connect/{id}")).await.expect(200);
        let (text, guide) = (answer.text(), answer.json());
        assert!(!text.contains(&token) && !text.contains("eyJ"), "{id}");
        assert!(text.contains("$HELMDECK_TOKEN"), "{id}");
        assert_eq!((&guide["token"], &guide["client"]), (&Value::Null, &json!(id)));
        assert_eq!(guide["title"], client["title"]);
        let url = guide["url"].as_str().unwrap();
        assert!(url.starts_with(&format!("http://{}/mcp", server.address)), "{url}");
        assert_eq!(url.ends_with("?profile=core"), guide["profile"] == "core", "{url}");
        assert!(guide["docs"].as_str().unwrap().starts_with("docs/integrations/"));
    }
    agent.get("/api/v1/connect/emacs").await.expect_error(404, "not_found");
    // What stands in the address is not repeated: addresses are logged.
    let answer = agent.get(&format!("/api/v1/connect/codex?token={token}")).await.expect(200);
    assert!(!answer.text().contains(&token));
}

#[tokio::test]
async fn a_person_connects_a_client_with_a_token_of_an_agent() {
    let server = FakeServer::start().await;
    let ann = server.bearer(server.person_token("ann", "sessions:*"));
    let answer = ann.post("/api/v1/connect/gemini-cli", &json!({})).await.expect(201);
    let (text, guide) = (answer.text(), answer.json());
    let token = guide["token"].as_str().unwrap();
    assert!(!text.contains("$HELMDECK_TOKEN"), "{text}");
    let content = guide["steps"][0]["file"]["content"].as_str().unwrap();
    let content: Value = serde_json::from_str(content).unwrap();
    let entry = &content["mcpServers"]["helmdeck"];
    assert_eq!(entry["headers"]["Authorization"], format!("Bearer {token}"));
    assert_eq!(entry["httpUrl"], guide["url"]);
    assert_eq!(guide["label"], "Gemini CLI");

    let listed = ann.get("/api/v1/tokens").await.expect(200).json();
    let listed = &listed["tokens"][0];
    assert_eq!(
        (&listed["id"], &listed["made_for"], &listed["human"], &listed["subject"]),
        (&guide["token_id"], &json!("gemini-cli"), &json!(false), &json!("ann"))
    );
    assert_eq!(listed["scopes"], json!(["sessions:*"]));
    let at = |value: &Value| {
        let text = value.as_str().unwrap();
        OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339).unwrap()
    };
    assert_eq!(at(&listed["expires_at"]) - at(&listed["created_at"]), time::Duration::days(30));
    let agent = server.bearer(token.to_owned());
    agent.post("/api/v1/sessions?wait=false", &json!({})).await.expect(201);
    agent.get("/metrics").await.expect_error(403, "forbidden");
    agent.post("/api/v1/connect/codex", &json!({})).await.expect_error(403, "person_required");
}

#[tokio::test]
async fn what_is_asked_for_a_client_is_checked_and_used() {
    let server = FakeServer::start().await;
    let person = server.person();
    let wanted =
        json!({ "label": "desk", "ttl_s": 60, "profile": "desktop", "transport": "stdio" });
    let guide = person.post("/api/v1/connect/claude-code", &wanted).await.expect(201).json();
    let command = guide["steps"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("-- helmdeck mcp --profile desktop"), "{command}");
    assert_eq!(guide["label"], "desk");
    for wrong in [
        json!({ "profile": "everything" }),
        json!({ "ttl_s": 1 }),
        json!({ "label": "" }),
        json!({ "scopes": ["admin"] }),
    ] {
        let refused = person.post("/api/v1/connect/claude-code", &wrong).await;
        refused.expect_error(400, "invalid_input");
    }
    // What their own token lacks, people cannot give to a client.
    let weak = server.bearer(server.person_token("ann", "sessions:read"));
    let refused = weak.post("/api/v1/connect/claude-code", &json!({})).await;
    assert!(refused.expect_error(403, "forbidden").contains("sessions:*"));
}

#[tokio::test]
async fn a_client_may_use_models_only_if_a_person_who_may_says_so() {
    let server = FakeServer::start().await;
    let scopes = async |guide: Value| {
        let id = guide["token_id"].as_str().unwrap().to_owned();
        let tokens = server.person().get("/api/v1/tokens").await.expect(200).json();
        let tokens = tokens["tokens"].as_array().unwrap().clone();
        let token = tokens.into_iter().find(|token| token["id"] == id).unwrap();
        assert_eq!(guide["scopes"], token["scopes"]);
        token["scopes"].clone()
    };
    let ann = server.bearer(server.person_token("ann", "sessions:*,models:use"));
    let path = "/api/v1/connect/claude-code";
    let plain = ann.post(path, &json!({})).await.expect(201).json();
    assert_eq!(scopes(plain).await, json!(["sessions:*"]));
    let with_models = ann.post(path, &json!({ "models": true })).await.expect(201).json();
    assert_eq!(scopes(with_models).await, json!(["sessions:*", "models:use"]));
    let bob = server.bearer(server.person_token("bob", "sessions:*"));
    let refused = bob.post(path, &json!({ "models": true })).await;
    assert!(refused.expect_error(403, "forbidden").contains("models:use"));
}

#[tokio::test]
async fn clients_are_shown_to_the_owner_of_their_token_and_to_admins_only() {
    let mut server = FakeServer::start().await;
    let ann = server.bearer(server.person_token("ann", "sessions:*"));
    let made = ann.post("/api/v1/connect/codex", &json!({})).await.expect(201).json();
    let made = made["token_id"].as_str().unwrap().to_owned();
    let (_, bobs) = server.listed_token("bob", false, "sessions:*", HOUR).await;
    server.leave().await;
    let store = Store::open(&server.data_dir()).await.unwrap();
    let client = |name: &str| McpClient {
        name: name.to_owned(),
        version: "1".into(),
        protocol_version: "2025-11-25".into(),
        transport: "http".into(),
        first_seen: OffsetDateTime::UNIX_EPOCH,
        last_seen: OffsetDateTime::UNIX_EPOCH,
    };
    // Of the first, what it was made for counts; of the second, what its user calls itself.
    let seen = [(made.clone(), client("some-sdk")), (bobs.clone(), client("claude-code"))];
    store.save_mcp_clients(&seen).await.unwrap();
    store.close().await;
    server.restart().await;

    let connected = async |caller: &Client| {
        let mut found = Vec::new();
        for client in clients(caller).await {
            for one in client["connected"].as_array().unwrap() {
                let token = one["token_id"].as_str().unwrap().to_owned();
                found.push((client["id"].as_str().unwrap().to_owned(), token));
            }
        }
        found
    };
    let (codex, claude) = (("codex".to_owned(), made), ("claude-code".to_owned(), bobs));
    let ann = server.bearer(server.person_token("ann", "sessions:*"));
    assert_eq!(connected(&ann).await, std::slice::from_ref(&codex));
    assert_eq!(
        connected(&server.client("bob", "sessions:read")).await,
        std::slice::from_ref(&claude)
    );
    assert_eq!(connected(&server.client("eve", "sessions:read")).await, []);
    assert_eq!(connected(&server.admin()).await, [claude, codex.clone()]);
    let shown = ann.get("/api/v1/connect/codex").await.expect(200).json();
    assert_eq!(shown["connected"][0]["name"], "some-sdk");
    let tokens = ann.get("/api/v1/tokens").await.expect(200).json();
    assert_eq!(tokens["tokens"][0]["mcp_client"]["name"], "some-sdk");

    ann.delete(&format!("/api/v1/tokens/{}", codex.1)).await.expect(204);
    assert_eq!(connected(&ann).await, []);
}

#[tokio::test]
async fn the_skill_is_served_to_anyone_as_markdown() {
    let server = FakeServer::start().await;
    let answer = server.stranger().get("/api/v1/skill").await.expect(200);
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    assert!(answer.text().starts_with("---\nname: helmdeck\n"));
    assert!(answer.text().contains("- `desktop-screenshot`: "));
}
