//! Sessions whose guest has another version: an upgraded server can show and end them, and nothing
//! else.

use std::time::Duration;

use helmdeck_testkit::{Desk, Watcher, eventually, fake::FakeServer};
use helmdeck_wire::guest::LINK_VERSION;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);
const OTHER_VERSION: u32 = LINK_VERSION + 1;

/// A desktop whose server was replaced by one of another version.
async fn outdated(server: &mut FakeServer) -> String {
    let client = server.client("agent", "sessions:*");
    let id = Desk::desktop(&client).await.id;
    server.leave().await;
    server.runtime.guest(&id).speak_link(OTHER_VERSION);
    server.restart().await;
    id
}

#[tokio::test]
async fn a_session_of_another_version_is_shown_and_cannot_act() {
    let mut server = FakeServer::start().await;
    let id = outdated(&mut server).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "outdated", "{session}");
    assert_eq!(session["end_reason"], Value::Null, "{session}");
    let listed = client.get("/api/v1/sessions").await.expect(200).json();
    assert_eq!(listed["sessions"][0]["status"], "outdated", "{listed}");
    assert!(desk.log().await.contains("a fake one"), "its log can be read");
    for (action, body) in [
        ("click", json!({ "x": 1, "y": 1 })),
        ("screenshot", json!({})),
        ("launch", json!({ "command": "true" })),
    ] {
        desk.ask(action, body).await.expect_error(409, "session_outdated");
        assert_eq!(server.runtime.guest(&desk.id).bodies(action), [json!(null); 0]);
    }
    // People can still watch it.
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let ticket = client.post(&tickets, &json!({})).await.expect(201).json();
    let ticket = ticket["ticket"].as_str().unwrap();
    let vnc = format!("/api/v1/sessions/{}/vnc?ticket={ticket}", desk.id);
    let mut watcher = Watcher::open(&server, &vnc, &[]).await.unwrap();
    assert!(watcher.picture().await.iter().any(|byte| *byte != 0));
    // New sessions have the server's own version.
    let new = Desk::desktop(&client).await;
    new.act("click", json!({ "x": 300, "y": 300 })).await;
    assert_eq!(desk.describe().await["status"], "outdated");
}

#[tokio::test]
async fn a_session_of_another_version_can_be_ended_and_leaves_nothing() {
    let mut server = FakeServer::start().await;
    let id = outdated(&mut server).await;
    let stranger = server.client("someone", "sessions:*");
    stranger.get(&format!("/api/v1/sessions/{id}")).await.expect_error(404, "not_found");
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    assert_eq!(desk.describe().await["status"], "outdated");
    desk.end().await;
    assert!(server.runtime.guests().is_empty());
}

#[tokio::test]
async fn a_dead_session_of_another_version_is_eventually_shown_as_ended() {
    let mut server = FakeServer::start().await;
    let id = outdated(&mut server).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    assert_eq!(desk.describe().await["status"], "outdated");
    server.runtime.guest(&desk.id).die();
    let over = async || {
        // The server checks such sessions only from time to time.
        server.clock.advance(SOON);
        Some(desk.describe().await).filter(|now| now["status"] == "error")
    };
    let session = eventually(SOON, over).await.expect("the session reports its end");
    assert_eq!(session["end_reason"], "guest_lost", "{session}");
    let nothing = async || server.runtime.guests().is_empty().then_some(());
    eventually(SOON, nothing).await.expect("nothing is left");
}

#[tokio::test]
async fn a_new_guest_of_another_version_fails_the_start() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    server.runtime.speak_link(OTHER_VERSION);
    let message = client.post("/api/v1/sessions", &json!({})).await;
    let message = message.expect_error(500, "create_failed");
    assert!(message.contains(&format!("link version {OTHER_VERSION}")), "{message}");
    assert!(server.runtime.guests().is_empty());
}
