//! Clients that disconnect during a request.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn held_keys_are_released_when_the_client_disconnects() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_key_field().await;
    let hold = json!({ "session_id": desk.id, "keys": "shift", "seconds": 30 });
    let held = async { drop(desk.titled("down Shift").await) };
    client.abandon("/api/v1/desktop/hold_key", &hold, held).await;
    // Long before its time is over.
    desk.titled("up Shift").await;
    desk.act("key", json!({ "keys": "b" })).await;
    desk.act("key", json!({ "keys": "a" })).await;
    desk.copy_all().await;
    desk.expect_clipboard("ba").await;
}

#[tokio::test]
async fn typing_stops_when_the_client_disconnects() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_key_field().await;
    let text = json!({ "session_id": desk.id, "text": "x".repeat(200), "delay_ms": 100 });
    let typing = async { drop(desk.titled("up x").await) };
    client.abandon("/api/v1/desktop/type", &text, typing).await;
    desk.act("type", json!({ "text": "end" })).await;
    desk.copy_all().await;
    let typed = async || Some(desk.clipboard().await).filter(|text| text.ends_with("end"));
    let typed = eventually(SOON, typed).await.expect("the text");
    let before = typed.trim_end_matches("end");
    // Without cancellation, the second text would follow all of the first.
    assert!((1..200).contains(&before.len()) && before.chars().all(|c| c == 'x'), "{typed}");
}
