//! How sessions end by themselves. The test controls time.

use std::time::Duration;

use helmdeck_testkit::{
    Desk, eventually,
    fake::{FakeServer, State},
};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);
/// Ending a session takes milliseconds, but the machine may be busy.
const SOON: Duration = Duration::from_secs(20);

async fn ended(desk: &Desk<'_>) -> Value {
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    eventually(SOON, over).await.expect("it ends by itself")
}

/// Waits until all sessions are completely removed.
async fn nothing_left(server: &FakeServer) {
    let gone = async || server.runtime.guests().is_empty().then_some(());
    eventually(SOON, gone).await.expect("nothing is left");
}

#[tokio::test]
async fn a_session_without_calls_ends_as_idle() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 60 });
    let desk = Desk::create(&client, &spec).await;
    let guest = server.runtime.guest(&desk.id);

    // Calls postpone its end, including a call that takes longer than the limit.
    server.clock.advance(50 * SECOND);
    desk.act("cursor_position", json!({})).await;
    server.clock.advance(50 * SECOND);
    guest.hold("wait");
    let long = async {
        guest.until("wait", State::UnderWay).await;
        server.clock.advance(600 * SECOND);
        assert_eq!(desk.describe().await["status"], "running");
        guest.release("wait");
    };
    tokio::join!(long, desk.act("wait", json!({ "seconds": 30 })));
    server.clock.advance(50 * SECOND);
    assert_eq!(desk.describe().await["status"], "running");

    server.clock.advance(11 * SECOND);
    let session = ended(&desk).await;
    assert_eq!(
        (&session["status"], &session["end_reason"]),
        (&json!("terminated"), &json!("idle"))
    );
    desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.expect_error(410, "session_ended");
    nothing_left(&server).await;
    assert!(desk.log().await.contains("a fake one"), "its log is kept");
}

#[tokio::test]
async fn reading_does_not_postpone_the_idle_end_but_keep_alive_does() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({ "idle_timeout_s": 60 })).await;
    let path = format!("/api/v1/sessions/{}/keep-alive", desk.id);
    let before = desk.describe().await["idle_ends_at"].as_str().unwrap().to_owned();
    server.clock.advance(40 * SECOND);
    let kept = client.post(&path, &Value::Null).await.expect(200).json();
    assert!(kept["idle_ends_at"].as_str().unwrap() > before.as_str(), "{before} {kept}");
    server.clock.advance(40 * SECOND);
    assert_eq!(desk.describe().await["status"], "running");
    desk.log().await;
    server.clock.advance(21 * SECOND);
    assert_eq!(ended(&desk).await["end_reason"], "idle");
    client.post(&path, &Value::Null).await.expect_error(410, "session_ended");
}

#[tokio::test]
async fn the_servers_idle_limit_applies_to_sessions_without_one() {
    let server = FakeServer::start_with(&[("HELMDECK_IDLE_TIMEOUT_S", "60")]).await;
    let client = server.client("agent", "sessions:*");
    let own = Desk::create(&client, &json!({ "idle_timeout_s": 0 })).await;
    let desk = Desk::create(&client, &json!({})).await;
    assert_eq!(desk.describe().await["spec"]["idle_timeout_s"], 60);
    server.clock.advance(61 * SECOND);
    assert_eq!(ended(&desk).await["end_reason"], "idle");
    assert_eq!(own.describe().await["status"], "running");
}

#[tokio::test]
async fn the_wall_clock_ends_a_session_whatever_it_does() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timeout_seconds": 600 });
    let desk = Desk::create(&client, &spec).await;
    let guest = server.runtime.guest(&desk.id);
    guest.hold("wait");
    let late = async {
        guest.until("wait", State::UnderWay).await;
        server.clock.advance(590 * SECOND);
        assert_eq!(desk.describe().await["status"], "running");
        server.clock.advance(11 * SECOND);
    };
    let (_, cut_off) = tokio::join!(late, desk.ask("wait", json!({ "seconds": 20 })));
    cut_off.expect_error(410, "session_ended");
    let session = desk.describe().await;
    assert_eq!(session["status"], "terminated");
    assert_eq!(session["end_reason"], "wall_clock");
    nothing_left(&server).await;
}

#[tokio::test]
async fn a_session_ends_when_its_tasks_are_done() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "max_tasks": 2 });
    let desk = Desk::create(&client, &spec).await;
    desk.act("mouse_move", json!({ "x": 1, "y": 1 })).await;
    desk.act("mouse_move", json!({ "x": 2, "y": 2 })).await;
    let session = ended(&desk).await;
    assert_eq!(session["end_reason"], "max_tasks");
    assert_eq!(session["tasks"], 2);
    desk.ask("cursor_position", json!({})).await.expect_error(410, "session_ended");
}

#[tokio::test]
async fn an_ended_session_keeps_its_last_picture_and_status() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/sessions/{}", desk.id);
    desk.act("agent_status", json!({ "status": "Reading" })).await;
    client.get(&format!("{path}/last-picture")).await.expect_error(404, "not_found");
    desk.end().await;
    let ended = client.get(&format!("{path}/ended")).await.expect(200).json();
    assert_eq!((&ended["agent_status"], &ended["last_picture"]), (&json!("Reading"), &json!(true)));
    let picture = client.get(&format!("{path}/last-picture")).await.expect(200);
    assert_eq!(picture.header("content-type"), "image/jpeg");
    assert!(picture.body.starts_with(&[0xff, 0xd8]));
    let recent = client.get("/api/v1/sessions?state=ended").await.json();
    assert_eq!(recent["sessions"][0]["id"], desk.id);
    let other = server.client("other", "sessions:*");
    other.get(&format!("{path}/last-picture")).await.expect_error(404, "not_found");
}
