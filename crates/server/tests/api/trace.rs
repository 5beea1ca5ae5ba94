//! The trace of a session.

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::json;

#[tokio::test]
async fn a_trace_is_read_by_its_owner_only() {
    let server = FakeServer::start().await;
    let agent = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&agent).await;
    let path = format!("/api/v1/sessions/{}/trace", desk.id);
    let trace = agent.get(&path).await.expect(200).json();
    assert_eq!(trace, json!({ "entries": [], "next": 0, "now_ms": 0 }));
    server.client("other", "sessions:*").get(&path).await.expect(404);
    let picture = agent.get(&format!("{path}/crop-1-after")).await.expect(200);
    assert_eq!(picture.headers["content-type"], "image/jpeg");
    for (query, field) in [("near=a", "near"), ("limit=0", "limit"), ("since=x", "since")] {
        let refused = agent.get(&format!("{path}?{query}")).await.expect(400).json();
        assert_eq!(refused["field"], field, "{refused}");
    }
    agent.get(&format!("{path}/elsewhere")).await.expect(400);
}
