//! Many sessions at once, isolated from each other.

use helmdeck_testkit::{Client, Desk, Server};
use serde_json::json;
use tokio::task::{JoinSet, LocalSet};

#[tokio::test]
async fn text_typed_into_eight_sessions_at_once_is_never_mixed() {
    let server = Server::start_with(&[("HELMDECK_MAX_SESSIONS", "8")]);
    let typed = async || {
        let mut sessions = JoinSet::new();
        for number in 0..8 {
            let client = server.client(&format!("agent-{number}"), "sessions:*");
            sessions.spawn_local(async move { type_and_read_back(&client, number).await });
        }
        sessions.join_all().await
    };
    let mut ids = LocalSet::new().run_until(typed()).await;
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}

async fn type_and_read_back(client: &Client, number: u32) -> String {
    let spec = json!({ "mode": "desktop", "geometry": "640x480" });
    let desk = Desk::create(client, &spec).await;
    desk.open_field().await;
    let mut text = String::new();
    for round in 0..5 {
        let part = format!("session {number} round {round} №{number} ✓\n");
        desk.act("type", json!({ "text": part })).await;
        desk.act("mouse_move", json!({ "x": number, "y": round })).await;
        assert_eq!(
            desk.act("cursor_position", json!({})).await,
            json!({ "x": number, "y": round })
        );
        text += &part;
    }
    desk.copy_all().await;
    desk.expect_clipboard(&text).await;
    desk.id.clone()
}

#[tokio::test]
async fn calls_to_one_session_take_turns_and_all_succeed() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let mut calls = JoinSet::new();
    for number in 0..6 {
        let (client, id) = (server.client("agent", "sessions:*"), desk.id.clone());
        calls.spawn(async move {
            let desk = Desk { client: &client, id };
            let word = char::from(b'a' + number).to_string().repeat(20);
            desk.act("type", json!({ "text": format!("{word}.") })).await;
            let picture = desk.ask("screenshot", json!({ "format": "jpeg" })).await.expect(200);
            picture.header("x-helmdeck-screenshot-id").to_owned()
        });
    }
    let mut ids: Vec<String> = calls.join_all().await;
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "each picture has a unique id");

    // Each text arrived whole, in any order.
    desk.copy_all().await;
    let words = |text: &str| {
        let mut words: Vec<_> = text.split_terminator('.').map(str::to_owned).collect();
        words.sort();
        words
    };
    let expected = words(&('a'..='f').map(|c| c.to_string().repeat(20) + ".").collect::<String>());
    let typed = async || Some(desk.clipboard().await).filter(|text| words(text) == expected);
    let patience = std::time::Duration::from_secs(5);
    if helmdeck_testkit::eventually(patience, typed).await.is_none() {
        assert_eq!(words(&desk.clipboard().await), expected);
    }
}
