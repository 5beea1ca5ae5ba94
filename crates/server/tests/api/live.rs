//! Watching: tickets, their ids, and sessions that are not ready.

use helmdeck_store::Store;
use http::Method;
use serde_json::json;

use crate::{client::TestServer, nowhere::Nowhere};

const DESKTOP: &str = r#"{"mode": "desktop"}"#;

async fn start() -> TestServer {
    TestServer::start_with(&[], Nowhere { slow: true, ..Nowhere::default() }).await
}

async fn desktop(server: &TestServer, token: &str) -> String {
    let made = server.post("/api/v1/sessions?wait=false", token, DESKTOP).await;
    made.json()["id"].as_str().unwrap().to_owned()
}

fn upgrade(server: &TestServer, path: &str, token: &str) -> http::request::Builder {
    server
        .request(Method::GET, path, token)
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

#[tokio::test]
async fn the_desktop_of_a_session_that_is_starting_is_a_503() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let path = format!("/api/v1/sessions/{id}/vnc");
    let answer = server.send(upgrade(&server, &path, &token), "").await;
    answer.assert_error(503, "unavailable");
    assert_eq!(answer.header("retry-after"), "1");
}

#[tokio::test]
async fn the_address_of_a_desktop_asks_to_resize_it() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let answer = server.get(&format!("/api/v1/desktop/vnc-url?session_id={id}"), &token).await;
    let url = answer.json()["url"].as_str().unwrap().to_owned();
    assert!(url.contains("/vnc.html?autoconnect=true&resize=remote&"), "{url}");
}

#[tokio::test]
async fn a_ticket_is_revoked_by_its_own_session_only_and_made_up_ids_are_not_stored() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let (one, two) = (desktop(&server, &token).await, desktop(&server, &token).await);
    let tickets = |id: &str| format!("/api/v1/sessions/{id}/tickets");
    let ticket = server.post(&tickets(&one), &token, "{}").await.json();
    let id = ticket["id"].as_str().unwrap();

    let elsewhere = server.delete(&format!("{}/{id}", tickets(&two)), &token).await;
    elsewhere.assert_error(404, "not_found");
    for n in 0..100 {
        let made_up = format!("{}/tick-{n:032x}", tickets(&one));
        server.delete(&made_up, &token).await.assert_error(404, "not_found");
        let made_up = format!("{made_up}-AAAAAAAAAAAAAAAA");
        server.delete(&made_up, &token).await.assert_error(404, "not_found");
    }
    let store = Store::open(&server.config.data_dir).await.unwrap();
    assert!(store.revoked().await.unwrap().is_empty());

    let revoked = server.delete(&format!("{}/{id}", tickets(&one)), &token).await;
    assert_eq!(revoked.status, 204);
    assert_eq!(store.revoked().await.unwrap().len(), 1);
    let text = ticket["ticket"].as_str().unwrap();
    let events = format!("/api/v1/events?session_id={one}&ticket={text}");
    server.get(&events, "").await.assert_error(401, "invalid_ticket");
}

#[tokio::test]
async fn a_page_of_another_site_opens_a_live_view_if_its_origin_is_allowed_and_has_a_ticket() {
    let env = [("HELMDECK_ALLOWED_ORIGINS", "https://novnc.example, http://other.example:8080")];
    let server = TestServer::start_with(&env, Nowhere { slow: true, ..Nowhere::default() }).await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let ticket = server.post(&format!("/api/v1/sessions/{id}/tickets"), &token, "{}").await.json();
    let path = format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap());
    let from = async |path: &str, origin: &str, cookie: &str| {
        let request = upgrade(&server, path, "").header("origin", origin).header("cookie", cookie);
        server.send(request, "").await
    };
    // The session is starting: whoever is let through is told so.
    for allowed in ["https://novnc.example", "http://other.example:8080"] {
        from(&path, allowed, "").await.assert_error(503, "unavailable");
    }
    from(&path, "https://evil.example", "").await.assert_error(403, "foreign_origin");
    let cookie = format!("helmdeck-{}={token}", server.addr.port());
    let path = format!("/api/v1/sessions/{id}/vnc");
    let refused = from(&path, "https://novnc.example", &cookie).await;
    refused.assert_error(403, "foreign_origin");
}

#[tokio::test]
async fn a_ticket_may_say_how_long_its_connections_last_and_whom_it_is_for() {
    let server = start().await;
    let token = server.token(&["sessions:*"]);
    let id = desktop(&server, &token).await;
    let path = format!("/api/v1/sessions/{id}/tickets");
    let wanted = json!({ "max_connection_s": 60, "label": "for Ann" });
    assert_eq!(server.post(&path, &token, wanted).await.status, 201);
    for bad in [json!({ "max_connection_s": 0 }), json!({ "label": "x".repeat(101) })] {
        server.post(&path, &token, bad).await.assert_error(400, "invalid_input");
    }
}
