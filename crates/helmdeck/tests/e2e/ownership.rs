//! A session belongs to whoever created it.

use std::time::Duration;

use helmdeck_testkit::{Desk, Process, Server, eventually};
use serde_json::json;

#[tokio::test]
async fn a_session_does_not_exist_for_anyone_but_its_owner_and_admins() {
    let mut server = Server::start();
    let (owner, other) = (server.client("alice", "sessions:*"), server.client("bob", "sessions:*"));
    let desk = Desk::create(&owner, &json!({})).await;
    assert_eq!(desk.describe().await["owner"], "alice");

    let theirs = Desk { client: &other, id: desk.id.clone() };
    let path = format!("/api/v1/sessions/{}", desk.id);
    let hidden = other.get(&path).await.expect_error(404, "not_found");
    let absent = other.get("/api/v1/sessions/sess-000000000000").await.expect(404).text();
    assert_eq!(hidden.replace(&desk.id, "sess-000000000000"), {
        let absent: serde_json::Value = serde_json::from_str(&absent).unwrap();
        absent["message"].as_str().unwrap().to_owned()
    });
    other.get(&format!("{path}/logs")).await.expect_error(404, "not_found");
    other.get(&format!("/api/v1/desktop/windows?session_id={}", desk.id)).await.expect(404);
    theirs.ask("screenshot", json!({})).await.expect_error(404, "not_found");
    theirs.ask("type", json!({ "text": "hi" })).await.expect_error(404, "not_found");
    theirs.ask("agent_status", json!({ "status": "hi" })).await.expect_error(404, "not_found");
    assert_eq!(other.get("/api/v1/sessions").await.json()["sessions"], json!([]));

    other.delete(&path).await.expect_error(404, "not_found");
    assert_eq!(desk.describe().await["status"], "running");

    let admin = server.admin();
    assert_eq!(admin.get(&path).await.expect(200).json()["owner"], "alice");
    assert_eq!(admin.get("/api/v1/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);
    admin.get(&format!("{path}/logs")).await.expect(200);
    admin.delete(&path).await.expect(204);
    // Why it is gone, is its owner's to know.
    let gone = owner.get(&path).await.expect(404).json();
    assert_eq!((&gone["error"], &gone["end_reason"]), (&json!("not_found"), &json!("requested")));
    assert!(other.get(&path).await.expect(404).json()["end_reason"].is_null());
    assert!(gone["ended_at"].is_string(), "{gone}");

    // The next server knows it, too, and of one that ended while there was none.
    let lost = Desk::create(&owner, &json!({})).await.id;
    server.kill();
    let inside = || Process::in_sandboxes(&server.run_dir());
    inside().into_iter().for_each(|process| process.kill());
    let ended = eventually(Duration::from_secs(10), async || inside().is_empty().then_some(()));
    ended.await.expect("the sandbox ends");
    server.restart();
    let owner = server.client("alice", "sessions:*");
    assert_eq!(owner.get(&path).await.expect(404).json(), gone);
    let lost = owner.get(&format!("/api/v1/sessions/{lost}")).await.expect(404).json();
    assert_eq!(lost["end_reason"], "guest_lost", "{lost}");
}
