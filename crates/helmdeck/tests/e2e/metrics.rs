//! The server's figures.

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

#[tokio::test]
async fn prometheus_sees_requests_and_live_sessions() {
    let server = Server::start();
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
