//! The server's figures.

use crate::client::TestServer;

#[tokio::test]
async fn requests_are_counted_by_operation_and_strangers_make_no_labels() {
    let server = TestServer::start().await;
    server.get("/healthz", "").await;
    server.get("/no/such/path/1234", "").await;
    server.get("/api/v1/sessions/sess-1234", "").await;

    let answer = server.get("/metrics", &server.token(&["metrics:read"])).await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let figures = answer.text();
    for part in [
        "helmdeck_requests_total{operation=\"healthz\",status=\"200\"}",
        "helmdeck_requests_total{operation=\"none\",status=\"404\"}",
        "helmdeck_requests_total{operation=\"show_session\",status=\"401\"}",
        "helmdeck_request_duration_seconds_bucket{operation=\"healthz\",le=",
        "helmdeck_sessions 0",
    ] {
        assert!(figures.contains(part), "{part} is not in\n{figures}");
    }
    assert!(!figures.contains("1234"), "{figures}");
}
