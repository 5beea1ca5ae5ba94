//! The server's metrics.

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::json;

use crate::client::TestServer;

#[tokio::test]
async fn requests_are_counted_by_operation_and_unknown_paths_create_no_labels() {
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

#[tokio::test]
async fn prometheus_sees_requests_and_live_sessions() {
    let server = FakeServer::start().await;
    server.stranger().get("/metrics").await.expect_error(401, "missing_bearer");
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let figures = client.get("/metrics").await.expect(200);
    assert!(figures.header("content-type").starts_with("text/plain"), "{:?}", figures.headers);
    let figures = figures.text();
    assert!(figures.contains("\nhelmdeck_sessions 1\n"), "{figures}");
    assert!(figures.contains(r#"operation="create_session",status="201"} 1"#), "{figures}");

    desk.end().await;
    let figures = client.get("/metrics").await.expect(200).text();
    assert!(figures.contains("\nhelmdeck_sessions 0\n"), "{figures}");
}
