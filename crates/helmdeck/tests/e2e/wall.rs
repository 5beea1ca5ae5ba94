//! Small live pictures of many sessions.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use helmdeck_testkit::{Desk, Server, Watcher};
use serde_json::json;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn the_wall_shows_the_sessions_it_is_asked_for_and_only_when_they_change() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.browse("<title>calm</title>", "calm").await;
    let strange = server.client("other", "sessions:*");
    let theirs = Desk::desktop(&strange).await;
    let bearer = format!("Bearer {}", server.token("agent", "sessions:*"));
    let headers = [("authorization", bearer.as_str())];
    let mut wall = Watcher::socket(&server, "/api/v1/wall", &headers).await.unwrap();
    let watch = json!({ "watch": [desk.id, theirs.id, "sess-none"], "width": 320 });
    wall.send(Message::Text(watch.to_string().into())).await.unwrap();

    let mut next = async |patience: u64| loop {
        match timeout(Duration::from_secs(patience), wall.next()).await.ok()?? {
            Ok(Message::Binary(frame)) => return Some(frame),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    let first = next(15).await.expect("a picture at once");
    let length = usize::from(first[0]);
    assert_eq!(&first[1..=length], desk.id.as_bytes());
    assert_eq!(&first[1 + length..][..3], [0xff, 0xd8, 0xff], "a JPEG");
    // A still screen sends nothing; a clock in the panel or a caret may change once more.
    while next(3).await.is_some() {}
    desk.browse("<title>other</title><body style='background:red'>", "other").await;
    let changed = next(15).await.expect("a picture of the change");
    assert_eq!(&changed[1..=length], desk.id.as_bytes());
}
