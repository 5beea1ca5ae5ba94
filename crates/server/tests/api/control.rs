//! Who may take control from whom.

use http::Method;
use serde_json::{Value, json};

use crate::{client::TestServer, nowhere::Nowhere};

/// A session that belongs to the agent, and its path.
async fn session(server: &TestServer) -> String {
    let token = server.token(&["sessions:*"]);
    let made = server.post("/api/v1/sessions?wait=false", &token, "{}").await;
    format!("/api/v1/sessions/{}", made.json()["id"].as_str().unwrap())
}

async fn start() -> TestServer {
    TestServer::start_with(&[], Nowhere { slow: true, ..Nowhere::default() }).await
}

async fn take(
    server: &TestServer,
    session: &str,
    token: &str,
    body: Value,
) -> crate::client::Answer {
    server.post(&format!("{session}/control/take"), token, body).await
}

#[tokio::test]
async fn an_agents_token_cannot_force_control() {
    let server = start().await;
    let session = session(&server).await;
    let (agent, person) = (server.token(&["sessions:*"]), server.person(&["admin"]));
    let taken = take(&server, &session, &person, json!({})).await.json();
    assert_eq!(taken["by"], json!({ "kind": "human", "subject": "ann" }));
    assert_eq!(taken["holder"], "ann");
    for token in [&agent, &server.token(&["admin"])] {
        let refused = take(&server, &session, token, json!({ "force": true })).await;
        let message = refused.assert_error(403, "person_required");
        assert!(message.contains("helmdeck token --human"), "{message}");
        take(&server, &session, token, json!({})).await.assert_error(409, "control_held");
    }
    // Not by the page's cookie either: what is signed counts, not how it is sent.
    let cookie = format!("helmdeck-{}={agent}", server.addr.port());
    let path = format!("{session}/control/take");
    let by_cookie = server.request(Method::POST, &path, "").header("cookie", cookie);
    let by_cookie = by_cookie.header("x-helmdeck-csrf", "1");
    let refused = server.send(by_cookie, r#"{"force": true}"#).await;
    refused.assert_error(403, "person_required");
    assert_eq!(server.get(&format!("{session}/control"), &agent).await.json()["holder"], "ann");

    let other = server.person(&["admin"]);
    take(&server, &session, &other, json!({})).await.assert_error(409, "control_held");
    let forced = take(&server, &session, &other, json!({ "force": true })).await;
    assert_eq!(forced.status, 200);
}

#[tokio::test]
async fn a_person_takes_control_from_an_agent_without_force() {
    let server = start().await;
    let session = session(&server).await;
    let agent = server.token(&["sessions:*"]);
    let taken = take(&server, &session, &agent, json!({})).await.json();
    assert_eq!((&taken["by"]["kind"], &taken["yours"]), (&json!("agent"), &json!(true)));
    let taken = take(&server, &session, &server.person(&["admin"]), json!({})).await;
    assert_eq!(taken.json()["by"]["kind"], "human");
    let actions = server.get(&format!("{session}/actions"), &agent).await.json();
    let kinds: Vec<_> =
        actions["actions"].as_array().unwrap().iter().map(|a| a["by"]["kind"].clone()).collect();
    assert_eq!(kinds, ["agent", "human"]);
}
