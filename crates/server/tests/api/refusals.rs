//! Invalid requests for every action, and their error messages.

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::{Value, json};

use crate::client::TestServer;

/// An action, an invalid body, the error code, and what the message contains. Refusals of the guest
/// are tested end to end.
type Row = (&'static str, Value, &'static str, &'static str);

fn pointer() -> Vec<Row> {
    let outside = json!([{ "x": 1, "y": 1 }, { "x": 9999, "y": 1 }]);
    vec![
        ("click", json!({ "x": 1, "y": 1, "button": "upper" }), "invalid_button", "button"),
        ("mouse_down", json!({ "button": 1 }), "invalid_button", "button"),
        ("click", json!({ "x": -1, "y": 1 }), "invalid_coordinates", "x"),
        ("click", json!({ "x": 1280, "y": 1 }), "invalid_coordinates", "1280x800"),
        ("click", json!({ "x": 1, "y": 800 }), "invalid_coordinates", "1280x800"),
        ("click", json!({ "x": 1 }), "invalid_coordinates", "y"),
        ("click", json!({ "x": "left", "y": 1 }), "invalid_coordinates", "x"),
        ("double_click", json!({}), "invalid_coordinates", "x"),
        ("triple_click", json!({ "x": 5000, "y": 5000 }), "invalid_coordinates", ""),
        ("mouse_move", json!({ "x": 1e300, "y": 1 }), "invalid_coordinates", "x"),
        ("drag", json!({ "path": outside }), "invalid_coordinates", ""),
        ("scroll", json!({ "direction": "sideways" }), "invalid_direction", "direction"),
        ("scroll", json!({ "amount": 3 }), "invalid_direction", "direction"),
        ("scroll", json!({ "direction": "up", "amount": -1 }), "invalid_amount", "amount"),
        (
            "scroll",
            json!({ "direction": "up", "modifiers": ["hyper"] }),
            "invalid_modifier",
            "modifiers",
        ),
        (
            "modifier_click",
            json!({ "x": 1, "y": 1, "modifiers": ["hyper"] }),
            "invalid_modifier",
            "modifiers",
        ),
        (
            "modifier_click",
            json!({ "x": 1, "y": 1, "modifiers": [] }),
            "missing_modifiers",
            "modifiers",
        ),
        ("modifier_click", json!({ "x": 1, "y": 1 }), "missing_modifiers", "modifiers"),
        ("click", json!({ "x": 1, "y": 1, "buton": "left" }), "invalid_input", "buton"),
    ]
}

fn others() -> Vec<Row> {
    vec![
        ("zoom", json!({ "x1": 0, "y1": 0, "x2": 100 }), "invalid_region", "y2"),
        (
            "zoom",
            json!({ "x1": 0, "y1": 0, "x2": 9, "y2": 9, "format": "gif" }),
            "invalid_format",
            "format",
        ),
        ("screenshot", json!({ "format": "bmp" }), "invalid_format", "format"),
        ("type", json!({}), "missing_text", "text"),
        ("type", json!({ "text": "" }), "missing_text", "text"),
        ("key", json!({}), "missing_keys", "keys"),
        ("key", json!({ "keys": "" }), "missing_keys", "keys"),
        ("hold_key", json!({ "keys": "shift" }), "invalid_seconds", "seconds"),
        ("hold_key", json!({ "keys": "shift", "seconds": 0 }), "invalid_seconds", "seconds"),
        ("wait", json!({ "seconds": 0 }), "invalid_seconds", "seconds"),
        ("wait", json!({ "seconds": -1 }), "invalid_seconds", "seconds"),
        ("wait", json!({}), "invalid_seconds", "seconds"),
        ("wait", json!({ "second": 1 }), "invalid_input", "second"),
        ("focus", json!({}), "missing_window_id", "window_id"),
        ("focus", json!({ "window_id": "0x1f" }), "invalid_window_id", "window_id"),
        ("focus", json!({ "window_id": "1; rm -rf /" }), "invalid_window_id", "window_id"),
        ("launch", json!({}), "missing_command", "command"),
        ("launch", json!({ "command": "" }), "missing_command", "command"),
        ("resize", json!({ "width": 100, "height": 100 }), "invalid_geometry", "320"),
        ("resize", json!({ "width": 800 }), "invalid_geometry", "height"),
    ]
}

#[tokio::test]
async fn bad_input_is_refused_with_its_code_and_names_what_is_wrong() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (action, body, code, named) in pointer().into_iter().chain(others()) {
        let answer = desk.ask(action, body.clone()).await;
        assert_eq!(answer.status, 400, "{action} {body}: {}", answer.text());
        assert_eq!(answer.json()["error"], code, "{action} {body}: {}", answer.text());
        let message = answer.expect_error(400, code);
        assert!(message.contains(named), "{action} {body}: {message}");
    }
}

#[tokio::test]
async fn unknown_sessions_and_actions_are_not_found() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let nowhere = Desk { client: &client, id: "sess-000000000000".to_owned() };
    nowhere.ask("click", json!({ "x": 1, "y": 1 })).await.expect_error(404, "not_found");
    let click = json!({ "x": 1, "y": 1 });
    client.post("/api/v1/desktop/click", &click).await.expect_error(400, "missing_session_id");
    client.get("/api/v1/desktop/windows").await.expect_error(400, "missing_session_id");
    client.post("/api/v1/desktop/levitate", &click).await.expect_error(404, "not_found");
    client.get("/api/v1/desktop/click").await.expect_error(405, "method_not_allowed");
}

#[tokio::test]
async fn every_desktop_action_refuses_a_session_without_a_desktop() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let headless = Desk::create(&client, &json!({ "mode": "headless" })).await;
    let mut refused = 0;
    for row in helmdeck_testkit::fake::Row::all() {
        if !row.path.starts_with("/api/v1/desktop/") {
            continue;
        }
        let (path, body) = row.request(&headless.id);
        let body = body.unwrap_or_default().to_string().into();
        let answer = client.send(row.method.clone(), &path, &[], body).await;
        let message = answer.expect_error(400, "not_desktop_mode");
        assert!(message.contains(&headless.id) && message.contains("HELMDECK_MODE"), "{message}");
        refused += 1;
    }
    assert!(refused >= 23, "expected at least 23 desktop actions: {refused}");
}

#[tokio::test]
async fn a_field_in_the_wrong_place_is_refused_with_what_that_place_takes() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    for (path, body, field, allowed, message) in [
        (
            "/api/v1/sessions?label=x",
            json!({}),
            "label",
            json!(["wait"]),
            "unknown field \"label\": known fields are wait",
        ),
        (
            "/api/v1/sessions?wait=false&wait=false",
            json!({}),
            "wait",
            Value::Null,
            "wait is given twice: choose one",
        ),
        (
            "/api/v1/sessions?wait=false",
            json!({ "wait": false }),
            "wait",
            Value::Null,
            "wait is given twice: choose one",
        ),
    ] {
        let answer = server.post(path, &token, &body).await;
        let refused = answer.json();
        assert_eq!((&refused["field"], &refused["allowed"]), (&json!(field), &allowed));
        assert_eq!(answer.assert_error(400, "invalid_input"), message);
    }
    let body = json!({ "command": "true", "session_id": "x" });
    let refused = server.post("/api/v1/sessions/s/exec", &token, &body).await.json();
    assert_eq!(refused["field"], "session_id", "{refused}");
    let allowed = refused["allowed"].as_array().unwrap();
    assert!(allowed.contains(&json!("command")), "{refused}");
    for elsewhere in ["session_id", "stream"] {
        assert!(!allowed.contains(&json!(elsewhere)), "{refused}");
    }
}
