//! How sessions end by themselves.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::{Value, json};

/// Ending a session takes milliseconds; the machine may be busy.
const SOON: Duration = Duration::from_secs(10);

async fn ended(desk: &Desk<'_>) -> Value {
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    eventually(SOON, over).await.expect("it ends by itself")
}

#[tokio::test]
async fn a_session_that_nobody_calls_ends_as_idle() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 1 });
    let desk = Desk::create(&client, &spec).await;

    // Calls keep it alive beyond its limit, also one that takes longer than the limit itself.
    desk.act("wait", json!({ "seconds": 1.3 })).await;
    desk.act("wait", json!({ "seconds": 0.1 })).await;
    assert_eq!(desk.describe().await["status"], "running");

    let quiet = Instant::now();
    let session = ended(&desk).await;
    assert!(quiet.elapsed() > Duration::from_millis(800), "{:?}", quiet.elapsed());
    assert_eq!(
        (&session["status"], &session["end_reason"]),
        (&json!("terminated"), &json!("idle"))
    );
    desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.expect_error(410, "session_ended");
    let gone = async || server.installation.sandboxes().is_empty().then_some(());
    eventually(SOON, gone).await.expect("nothing is left");
    assert!(desk.log().await.contains("xvnc"), "its log is kept");
}

#[tokio::test]
async fn the_idle_limit_of_the_server_holds_for_sessions_without_their_own() {
    let server = Server::start_with(&[("HELMDECK_IDLE_TIMEOUT_S", "1")]);
    let client = server.client("agent", "sessions:*");
    let own = Desk::create(&client, &json!({ "idle_timeout_s": 0 })).await;
    let desk = Desk::create(&client, &json!({})).await;
    assert_eq!(desk.describe().await["spec"]["idle_timeout_s"], 1);
    assert_eq!(ended(&desk).await["end_reason"], "idle");
    assert_eq!(own.describe().await["status"], "running");
}

#[tokio::test]
async fn the_wall_clock_ends_a_session_whatever_it_does() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timeout_seconds": 6 });
    let desk = Desk::create(&client, &spec).await;
    let cut_off = desk.ask("wait", json!({ "seconds": 20 })).await;
    assert!(cut_off.status >= 400, "{}", cut_off.text());
    let session = desk.describe().await;
    assert_eq!(session["status"], "terminated");
    assert_eq!(session["end_reason"], "wall_clock");
}

#[tokio::test]
async fn a_session_ends_when_its_tasks_are_done() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "max_tasks": 2 });
    let desk = Desk::create(&client, &spec).await;
    desk.act("mouse_move", json!({ "x": 1, "y": 1 })).await;
    desk.act("mouse_move", json!({ "x": 2, "y": 2 })).await;
    let session = ended(&desk).await;
    assert_eq!(session["end_reason"], "max_tasks");
    assert_eq!(session["tasks"], 2);
    assert!(desk.ask("cursor_position", json!({})).await.status >= 400);
}
