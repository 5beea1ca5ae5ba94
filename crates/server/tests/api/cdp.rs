//! Access to the browser's debugging protocol.

use helmdeck_testkit::{Client, Debugger, Desk, Refused, fake::FakeServer};
use serde_json::{Value, json};

/// A ticket for a session.
async fn ticket(client: &Client, desk: &Desk<'_>, wanted: Value) -> Value {
    let path = format!("/api/v1/sessions/{}/tickets", desk.id);
    client.post(&path, &wanted).await.expect(201).json()
}

/// Path and query of one of our URLs.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").expect("an address").1;
    &rest[rest.find('/').expect("a path")..]
}

#[tokio::test]
async fn connecting_needs_the_right_to_act() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    let refused = async |path: &str, headers: &[(&'static str, &str)]| {
        Debugger::open(&server, path, headers).await.err().expect("it is refused")
    };
    assert_eq!(refused(&door, &[]).await, Refused(401, "missing_bearer".into()));
    let view = ticket(&client, &desk, json!({ "role": "view" })).await;
    assert!(view.get("cdp_url").is_none());
    let by_view = format!("{door}?ticket={}", view["ticket"].as_str().unwrap());
    assert_eq!(refused(&by_view, &[]).await, Refused(403, "forbidden".into()));
    let tampered = format!("{door}?ticket={}x", view["ticket"].as_str().unwrap());
    assert_eq!(refused(&tampered, &[]).await, Refused(401, "invalid_ticket".into()));
    let reader = format!("Bearer {}", server.token("admin", "sessions:read"));
    let by_reader = refused(&door, &[("authorization", &reader)]).await;
    assert_eq!(by_reader, Refused(403, "forbidden".into()));
    let stranger = format!("Bearer {}", server.token("other", "sessions:*"));
    let by_stranger = refused(&door, &[("authorization", &stranger)]).await;
    assert_eq!(by_stranger, Refused(404, "not_found".into()));
    let control = ticket(&client, &desk, json!({ "role": "control" })).await;
    let by_control = path(control["cdp_url"].as_str().unwrap()).to_owned();
    let foreign = refused(&by_control, &[("origin", "http://evil.example")]).await;
    assert_eq!(foreign, Refused(403, "foreign_origin".into()));
    assert!(server.runtime.guest(&desk.id).bodies("cdp_command").is_empty());

    // One connection at a time, until the ticket is revoked.
    let mut first = Debugger::open(&server, &by_control, &[]).await.unwrap();
    assert_eq!(refused(&by_control, &[]).await, Refused(409, "ticket_in_use".into()));
    first.call(None, "Browser.getVersion", json!({})).await;
    let revoke =
        format!("/api/v1/sessions/{}/tickets/{}", desk.id, control["id"].as_str().unwrap());
    client.delete(&revoke).await.expect(204);
    assert_eq!(first.closed().await.0, 4001);
}

#[tokio::test]
async fn while_a_person_drives_input_of_a_client_does_not_reach_the_guest() {
    let server = FakeServer::start().await;
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let bearer = format!("Bearer {}", server.token("agent", "sessions:*"));
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    let mut browser = Debugger::open(&server, &door, &[("authorization", &bearer)]).await.unwrap();
    let page = browser.open_page("about:blank").await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let text = json!({ "text": "no" });
    let refused = browser.ask(Some(&page), "Input.insertText", text).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("has control"), "{refused}");
    browser.call(Some(&page), "Page.captureScreenshot", json!({})).await;
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    browser.call(Some(&page), "Input.insertText", json!({ "text": "yes" })).await;
    let commands = server.runtime.guest(&desk.id).bodies("cdp_command");
    let typed: Vec<_> = commands.iter().filter(|it| it["method"] == "Input.insertText").collect();
    assert_eq!(typed.len(), 1, "{typed:?}");
    assert_eq!(typed[0]["params"]["text"], "yes");
}
