//! Every way an action can be asked for wrongly, and the answer that helps.

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

#[tokio::test]
async fn bad_input_is_refused_with_its_code_and_what_is_allowed() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (action, body, code, told) in [
        ("click", json!({ "x": 1, "y": 1, "button": "upper" }), "invalid_button", "`middle`"),
        ("mouse_down", json!({ "button": 1 }), "invalid_button", ""),
        ("click", json!({ "x": -1, "y": 1 }), "invalid_coordinates", "x"),
        ("click", json!({ "x": 1280, "y": 1 }), "invalid_coordinates", "1280x800"),
        ("click", json!({ "x": 1, "y": 800 }), "invalid_coordinates", "1280x800"),
        ("click", json!({ "x": 1 }), "invalid_coordinates", "y"),
        ("click", json!({ "x": "left", "y": 1 }), "invalid_coordinates", "a number"),
        ("double_click", json!({}), "invalid_coordinates", "x"),
        ("triple_click", json!({ "x": 5000, "y": 5000 }), "invalid_coordinates", ""),
        ("mouse_move", json!({ "x": 1e300, "y": 1 }), "invalid_coordinates", "x"),
        ("mouse_down", json!({ "x": 1 }), "invalid_coordinates", ""),
        ("drag", json!({ "start_x": 1, "start_y": 1 }), "invalid_coordinates", ""),
        ("drag", json!({ "path": [{ "x": 1, "y": 1 }] }), "invalid_coordinates", ""),
        (
            "drag",
            json!({ "path": [{ "x": 1, "y": 1 }, { "x": 9999, "y": 1 }] }),
            "invalid_coordinates",
            "",
        ),
        ("scroll", json!({ "x": 1, "direction": "up" }), "invalid_coordinates", ""),
        ("scroll", json!({ "direction": "sideways" }), "invalid_direction", "`down`"),
        ("scroll", json!({ "amount": 3 }), "invalid_direction", "direction"),
        ("scroll", json!({ "direction": "up", "amount": -1 }), "invalid_amount", "at least 0"),
        (
            "scroll",
            json!({ "direction": "up", "modifiers": ["hyper"] }),
            "invalid_modifier",
            "`ctrl`",
        ),
        ("zoom", json!({ "x1": 0, "y1": 0, "x2": 0, "y2": 100 }), "invalid_region", ""),
        ("zoom", json!({ "x1": 0, "y1": 0, "x2": 100 }), "invalid_region", "y2"),
        ("zoom", json!({ "x1": 1300, "y1": 900, "x2": 1400, "y2": 1000 }), "invalid_region", ""),
        (
            "zoom",
            json!({ "x1": 0, "y1": 0, "x2": 9, "y2": 9, "format": "gif" }),
            "invalid_format",
            "`webp`",
        ),
        ("screenshot", json!({ "format": "bmp" }), "invalid_format", "`png`"),
        (
            "modifier_click",
            json!({ "x": 1, "y": 1, "modifiers": ["hyper"] }),
            "invalid_modifier",
            "`super`",
        ),
        ("modifier_click", json!({ "x": 1, "y": 1, "modifiers": [] }), "missing_modifiers", ""),
        ("modifier_click", json!({ "x": 1, "y": 1 }), "missing_modifiers", ""),
        ("type", json!({}), "missing_text", "text"),
        ("type", json!({ "text": "" }), "missing_text", "text"),
        ("type", json!({ "text": "a\u{0}b" }), "invalid_text", ""),
        ("key", json!({}), "missing_keys", "keys"),
        ("key", json!({ "keys": "" }), "missing_keys", "keys"),
        ("key", json!({ "keys": "ctrl+nonsense" }), "invalid_keys", "nonsense"),
        ("hold_key", json!({ "keys": "shift" }), "invalid_seconds", "seconds"),
        ("hold_key", json!({ "keys": "shift", "seconds": 0 }), "invalid_seconds", "above 0"),
        ("wait", json!({ "seconds": 0 }), "invalid_seconds", "above 0"),
        ("wait", json!({ "seconds": -1 }), "invalid_seconds", "seconds"),
        ("wait", json!({}), "invalid_seconds", "seconds"),
        ("focus", json!({}), "missing_window_id", "window_id"),
        ("focus", json!({ "window_id": "0x1f" }), "invalid_window_id", "decimal"),
        ("focus", json!({ "window_id": "1; rm -rf /" }), "invalid_window_id", "decimal"),
        ("launch", json!({}), "missing_command", "command"),
        ("launch", json!({ "command": "" }), "missing_command", "command"),
        ("resize", json!({ "width": 100, "height": 100 }), "invalid_geometry", "320"),
        ("resize", json!({ "width": 800 }), "invalid_geometry", "height"),
        ("click", json!({ "x": 1, "y": 1, "buton": "left" }), "invalid_input", "buton"),
        ("wait", json!({ "second": 1 }), "invalid_input", "second"),
    ] {
        let answer = desk.ask(action, body.clone()).await;
        assert_eq!(answer.status, 400, "{action} {body}: {}", answer.text());
        assert_eq!(answer.json()["error"], code, "{action} {body}: {}", answer.text());
        let message = answer.expect_error(400, code);
        assert!(message.contains(told), "{action} {body}: {message}");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_not_found() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
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
    desk.ask("focus", json!({ "window_id": "4294967295" }))
        .await
        .expect_error(404, "window_not_found");

    let nowhere = Desk { client: &client, id: "sess-000000000000".to_owned() };
    nowhere.ask("click", json!({ "x": 1, "y": 1 })).await.expect_error(404, "not_found");
    let click = json!({ "x": 1, "y": 1 });
    client.post("/api/v1/desktop/click", &click).await.expect_error(400, "missing_session_id");
    client.get("/api/v1/desktop/windows").await.expect_error(400, "missing_session_id");
    client.post("/api/v1/desktop/levitate", &click).await.expect_error(404, "not_found");
    client.get("/api/v1/desktop/click").await.expect_error(405, "method_not_allowed");
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
