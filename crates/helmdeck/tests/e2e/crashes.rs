//! The server is killed in the middle of an action: nothing stays pressed, nothing goes on, and the
//! next server finds a session that obeys.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::{Value, json};

/// Long enough for the request to arrive and begin, short enough to be in its middle.
const MIDWAY: Duration = Duration::from_millis(500);
/// A busy machine; the actions that are killed would take much longer.
const SOON: Duration = Duration::from_secs(15);

/// A desktop with an empty text field, whose server is killed during an action and started again.
async fn killed_during(action: &str, mut body: Value) -> (Server, String) {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    body["session_id"] = desk.id.clone().into();
    let path = format!("/api/v1/desktop/{action}");
    // The client's connection lives on, so that it is the server's end that cancels the action.
    let asking = client.abandon(&path, &body, 2 * MIDWAY);
    let killing = async {
        tokio::time::sleep(MIDWAY).await;
        server.kill();
    };
    tokio::join!(asking, killing);
    let id = desk.id.clone();
    server.restart();
    (server, id)
}

/// What the field holds.
async fn field(desk: &Desk<'_>) -> String {
    desk.copy_all().await;
    // An answer that has not changed may be the one from before: the copy takes a moment.
    tokio::time::sleep(MIDWAY).await;
    desk.clipboard().await
}

#[tokio::test]
async fn a_key_that_was_held_when_the_server_was_killed_is_let_go() {
    let (server, id) = killed_during("hold_key", json!({ "keys": "shift", "seconds": 60 })).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let began = Instant::now();
    desk.act("key", json!({ "keys": "b" })).await;
    desk.act("key", json!({ "keys": "a" })).await;
    desk.copy_all().await;
    desk.expect_clipboard("ba").await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    desk.end().await;
}

#[tokio::test]
async fn a_letter_that_was_held_when_the_server_was_killed_does_not_repeat() {
    let (server, id) = killed_during("hold_key", json!({ "keys": "x", "seconds": 60 })).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let typed = field(&desk).await;
    assert!(!typed.is_empty() && typed.chars().all(|c| c == 'x'), "it was held: {typed:?}");
    desk.act("key", json!({ "keys": "End" })).await;
    desk.act("wait", json!({ "seconds": 1 })).await;
    assert_eq!(field(&desk).await, typed, "it is no longer held");
    desk.end().await;
}

#[tokio::test]
async fn typing_stops_when_the_server_is_killed_and_the_next_text_is_whole() {
    let text = json!({ "text": "x".repeat(500), "delay_ms": 100 });
    let (server, id) = killed_during("type", text).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let began = Instant::now();
    desk.act("type", json!({ "text": "Ende, größer" })).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    desk.copy_all().await;
    let typed = async || Some(desk.clipboard().await).filter(|all| all.ends_with("Ende, größer"));
    let typed = eventually(SOON, typed).await.expect("the whole text");
    let before = typed.trim_end_matches("Ende, größer");
    assert!((1..200).contains(&before.len()) && before.chars().all(|c| c == 'x'), "{typed:?}");
    desk.end().await;
}

#[tokio::test]
async fn a_wait_that_the_server_did_not_survive_holds_nobody_up() {
    let (server, id) = killed_during("wait", json!({ "seconds": 500 })).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    let began = Instant::now();
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
    desk.act("wait", json!({ "seconds": 0.1 })).await;
    desk.end().await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(server.installation.sandboxes(), [""; 0]);
}
