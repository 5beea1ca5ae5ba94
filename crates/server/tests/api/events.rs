//! What happens, as it happens.

use helmdeck_testkit::{Desk, Listener, fake::FakeServer};
use serde_json::json;

#[tokio::test]
async fn a_listener_hears_of_its_sessions_and_goes_on_where_it_was() {
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
    // A status message stands in the log of actions, too.
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
async fn a_listener_that_was_elsewhere_is_told_to_fetch_everything_again() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let mut lost = Listener::open(&server, &token, Some("elsewhere-12")).await;
    assert_eq!(lost.next().await.name, "reset");
}

#[tokio::test]
async fn a_listener_hears_nothing_of_the_sessions_of_others() {
    let server = FakeServer::start().await;
    let (one, two) = (server.client("one", "sessions:*"), server.client("two", "sessions:*"));
    let mut listener = Listener::open(&server, &server.token("two", "sessions:*"), None).await;
    let theirs = Desk::desktop(&one).await;
    theirs.act("click", json!({ "x": 3, "y": 4 })).await;
    theirs.end().await;
    // Events come in the order of what happened: the first one is of its own session.
    let own = Desk::desktop(&two).await;
    let first = listener.next().await;
    assert_eq!((first.name.as_str(), &first.data["id"]), ("session", &json!(own.id)));
}

#[tokio::test]
async fn a_listener_hears_when_an_idle_session_will_end() {
    let server = FakeServer::start().await;
    let token = server.token("agent", "sessions:*");
    let client = server.bearer(token.clone());
    let mut listener = Listener::open(&server, &token, None).await;
    let desk = Desk::create(&client, &json!({ "idle_timeout_s": 60 })).await;
    let idle = listener.until("idle").await.data;
    assert_eq!(idle["id"].as_str().or(idle["session_id"].as_str()), Some(desk.id.as_str()));
    assert!(idle["idle_ends_at"].is_string(), "{idle}");
}
