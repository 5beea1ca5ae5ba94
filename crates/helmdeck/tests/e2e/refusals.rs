//! Refusals of the guest, which depend on its screen, keyboard and programs.

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

#[tokio::test]
async fn points_off_the_screen_and_unknown_keys_are_refused_with_their_codes() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let far = json!({ "path": [{ "x": 1, "y": 1 }, { "x": 9999, "y": 1 }] });
    let outside = json!({ "x1": 1300, "y1": 900, "x2": 1400, "y2": 1000 });
    for (action, body, code, field, part) in [
        ("click", json!({ "x": 1280, "y": 1 }), "invalid_coordinates", "x", "1280x800"),
        ("click", json!({ "x": 1, "y": 800 }), "invalid_coordinates", "y", "1280x800"),
        ("triple_click", json!({ "x": 5000, "y": 5000 }), "invalid_coordinates", "x", ""),
        ("mouse_down", json!({ "x": 1 }), "invalid_coordinates", "y", ""),
        ("drag", json!({ "start_x": 1, "start_y": 1 }), "invalid_coordinates", "end_x", ""),
        ("drag", json!({ "path": [{ "x": 1, "y": 1 }] }), "invalid_coordinates", "path", ""),
        ("drag", far, "invalid_coordinates", "path[1].x", ""),
        ("scroll", json!({ "x": 1, "direction": "up" }), "invalid_coordinates", "y", ""),
        ("zoom", json!({ "x1": 0, "y1": 0, "x2": 0, "y2": 100 }), "invalid_region", "", ""),
        ("zoom", outside, "invalid_region", "", ""),
        ("type", json!({ "text": "a\u{0}b" }), "invalid_text", "text", ""),
        ("key", json!({ "keys": "ctrl+nonsense" }), "invalid_keys", "keys", "nonsense"),
    ] {
        let refused = desk.ask(action, body.clone()).await.expect(400).json();
        assert_eq!(refused["error"], code, "{action} {body}: {refused}");
        assert_eq!(refused["field"].as_str().unwrap_or_default(), field, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(part), "{refused}");
    }
    let message = desk
        .ask("launch", json!({ "command": "no-such-program" }))
        .await
        .expect_error(404, "command_not_found");
    assert!(message.contains("no-such-program"), "{message}");
    desk.ask("launch", json!({ "command": "/no/such/file" }))
        .await
        .expect_error(404, "command_not_found");
    let line = desk.ask("launch", json!({ "command": "xterm -bg red" })).await;
    let message = line.expect_error(404, "command_not_found");
    assert!(message.ends_with("arguments go in `args`"), "{message}");
    let no_program = desk.ask("launch", json!({ "command": "/etc/passwd" })).await;
    no_program.expect_error(502, "command_failed");
    desk.ask("focus", json!({ "window_id": "536870911" }))
        .await
        .expect_error(404, "window_not_found");
}

#[tokio::test]
async fn a_refused_action_moves_and_presses_nothing() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.act("mouse_move", json!({ "x": 5, "y": 6 })).await;
    for (action, body) in [
        ("modifier_click", json!({ "x": 9999, "y": 1, "modifiers": ["shift"] })),
        ("drag", json!({ "start_x": 9, "start_y": 9, "end_x": 9999, "end_y": 9 })),
        ("scroll", json!({ "x": 9, "y": 9999, "direction": "down" })),
    ] {
        desk.ask(action, body).await.expect_error(400, "invalid_coordinates");
    }
    assert_eq!(desk.act("cursor_position", json!({})).await, json!({ "x": 5, "y": 6 }));
    desk.open_field().await;
    desk.ask("key", json!({ "keys": "shift+nonsense" })).await.expect_error(400, "invalid_keys");
    desk.act("key", json!({ "keys": "a" })).await;
    desk.copy_all().await;
    desk.expect_clipboard("a").await;
}
