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
async fn an_idle_end_is_told_and_put_off_and_what_is_left_of_the_session_can_be_seen() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 600,
        "start_url": "data:text/html,<title>first</title>" });
    let desk = Desk::create(&client, &spec).await;
    desk.titled("first").await;
    assert_eq!(desk.browser("execute", json!({ "script": "1" })).await.status, 200);
    desk.act("agent_status", json!({ "status": "Reading" })).await;
    let path = format!("/api/v1/sessions/{}", desk.id);
    let before = desk.describe().await;
    assert!(before["agent_acted_at"].is_string(), "{before}");
    let kept = client.post(&format!("{path}/keep-alive"), &Value::Null).await.expect(200).json();
    assert!(kept["idle_ends_at"].as_str() > before["idle_ends_at"].as_str(), "{before} {kept}");
    client.get(&format!("{path}/last-picture")).await.expect_error(404, "not_found");

    desk.end().await;
    let ended = client.get(&format!("{path}/ended")).await.expect(200).json();
    assert_eq!(
        (&ended["status"], &ended["end_reason"]),
        (&json!("terminated"), &json!("requested"))
    );
    assert_eq!((&ended["agent_status"], &ended["last_picture"]), (&json!("Reading"), &json!(true)));
    let picture = client.get(&format!("{path}/last-picture")).await.expect(200);
    assert_eq!(picture.header("content-type"), "image/jpeg");
    assert!(picture.body.starts_with(&[0xff, 0xd8]) && picture.body.len() < 256 << 10);
    let recent = client.get("/api/v1/sessions?state=ended").await.json();
    assert_eq!(recent["sessions"][0]["id"], desk.id);
    let actions = client.get(&format!("{path}/actions")).await.json();
    let said = actions["actions"].as_array().unwrap().iter();
    let said: Vec<_> = said.filter(|one| one["action"] == "agent_status").collect();
    assert_eq!(said[0]["detail"], json!({ "status": "Reading" }));
    assert!(client.post(&format!("{path}/keep-alive"), &Value::Null).await.status >= 400);
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
