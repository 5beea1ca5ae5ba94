//! Ended sessions.

use serde_json::json;

use crate::client::TestServer;

const SESSIONS: &str = "/api/v1/sessions";

#[tokio::test]
async fn an_ended_session_is_listed_and_shown_to_its_owner_only() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    let body = json!({ "label": "invoices", "mode": "desktop" });
    server.post(SESSIONS, &token, body).await.assert_error(500, "create_failed");
    assert_eq!(server.get(SESSIONS, &token).await.json(), json!({"sessions": []}));

    let recent = server.get("/api/v1/sessions?state=ended", &token).await.json();
    let [session] = recent["sessions"].as_array().unwrap().as_slice() else { panic!("{recent}") };
    assert_eq!(session["spec"]["label"], "invoices");
    assert_eq!(
        (&session["status"], &session["end_reason"]),
        (&json!("error"), &json!("start_failed"))
    );
    assert_eq!(session["last_picture"], false);
    let path = format!("{SESSIONS}/{}", session["id"].as_str().unwrap());
    assert_eq!(server.get(&format!("{path}/ended"), &token).await.json(), *session);
    server.get(&format!("{path}/last-picture"), &token).await.assert_error(404, "not_found");
    server.post(&format!("{path}/keep-alive"), &token, "").await.assert_error(404, "not_found");

    let other = server.token_of("another", &["sessions:*"]);
    let seen = server.get("/api/v1/sessions?state=ended", &other).await.json();
    assert_eq!(seen, json!({"sessions": []}));
    server.get(&format!("{path}/ended"), &other).await.assert_error(404, "not_found");
    let wrong = server.get("/api/v1/sessions?state=lost", &token).await;
    let message = wrong.assert_error(400, "invalid_input");
    assert!(message.contains("state") && message.contains("ended"), "{message}");
}
