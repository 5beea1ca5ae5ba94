//! Permission to forward ports, and tests of the egress policy.

use std::time::Duration;

use helmdeck_testkit::{eventually, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode, guest::Progress};
use serde_json::{Value, json};

use crate::{client::TestServer, nowhere::Nowhere};

const SESSIONS: &str = "/api/v1/sessions";
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn forwarding_a_port_of_the_server_needs_the_admin_or_an_allowed_port() {
    let env = [("HELMDECK_FORWARD_ALLOW", "5173, 8000-8099")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let (agent, admin) = (server.token(&["sessions:*"]), server.token(&["admin"]));
    let create = async |token: &str, forward: &[&str]| {
        server.post(SESSIONS, token, json!({ "forward": forward })).await
    };
    for denied in ["8100", "3000:localhost:22", "localhost:5432"] {
        let message = create(&agent, &[denied]).await.assert_error(403, "forward_denied");
        assert!(message.contains("HELMDECK_FORWARD_ALLOW"), "{message}");
        // This runtime cannot start sessions, so this is the furthest it gets.
        create(&admin, &[denied]).await.assert_error(500, "create_failed");
    }
    create(&agent, &["5173", "9000:localhost:8099"]).await.assert_error(500, "create_failed");
    let own = format!("4000:localhost:{}", server.addr.port());
    let message = create(&admin, &[&own]).await.assert_error(403, "forward_denied");
    assert!(message.contains("belongs to helmdeck"), "{message}");
}

#[tokio::test]
async fn ports_that_cannot_be_forwarded_are_refused_by_name() {
    let server = TestServer::start().await;
    let admin = server.token(&["admin"]);
    for (forward, part) in [
        (json!(["localhost:80"]), "8080:localhost:80"),
        (json!(["3128"]), "3129"),
        (json!(["10.0.0.1:80"]), "localhost:5173"),
        (json!(["5173", "localhost:5173"]), "named twice"),
        (json!([5173]), "forward"),
    ] {
        let body = json!({ "forward": forward });
        let message = server.post(SESSIONS, &admin, body).await.assert_error(400, "invalid_input");
        assert!(message.contains(part), "{forward}: {message}");
    }
    let path = "/api/v1/sessions/sess-x/forwards";
    server.get(path, &admin).await.assert_error(404, "not_found");
    server.delete("/api/v1/sessions/s/forwards/x", &admin).await.assert_error(400, "invalid_input");
    let client = "/api/v1/sessions/s/forwards/x/client";
    let refused = server.get(client, &admin).await;
    assert_eq!(refused.json()["field"], "port", "{}", refused.text());
}

#[tokio::test]
async fn a_start_page_of_a_port_that_is_not_forwarded_says_how_to_forward_it() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    server.runtime.never_ready();
    let url = "http://localhost:5173/";
    let made = client.post(&format!("{SESSIONS}?wait=false"), &json!({ "start_url": url })).await;
    let path = format!("{SESSIONS}/{}", made.expect(201).json()["id"].as_str().unwrap());
    let guest = eventually(SOON, async || server.runtime.guests().pop()).await.unwrap();
    let why = format!("{url} could not be loaded: net::ERR_CONNECTION_REFUSED");
    guest.refuse("browser_navigate", ErrorBody::new(ErrorCode::NavigationFailed, why));
    guest.report(Progress::Ready);
    let notes = eventually(SOON, async || {
        let session = client.get(&path).await.json();
        (session["status"] == "running").then(|| session["notes"].to_string())
    });
    let notes = notes.await.expect("it runs");
    assert!(notes.contains("start_url could not be opened"), "{notes}");
    assert!(notes.contains("/forwards") && notes.contains("helmdeck forward"), "{notes}");
}

#[tokio::test]
async fn the_egress_policy_can_be_tested() {
    let env = [("HELMDECK_EGRESS_ALLOWLIST", "10.9.0.0/16")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let agent = server.token(&["sessions:act"]);
    let ask = async |url: &str| -> Value {
        server.post("/api/v1/egress/test", &agent, json!({ "url": url })).await.json()
    };
    let opened = ask("http://10.9.1.1/").await;
    assert_eq!((&opened["allowed"], &opened["target"]), (&json!(true), &json!("10.9.1.1:80")));
    let closed = ask("https://10.8.1.1/").await;
    assert_eq!(closed["allowed"], false);
    assert!(closed["addresses"][0]["reason"].as_str().unwrap().contains("10.0.0.0/8"), "{closed}");
    let loopback = ask("host.helmdeck.internal:5173").await;
    assert!(loopback["explanation"].as_str().unwrap().contains("\"forward\""), "{loopback}");
    let own = ask(&format!("host.helmdeck.internal:{}", server.addr.port())).await;
    assert!(own["explanation"].as_str().unwrap().contains("helmdeck itself"), "{own}");
    let bad = json!({ "url": "http://1.2.3.4.5/" });
    let message = server.post("/api/v1/egress/test", &agent, bad).await;
    assert!(message.assert_error(400, "invalid_input").starts_with("url"));
}
