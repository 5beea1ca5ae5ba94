//! Desktop bodies that are refused before a session is involved. Actions are tested end to end.

use helmdeck_server::operations;
use http::Method;
use serde_json::{Value, json};

use crate::client::TestServer;

async fn refused(server: &TestServer, action: &str, body: Value) -> (String, String) {
    let token = server.token(&["sessions:act"]);
    let answer = server.post(&format!("/api/v1/desktop/{action}"), &token, &body).await;
    assert_eq!(answer.status, 400, "{action} {body}: {}", answer.text());
    let body = answer.json();
    (body["error"].as_str().unwrap().to_owned(), body["message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_bad_field_answers_with_its_code() {
    let server = TestServer::start().await;
    for (action, body, code) in [
        ("click", json!({"x": 1, "y": 1, "button": "thumb"}), "invalid_button"),
        ("click", json!({"x": -1, "y": 1}), "invalid_coordinates"),
        ("click", json!({"y": 1}), "invalid_coordinates"),
        ("click", json!({"x": 1, "y": 1, "z": 1}), "invalid_input"),
        ("modifier_click", json!({"x": 1, "y": 1}), "missing_modifiers"),
        ("modifier_click", json!({"x": 1, "y": 1, "modifiers": []}), "missing_modifiers"),
        ("modifier_click", json!({"x": 1, "y": 1, "modifiers": ["fn"]}), "invalid_modifier"),
        ("drag", json!({"start_x": "a"}), "invalid_coordinates"),
        ("drag", json!({"path": [{"x": 1}]}), "invalid_coordinates"),
        ("scroll", json!({}), "invalid_direction"),
        ("scroll", json!({"direction": "in"}), "invalid_direction"),
        ("scroll", json!({"direction": "up", "amount": "many"}), "invalid_amount"),
        ("type", json!({}), "missing_text"),
        ("type", json!({"text": ""}), "missing_text"),
        ("type", json!({"text": 5}), "invalid_text"),
        ("type", json!({"text": "a", "delay_ms": 1001}), "invalid_input"),
        ("key", json!({}), "missing_keys"),
        ("key", json!({"keys": ""}), "missing_keys"),
        ("key", json!({"keys": ["a"]}), "invalid_keys"),
        ("hold_key", json!({"keys": "a"}), "invalid_seconds"),
        ("launch", json!({}), "missing_command"),
        ("launch", json!({"command": ""}), "missing_command"),
        ("focus", json!({}), "missing_window_id"),
        ("focus", json!({"window_id": "xterm"}), "invalid_window_id"),
        ("wait", json!({"seconds": -1}), "invalid_seconds"),
        ("zoom", json!({"x1": 0, "y1": 0, "x2": 5}), "invalid_region"),
        ("screenshot", json!({"format": "bmp"}), "invalid_format"),
        ("screenshot", json!({"max_width": 1}), "invalid_input"),
        ("screenshot", json!({"for": "somewhere"}), "invalid_input"),
        ("screenshot", json!({"for": {"max_edge": 1}}), "invalid_input"),
        ("screenshot", json!({"for": {"edge": 100}}), "invalid_input"),
        ("resize", json!({"width": 100, "height": 600}), "invalid_geometry"),
        ("resize", json!({"width": 800}), "invalid_geometry"),
        ("clipboard", json!({"text": 5}), "invalid_text"),
        ("agent_status", json!({}), "invalid_input"),
    ] {
        let mut whole = body.clone();
        whole["session_id"] = json!("sess-x");
        let (got, message) = refused(&server, action, whole).await;
        assert_eq!(got, code, "{action} {body}: {message}");
        // Fields are checked before the session is, except for a position: a target replaces it.
        let first = if body == json!({"y": 1}) { "missing_session_id" } else { code };
        assert_eq!(refused(&server, action, body).await.0, first);
    }
}

#[tokio::test]
async fn a_message_names_the_field_the_value_and_what_is_allowed() {
    let server = TestServer::start().await;
    let body = json!({"x": 1, "y": 1, "button": "thumb", "session_id": "s"});
    let (_, message) = refused(&server, "click", body).await;
    for part in ["button", "thumb", "left", "middle", "right"] {
        assert!(message.contains(part), "{message}");
    }
    let (_, message) = refused(&server, "wait", json!({"second": 1, "session_id": "s"})).await;
    assert_eq!(message, "unknown field \"second\": known fields are seconds, session_id");
}

#[tokio::test]
async fn a_session_must_be_named_and_must_exist() {
    let server = TestServer::start().await;
    let click = json!({"x": 1, "y": 1});
    assert_eq!(refused(&server, "click", click).await.0, "missing_session_id");
    let click = json!({"x": 1, "y": 1, "session_id": ""});
    assert_eq!(refused(&server, "click", click).await.0, "missing_session_id");
    let click = json!({"x": 1, "y": 1, "session_id": 7});
    assert_eq!(refused(&server, "click", click).await.0, "invalid_input");

    let token = server.token(&["sessions:act"]);
    let windows = "/api/v1/desktop/windows";
    server.get(windows, &token).await.assert_error(400, "missing_session_id");
    let windows = "/api/v1/desktop/windows?session_id=";
    server.get(windows, &token).await.assert_error(400, "missing_session_id");
    let windows = "/api/v1/desktop/windows?session_id=sess-x";
    server.get(windows, &token).await.assert_error(404, "not_found");
    for (action, body) in [
        ("click", json!({"x": 1, "y": 1})),
        ("screenshot", json!({})),
        ("agent_status", json!({"status": "hello"})),
    ] {
        let mut body = body;
        body["session_id"] = json!("sess-x");
        let path = format!("/api/v1/desktop/{action}");
        server.post(&path, &token, body).await.assert_error(404, "not_found");
    }
}

#[tokio::test]
async fn no_action_takes_an_empty_body_or_one_that_is_no_object() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:act"]);
    let actions = operations();
    let actions = actions.iter().filter(|operation| {
        operation.method == Method::POST && operation.path.starts_with("/api/v1/desktop/")
    });
    for action in actions {
        for body in ["", "null", "[1]", "x=1&y=1"] {
            server.post(&action.path, &token, body).await.assert_error(400, "invalid_json");
        }
    }
}

#[tokio::test]
async fn json_counts_as_json_under_any_content_type() {
    let server = TestServer::start().await;
    let request = server
        .request(Method::POST, "/api/v1/desktop/wait", &server.token(&["sessions:act"]))
        .header("content-type", "application/x-www-form-urlencoded");
    let answer = server.send(request, r#"{"session_id": "sess-x", "seconds": 1}"#).await;
    answer.assert_error(404, "not_found");
}
