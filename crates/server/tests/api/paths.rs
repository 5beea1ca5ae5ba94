//! Rules for every request: unknown paths and methods, request ids, body limits.

use http::Method;
use serde_json::json;

use crate::client::TestServer;

#[tokio::test]
async fn an_unknown_path_is_a_json_404() {
    let server = TestServer::start().await;
    for path in ["/nope", "/api/v1/nope", "/api/v1/desktop/nope", "/api/v1/sessions/a/b/c"] {
        server.get(path, "").await.assert_error(404, "not_found");
        server.post(path, "", "{}").await.assert_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_wrong_method_is_a_405_that_names_the_right_ones() {
    let server = TestServer::start().await;
    let answer = server.delete("/healthz", "").await;
    let message = answer.assert_error(405, "method_not_allowed");
    assert_eq!(message, "DELETE is not allowed at /healthz: use GET");
    assert_eq!(answer.header("allow"), "GET,HEAD");

    let answer = server.get("/api/v1/desktop/click", "").await;
    answer.assert_error(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), "POST");

    let put = server.request(Method::PUT, "/api/v1/sessions", "");
    let answer = server.send(put, "").await;
    let message = answer.assert_error(405, "method_not_allowed");
    assert_eq!(message, "PUT is not allowed at /api/v1/sessions: use POST or GET");
    assert_eq!(answer.header("allow"), "POST,GET,HEAD");
}

#[tokio::test]
async fn every_answer_carries_a_request_id() {
    let server = TestServer::start().await;
    let ids = [
        server.get("/healthz", "").await,
        server.get("/nope", "").await,
        server.get("/api/v1/sessions", "").await,
    ]
    .map(|answer| answer.header("x-request-id").to_owned());
    assert!(ids.iter().all(|id| id.starts_with("req-")), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);

    let ours = server.request(Method::GET, "/healthz", "").header("x-request-id", "trace-7");
    assert_eq!(server.send(ours, "").await.header("x-request-id"), "trace-7");
    let bad = server.request(Method::GET, "/healthz", "").header("x-request-id", "a b\"c");
    assert!(server.send(bad, "").await.header("x-request-id").starts_with("req-"));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_or_without_a_token() {
    let server = TestServer::start().await;
    let large = json!({"text": "x".repeat(2 << 20)});
    let message = server
        .post("/api/v1/desktop/type", &server.token(&["sessions:act"]), &large)
        .await
        .assert_error(413, "payload_too_large");
    assert!(message.contains("2097152"), "{message}");
    server.post("/api/v1/auth/login", "", &large).await.assert_error(413, "payload_too_large");
}

#[tokio::test]
async fn answers_are_not_cached_and_not_sniffed() {
    let server = TestServer::start().await;
    let answer = server.get("/healthz", "").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}
