//! Session bodies, queries and ids; the sessions themselves are tested end to end.

use serde_json::json;

use crate::{client::TestServer, nowhere::Nowhere};

const SESSIONS: &str = "/api/v1/sessions";

#[tokio::test]
async fn there_are_no_sessions_at_first() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    assert_eq!(server.get(SESSIONS, &token).await.json(), json!({"sessions": []}));
    let message =
        server.get("/api/v1/sessions/sess-x", &token).await.assert_error(404, "not_found");
    assert!(message.contains("sess-x"), "{message}");
    server.get("/api/v1/sessions/sess-x/logs", &token).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn ending_what_never_existed_is_a_404_and_what_has_ended_succeeds() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    server.delete("/api/v1/sessions/sess-x", &token).await.assert_error(404, "not_found");
    let made = server.post("/api/v1/sessions?wait=false", &token, "{}").await.json();
    let path = format!("/api/v1/sessions/{}", made["id"].as_str().unwrap());
    for _ in 0..3 {
        let answer = server.delete(&path, &token).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (204, ""));
    }
    server.delete(&path, &server.person(&["sessions:*"])).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn a_caller_cannot_ask_for_more_than_the_operator_allows_and_nobody_for_more_than_there_is() {
    let env = [("HELMDECK_MAX_MEMORY_LIMIT", "1g"), ("HELMDECK_MAX_CPU_LIMIT", "0.5")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let (caller, admin) = (server.token(&["sessions:*"]), server.token(&["admin"]));
    let ask = async |token: &str, body: &str| {
        server.post(SESSIONS, token, body).await.assert_error(400, "invalid_input")
    };
    let message = ask(&caller, r#"{"memory_limit": "900g"}"#).await;
    assert!(message.starts_with("memory_limit: 900g is too much: at most 1g"), "{message}");
    assert!(ask(&caller, r#"{"cpu_limit": 0.6}"#).await.starts_with("cpu_limit: "));
    assert!(ask(&caller, r#"{"shm_size": "2g"}"#).await.starts_with("shm_size: "));
    let message = ask(&admin, r#"{"memory_limit": "900000g"}"#).await;
    assert!(message.contains("all that this machine has"), "{message}");
}

#[tokio::test]
async fn a_time_zone_or_language_that_does_not_exist_is_refused_at_creation() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    for (body, part) in [
        (r#"{"timezone": "Mars/Olympus"}"#, "timezone: \"Mars/Olympus\""),
        (r#"{"locale": "xx-YY"}"#, "locale: \"xx-YY\""),
    ] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(400, "invalid_input");
        assert!(message.starts_with(part), "{message}");
    }
}

#[tokio::test]
async fn a_bad_create_body_is_refused_by_name() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:write"]);
    for (body, code, part) in [
        ("{", "invalid_json", "not JSON"),
        ("[]", "invalid_json", "an array"),
        (r#"{"lable": "x"}"#, "invalid_input", "unknown field \"lable\""),
        (r#"{"spec": {"lable": "x"}}"#, "invalid_input", "unknown field \"lable\""),
        (r#"{"spec": 5}"#, "invalid_input", "spec is a number"),
        (r#"{"label": "a", "spec": {"label": "b"}}"#, "invalid_input", "label stands both"),
        (r#"{"mode": "window"}"#, "invalid_input", "headless or desktop"),
        (r#"{"geometry": "9x9"}"#, "invalid_geometry", "320x200"),
        (r#"{"memory_limit": "lots"}"#, "invalid_input", "512m"),
        (r#"{"timeout_seconds": 0}"#, "invalid_input", "1 or more"),
        (r#"{"wallclock_timeout_s": 0}"#, "invalid_input", "1 or more"),
        (r#"{"cpu_limit": -1}"#, "invalid_input", "0.01 to 1024"),
        (r#"{"env": {"A": 1}}"#, "invalid_input", "env.A"),
    ] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(400, code);
        assert!(message.contains(part), "{body}: {message}");
    }
}

#[tokio::test]
async fn a_bad_query_is_refused() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    let path = "/api/v1/sessions?wait=maybe";
    let message = server.post(path, &token, "{}").await.assert_error(400, "invalid_input");
    assert!(message.contains("wait"), "{message}");
    let path = "/api/v1/sessions?wiat=false";
    let message = server.post(path, &token, "{}").await.assert_error(400, "invalid_input");
    assert!(message.contains("wiat"), "{message}");
    let path = "/api/v1/sessions/s/logs?tail=all";
    server.get(path, &token).await.assert_error(400, "invalid_input");
    // Of those who watch, whatever they watch.
    for (query, part) in [
        ("take=maybe", "true or false"),
        ("role=boss", "expected view or control"),
        ("tkae=1", "tkae"),
    ] {
        for what in ["vnc", "cdp-stream"] {
            let path = format!("/api/v1/sessions/s/{what}?{query}");
            let message = server.get(&path, &token).await.assert_error(400, "invalid_input");
            assert!(message.contains(part), "{path}: {message}");
        }
    }
    let path = "/api/v1/sessions/s/cdp-stream?role=view&take=false&quality=70&ack=true";
    server.get(path, &token).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn a_session_that_is_over_says_why_and_when_also_after_it_is_gone() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    let created = server.post("/api/v1/sessions?wait=false", &token, "{}").await.json();
    let path = format!("{SESSIONS}/{}", created["id"].as_str().unwrap());
    let shown = loop {
        let shown = server.get(&path, &token).await.json();
        if shown["status"] == "error" {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(shown["end_reason"], "start_failed");
    assert!(shown["ended_at"].as_str() >= shown["created_at"].as_str(), "{shown}");
    let how = |body: serde_json::Value| {
        ["error", "end_reason", "ended_at"].map(|field| body[field].clone())
    };
    let action = json!({ "session_id": shown["id"], "url": "about:blank" });
    let refused = server.post("/api/v1/browser/navigate", &token, action).await.json();
    assert_eq!(
        how(refused),
        [json!("create_failed"), json!("start_failed"), shown["ended_at"].clone()]
    );

    server.delete(&path, &token).await;
    let gone = server.get(&path, &token).await;
    assert_eq!(gone.status, 404);
    assert_eq!(
        how(gone.json()),
        [json!("not_found"), json!("start_failed"), shown["ended_at"].clone()]
    );
    let unknown = server.get("/api/v1/sessions/sess-x", &token).await.json();
    assert_eq!(how(unknown), [json!("not_found"), json!(null), json!(null)]);
}

#[tokio::test]
async fn a_session_that_cannot_start_says_why_and_leaves_nothing() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    for body in ["", "{}", r#"{"spec": {"env": {"HELMDECK_MODE": "desktop"}}}"#] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(500, "create_failed");
        assert!(message.contains("there is nowhere to start it"), "{message}");
    }
    assert_eq!(server.get(SESSIONS, &token).await.json(), json!({"sessions": []}));
}
