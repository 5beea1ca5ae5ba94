//! What is kept of a real session after its end. Limits are tested in `crates/server/tests/api`.

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

#[tokio::test]
async fn the_idle_end_is_announced_and_postponed_and_the_last_picture_is_kept() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 600,
        "start_url": "data:text/html,<title>first</title>" });
    let desk = Desk::create(&client, &spec).await;
    desk.titled("first").await;
    assert_eq!(desk.browser("execute", json!({ "script": "1" })).await.status, 200);
    desk.act("agent_status", json!({ "status": "Reading" })).await;
    let path = format!("/api/v1/sessions/{}", desk.id);
    let before = desk.describe().await;
    assert!(before["agent_acted_at"].is_string(), "{before}");
    let kept = client.post(&format!("{path}/keep-alive"), &Value::Null).await.expect(200).json();
    assert!(kept["idle_ends_at"].as_str() > before["idle_ends_at"].as_str(), "{before} {kept}");
    client.get(&format!("{path}/last-picture")).await.expect_error(404, "not_found");

    desk.end().await;
    let ended = client.get(&format!("{path}/ended")).await.expect(200).json();
    assert_eq!(
        (&ended["status"], &ended["end_reason"]),
        (&json!("terminated"), &json!("requested"))
    );
    assert_eq!((&ended["agent_status"], &ended["last_picture"]), (&json!("Reading"), &json!(true)));
    let picture = client.get(&format!("{path}/last-picture")).await.expect(200);
    assert_eq!(picture.header("content-type"), "image/jpeg");
    assert!(picture.body.starts_with(&[0xff, 0xd8]) && picture.body.len() < 256 << 10);
    let recent = client.get("/api/v1/sessions?state=ended").await.json();
    assert_eq!(recent["sessions"][0]["id"], desk.id);
    let actions = client.get(&format!("{path}/actions")).await.json();
    let said = actions["actions"].as_array().unwrap().iter();
    let said: Vec<_> = said.filter(|one| one["action"] == "agent_status").collect();
    assert_eq!(said[0]["detail"], json!({ "status": "Reading" }));
    assert!(client.post(&format!("{path}/keep-alive"), &Value::Null).await.status >= 400);
}
