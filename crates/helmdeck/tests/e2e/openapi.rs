//! The API's description of itself, against what the server does.

use std::collections::BTreeSet;

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

/// Bodies that are right for a desktop session, one for every action.
fn bodies() -> Value {
    json!({
        "screenshot": {},
        "zoom": { "x1": 0, "y1": 0, "x2": 100, "y2": 100 },
        "resize": { "width": 800, "height": 600 },
        "click": { "x": 1, "y": 1 },
        "double_click": { "x": 1, "y": 1 },
        "triple_click": { "x": 1, "y": 1 },
        "modifier_click": { "x": 1, "y": 1, "modifiers": ["shift"] },
        "mouse_move": { "x": 1, "y": 1 },
        "mouse_down": {},
        "mouse_up": {},
        "drag": { "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2 },
        "scroll": { "direction": "down" },
        "cursor_position": {},
        "type": { "text": "a" },
        "key": { "keys": "a" },
        "hold_key": { "keys": "a", "seconds": 0.1 },
        "clipboard": {},
        "launch": { "command": "true" },
        "focus": { "window_id": "1" },
        "wait": { "seconds": 0.1 },
        "agent_status": { "status": "looking" },
    })
}

#[tokio::test]
async fn every_desktop_route_refuses_a_session_without_a_desktop() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let headless = Desk::create(&client, &json!({ "mode": "headless" })).await;
    let document = server.stranger().get("/api/v1/openapi.json").await.expect(200).json();
    assert_eq!(document["openapi"], "3.1.0");

    let mut documented = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let Some(action) = path.strip_prefix("/api/v1/desktop/") else { continue };
        let answer = if methods.get("get").is_some() {
            client.get(&format!("{path}?session_id={}", headless.id)).await
        } else {
            headless.ask(action, bodies()[action].clone()).await
        };
        let message = answer.expect_error(400, "not_desktop_mode");
        assert!(message.contains(&headless.id) && message.contains("HELMDECK_MODE"), "{message}");
        documented.insert(action.to_owned());
    }
    let mut known: BTreeSet<_> = bodies().as_object().unwrap().keys().cloned().collect();
    known.extend(["windows", "vnc-url"].map(str::to_owned));
    assert_eq!(documented, known, "the sixteen of the vocabulary, and ours");
}
