//! Windows and the keyboard focus.

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

#[tokio::test]
async fn a_new_desktop_has_a_maximised_browser_with_the_keyboard() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/desktop/windows?session_id={}", desk.id);
    let reply = client.get(&path).await.expect(200).json();
    let windows = reply["windows"].as_array().expect("a list");
    assert_eq!(reply["count"], windows.len());
    let browser = windows.iter().find(|window| window["class"] == "Chromium").expect("a browser");
    assert_eq!((&browser["x"], &browser["width"]), (&json!(0), &json!(1280)), "{browser}");
    assert_eq!(browser["focused"], true, "{browser}");
    desk.titled("about:blank").await;
}

#[tokio::test]
async fn a_launched_programs_window_is_listed_and_can_be_focused() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let mut terminals = Vec::new();
    for (title, x) in [("left", 10), ("right", 500)] {
        let args = json!(["-geometry", format!("40x10+{x}+30"), "-title", title]);
        let launched = desk.act("launch", json!({ "command": "xterm", "args": args })).await;
        // The window manager places it and then draws its frame.
        let placed =
            |w: &Value| w["name"] == title && (x..x + 20).contains(&w["x"].as_i64().unwrap());
        let window = desk.window(&format!("{title}, {x} pixels from the left"), placed).await;
        assert_eq!(window["pid"], launched["pid"], "{window}");
        assert_eq!(window["class"], "XTerm");
        assert_eq!(window["minimized"], false);
        assert!(window["width"].as_u64().unwrap() > 100 && window["height"].as_u64().unwrap() > 50);
        let id = window["id"].as_str().expect("text");
        assert!(id.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
        terminals.push((title, window));
    }

    for (title, window) in terminals.iter().chain(&terminals) {
        desk.act("focus", json!({ "window_id": window["id"] })).await;
        let focused: Vec<_> =
            desk.windows().await.into_iter().filter(|window| window["focused"] == true).collect();
        assert_eq!(focused.len(), 1, "{focused:?}");
        assert_eq!(focused[0]["name"], *title);
    }
}

#[tokio::test]
async fn focusing_restores_a_minimised_window() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.act("launch", json!({ "command": "xterm", "args": ["-iconic", "-title", "small"] })).await;
    let is_minimised = |window: &Value| window["name"] == "small" && window["minimized"] == true;
    let window = desk.window("minimised", is_minimised).await;
    desk.act("focus", json!({ "window_id": window["id"] })).await;
    let window = desk.titled("small").await;
    assert_eq!((&window["minimized"], &window["focused"]), (&json!(false), &json!(true)));
}
