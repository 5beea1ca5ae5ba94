//! Clients that go away in the middle of a request.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Process, Server, eventually};
use serde_json::json;

/// Long enough for the request to arrive and begin, short enough to be in its middle.
const MIDWAY: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_key_that_was_held_for_a_client_that_left_is_let_go() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let began = Instant::now();
    let hold = json!({ "session_id": desk.id, "keys": "shift", "seconds": 20 });
    client.abandon("/api/v1/desktop/hold_key", &hold, MIDWAY).await;
    let key = json!({ "session_id": desk.id, "keys": "b" });
    client.post("/api/v1/desktop/key", &key).await.expect(200);
    desk.act("key", json!({ "keys": "a" })).await;
    desk.copy_all().await;
    desk.expect_clipboard("ba").await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn typing_stops_when_its_client_leaves() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let text = json!({ "session_id": desk.id, "text": "x".repeat(100), "delay_ms": 100 });
    client.abandon("/api/v1/desktop/type", &text, MIDWAY * 3).await;
    let began = Instant::now();
    desk.act("type", json!({ "text": "end" })).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    desk.copy_all().await;
    let typed = async || Some(desk.clipboard().await).filter(|text| text.ends_with("end"));
    let typed = eventually(Duration::from_secs(5), typed).await.expect("the text");
    assert!((4..40).contains(&typed.len()), "{typed}");
}

#[tokio::test]
async fn a_create_request_whose_client_left_leaves_no_session() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600" });
    client.abandon("/api/v1/sessions", &spec, MIDWAY * 2).await;
    let none = async || {
        let list = client.get("/api/v1/sessions").await.expect(200).json();
        let sessions = list["sessions"].as_array().unwrap().clone();
        let alive = |status: &str| status == "starting" || status == "running";
        let over = !sessions.iter().any(|session| alive(session["status"].as_str().unwrap()));
        (over && server.installation.sandboxes().is_empty()).then_some(())
    };
    eventually(Duration::from_secs(10), none).await.expect("the session is ended");
    assert_eq!(Process::in_sandboxes(&server.run_dir()), []);
}
