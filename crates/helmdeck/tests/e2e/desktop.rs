//! Desktop actions and their replies.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

/// An action, its body, and the complete reply.
type Row = (&'static str, Value, Value);

fn pointer_replies() -> Vec<Row> {
    vec![
        (
            "click",
            json!({ "x": 376, "y": 69, "button": "left" }),
            json!({ "ok": true, "x": 376, "y": 69, "button": "1" }),
        ),
        (
            "click",
            json!({ "x": 640.4, "y": 399.6, "button": "middle" }),
            json!({ "ok": true, "x": 640, "y": 400, "button": "2" }),
        ),
        (
            "click",
            json!({ "x": 640, "y": 400, "button": "right" }),
            json!({ "ok": true, "x": 640, "y": 400, "button": "3" }),
        ),
        ("key", json!({ "keys": "Escape" }), json!({ "ok": true, "keys": "Escape" })),
        (
            "double_click",
            json!({ "x": 640, "y": 400 }),
            json!({ "ok": true, "x": 640, "y": 400, "clicks": 2 }),
        ),
        (
            "triple_click",
            json!({ "x": 640, "y": 400 }),
            json!({ "ok": true, "x": 640, "y": 400, "clicks": 3 }),
        ),
        (
            "modifier_click",
            json!({ "x": 100, "y": 200, "button": "left", "modifiers": ["shift", "ctrl"] }),
            json!({ "ok": true, "x": 100, "y": 200, "modifiers": ["shift", "ctrl"] }),
        ),
        ("mouse_move", json!({ "x": 100, "y": 200 }), json!({ "ok": true, "x": 100, "y": 200 })),
        ("cursor_position", json!({}), json!({ "x": 100, "y": 200 })),
        (
            "mouse_down",
            json!({ "button": "left" }),
            json!({ "ok": true, "x": 100, "y": 200, "button": "1" }),
        ),
        (
            "mouse_up",
            json!({ "x": 110, "y": 210 }),
            json!({ "ok": true, "x": 110, "y": 210, "button": "1" }),
        ),
        (
            "drag",
            json!({ "start_x": 100, "start_y": 300, "end_x": 400, "end_y": 300, "button": "left" }),
            json!({ "ok": true, "start_x": 100, "start_y": 300, "end_x": 400, "end_y": 300 }),
        ),
        (
            "drag",
            json!({ "path": [{ "x": 9, "y": 300 }, { "x": 50, "y": 350 }, { "x": 90, "y": 310 }] }),
            json!({ "ok": true, "start_x": 9, "start_y": 300, "end_x": 90, "end_y": 310 }),
        ),
    ]
}

fn other_replies() -> Vec<Row> {
    vec![
        (
            "scroll",
            json!({ "x": 500, "y": 400, "direction": "down", "amount": 5 }),
            json!({ "ok": true, "direction": "down", "amount": 5 }),
        ),
        (
            "scroll",
            json!({ "direction": "up", "amount": 99 }),
            json!({ "ok": true, "direction": "up", "amount": 50 }),
        ),
        (
            "type",
            json!({ "text": "hello world", "delay_ms": 0 }),
            json!({ "ok": true, "length": 11 }),
        ),
        ("type", json!({ "text": "é👍🏽" }), json!({ "ok": true, "length": 3 })),
        ("key", json!({ "keys": "ctrl+a" }), json!({ "ok": true, "keys": "ctrl+a" })),
        (
            "key",
            json!({ "keys": "CTRL+ArrowLeft" }),
            json!({ "ok": true, "keys": "CTRL+ArrowLeft" }),
        ),
        (
            "hold_key",
            json!({ "keys": "shift", "seconds": 0.05 }),
            json!({ "ok": true, "keys": "shift", "seconds": 0.05 }),
        ),
        ("wait", json!({ "seconds": 0.25 }), json!({ "ok": true, "seconds": 0.25 })),
        ("agent_status", json!({ "status": "step 1/2" }), json!({ "ok": true })),
        ("clipboard", json!({ "text": "schön 🎉" }), json!({ "text": "schön 🎉" })),
        ("clipboard", json!({}), json!({ "text": "schön 🎉" })),
        (
            "resize",
            json!({ "width": 1024, "height": 768 }),
            json!({ "ok": true, "width": 1024, "height": 768 }),
        ),
    ]
}

#[tokio::test]
async fn every_action_answers_as_documented() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (action, body, reply) in pointer_replies().into_iter().chain(other_replies()) {
        assert_eq!(desk.act(action, body.clone()).await, reply, "{action} {body}");
    }
    assert_eq!(desk.describe().await["agent_status"], "step 1/2");

    let mut launched =
        desk.act("launch", json!({ "command": "xterm", "args": ["-bg", "black"] })).await;
    assert!(launched.as_object_mut().unwrap().remove("pid").is_some_and(|pid| pid.is_u64()));
    assert_eq!(launched, json!({ "ok": true, "command": "xterm" }));
    let window = desk.focused("XTerm").await;
    let id = window["id"].as_str().expect("an id as text");
    let focused = desk.act("focus", json!({ "window_id": id })).await;
    assert_eq!(focused, json!({ "ok": true, "window_id": id }));
}

#[tokio::test]
async fn the_pointer_reaches_the_corners_of_the_screen() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (x, y) in [(0, 0), (1279, 0), (0, 799), (1279, 799)] {
        desk.act("mouse_move", json!({ "x": x, "y": y })).await;
        assert_eq!(desk.act("cursor_position", json!({})).await, json!({ "x": x, "y": y }));
    }
    desk.act("click", json!({ "x": 0, "y": 0, "button": "middle" })).await;
    assert_eq!(desk.act("cursor_position", json!({})).await, json!({ "x": 0, "y": 0 }));
}

#[tokio::test]
async fn wait_takes_the_requested_time() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let began = Instant::now();
    desk.act("wait", json!({ "seconds": 0.4 })).await;
    assert!(began.elapsed() >= Duration::from_millis(400), "{:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());

    let began = Instant::now();
    desk.act("type", json!({ "text": "0123456789", "delay_ms": 30 })).await;
    assert!(began.elapsed() >= Duration::from_millis(270), "{:?}", began.elapsed());
}

#[tokio::test]
async fn pictures_and_the_browser_follow_a_resized_screen() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.act("resize", json!({ "width": 1024, "height": 768 })).await;
    let picture = desk.ask("screenshot", json!({})).await.expect(200);
    assert_eq!(picture.header("x-helmdeck-size"), "1024x768");
    let fits = |window: &Value| {
        let edge = |at, size| window[at].as_i64().unwrap() + window[size].as_i64().unwrap();
        window["class"] == "Chromium" && window["width"] == 1024 && edge("y", "height") <= 768
    };
    desk.window("a Chromium as wide as the screen", fits).await;

    desk.act("mouse_move", json!({ "x": 1023, "y": 767 })).await;
    desk.ask("mouse_move", json!({ "x": 1024, "y": 0 }))
        .await
        .expect_error(400, "invalid_coordinates");
    desk.act("resize", json!({ "width": 1600, "height": 900 })).await;
    desk.act("mouse_move", json!({ "x": 1599, "y": 899 })).await;
}
