//! The server is killed during an action: nothing stays pressed, the action stops, and the next
//! server finds a working session.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::{Value, json};

/// For a busy machine. The killed actions would take much longer.
const SOON: Duration = Duration::from_secs(20);

/// A desktop with an empty text field. Its server is killed once an action has started, and then
/// restarted. The number of tasks tells whether it has started.
async fn killed_during(
    action: &str,
    mut body: Value,
    begun: impl AsyncFnOnce(&Desk<'_>, u64),
) -> (Server, String) {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_key_field().await;
    body["session_id"] = desk.id.clone().into();
    let path = format!("/api/v1/desktop/{action}");
    let tasks = desk.describe().await["tasks"].as_u64().unwrap();
    // The client's connection stays open, so that only the server's end cancels the action.
    let killing = async {
        begun(&desk, tasks).await;
        server.kill();
    };
    client.abandon(&path, &body, killing).await;
    let id = desk.id.clone();
    server.restart();
    (server, id)
}

#[tokio::test]
async fn held_keys_are_released_when_the_server_is_killed() {
    let hold = json!({ "keys": "shift", "seconds": 30 });
    let held = async |desk: &Desk<'_>, _: u64| drop(desk.titled("down Shift").await);
    let (server, id) = killed_during("hold_key", hold, held).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    desk.titled("up Shift").await;
    desk.act("key", json!({ "keys": "b" })).await;
    desk.act("key", json!({ "keys": "a" })).await;
    desk.copy_all().await;
    desk.expect_clipboard("ba").await;
    desk.end().await;
}

#[tokio::test]
async fn a_held_letter_stops_repeating_when_the_server_is_killed() {
    let hold = json!({ "keys": "x", "seconds": 30 });
    // A key that is held repeats.
    let held = async |desk: &Desk<'_>, _: u64| drop(desk.titled("repeat x").await);
    let (server, id) = killed_during("hold_key", hold, held).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    desk.titled("up x").await;
    desk.act("type", json!({ "text": "." })).await;
    desk.copy_all().await;
    let typed = async || Some(desk.clipboard().await).filter(|all| all.ends_with('.'));
    let typed = eventually(SOON, typed).await.expect("the whole text");
    let before = typed.trim_end_matches('.');
    assert!(before.len() > 1 && before.chars().all(|c| c == 'x'), "{typed:?}");
    desk.end().await;
}

#[tokio::test]
async fn typing_stops_when_the_server_is_killed_and_the_next_text_is_whole() {
    let text = json!({ "text": "x".repeat(500), "delay_ms": 100 });
    let typing = async |desk: &Desk<'_>, _: u64| drop(desk.titled("up x").await);
    let (server, id) = killed_during("type", text, typing).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    desk.act("type", json!({ "text": "Ende, größer" })).await;
    desk.copy_all().await;
    let typed = async || Some(desk.clipboard().await).filter(|all| all.ends_with("Ende, größer"));
    let typed = eventually(SOON, typed).await.expect("the whole text");
    let before = typed.trim_end_matches("Ende, größer");
    assert!((1..500).contains(&before.len()) && before.chars().all(|c| c == 'x'), "{typed:?}");
    desk.end().await;
}

#[tokio::test]
async fn a_wait_of_a_killed_server_does_not_block_later_calls() {
    let begun = async |desk: &Desk<'_>, before: u64| {
        let more = async || desk.describe().await["tasks"].as_u64().filter(|now| *now > before);
        eventually(SOON, more).await.expect("the wait has begun");
    };
    let (server, id) = killed_during("wait", json!({ "seconds": 500 }), begun).await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
    desk.act("wait", json!({ "seconds": 0.1 })).await;
    desk.end().await;
    assert_eq!(server.installation.sandboxes(), [""; 0]);
}
