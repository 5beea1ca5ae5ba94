//! Live events.

use helmdeck_testkit::{Desk, Listener, fake::FakeServer};
use serde_json::json;

#[tokio::test]
async fn a_listener_gets_events_of_its_sessions_and_continues_after_a_reconnect() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let client = server.client("agent", "sessions:*");
    let mut listener = Listener::open(&server, &token, None).await;

    let desk = Desk::desktop(&client).await;
    let created = listener.until("session").await;
    assert_eq!(created.data["id"], desk.id);
    desk.act("agent_status", json!({ "status": "step 1" })).await;
    let status = listener.until("agent_status").await;
    assert_eq!(status.data, json!({ "session_id": desk.id, "status": "step 1" }));
    drop(listener);

    desk.act("click", json!({ "x": 3, "y": 4 })).await;
    let mut again = Listener::open(&server, &token, Some(&status.id)).await;
    // A status message is recorded as an action, too.
    assert_eq!(again.until("action").await.data["action"], "agent_status");
    let acted = again.until("action").await;
    assert_eq!((&acted.data["action"], &acted.data["detail"]["x"]), (&json!("click"), &json!(3)));
    let path = format!("/api/v1/sessions/{}/control/take", desk.id);
    server.person().post(&path, &json!({})).await.expect(200);
    let control = again.until("control").await;
    assert_eq!((&control.data["driver"], &control.data["yours"]), (&json!("human"), &json!(false)));
    desk.end().await;
    let gone = again.until("session_gone").await.data;
    assert_eq!((&gone["id"], &gone["end_reason"]), (&json!(desk.id), &json!("requested")));
    assert!(gone["ended_at"].is_string(), "{gone}");
}

#[tokio::test]
async fn a_listener_with_an_unknown_event_id_gets_a_reset() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let mut lost = Listener::open(&server, &token, Some("elsewhere-12")).await;
    assert_eq!(lost.next().await.name, "reset");
}

#[tokio::test]
async fn a_listener_gets_no_events_of_other_owners() {
    let server = FakeServer::start().await;
    let (one, two) = (server.client("one", "sessions:*"), server.client("two", "sessions:*"));
    let mut listener = Listener::open(&server, &server.token("two", "sessions:*"), None).await;
    let theirs = Desk::desktop(&one).await;
    theirs.act("click", json!({ "x": 3, "y": 4 })).await;
    theirs.end().await;
    // Events are ordered: the first one belongs to its own session.
    let own = Desk::desktop(&two).await;
    let first = listener.next().await;
    assert_eq!((first.name.as_str(), &first.data["id"]), ("session", &json!(own.id)));
}

#[tokio::test]
async fn a_listener_gets_the_idle_end_of_a_session() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let client = server.bearer(token.clone());
    let mut listener = Listener::open(&server, &token, None).await;
    let desk = Desk::create(&client, &json!({ "idle_timeout_s": 60 })).await;
    let idle = listener.until("idle").await.data;
    assert_eq!(idle["id"].as_str().or(idle["session_id"].as_str()), Some(desk.id.as_str()));
    assert!(idle["idle_ends_at"].is_string(), "{idle}");
}
