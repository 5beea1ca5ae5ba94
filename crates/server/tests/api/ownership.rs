//! Sessions belong to their creators.

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_session_does_not_exist_for_anyone_but_its_owner_and_admins() {
    let server = FakeServer::start().await;
    let (owner, other) = (server.client("alice", "sessions:*"), server.client("bob", "sessions:*"));
    let desk = Desk::create(&owner, &json!({})).await;
    assert_eq!(desk.describe().await["owner"], "alice");

    let theirs = Desk { client: &other, id: desk.id.clone() };
    let path = format!("/api/v1/sessions/{}", desk.id);
    let hidden = other.get(&path).await.expect_error(404, "not_found");
    let absent = other.get("/api/v1/sessions/sess-000000000000").await;
    let absent = absent.expect_error(404, "not_found");
    assert_eq!(hidden.replace(&desk.id, "sess-000000000000"), absent);
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
}

#[tokio::test]
async fn only_the_owner_learns_why_a_session_ended_even_after_a_restart() {
    let mut server = FakeServer::start().await;
    let (owner, other) = (server.client("alice", "sessions:*"), server.client("bob", "sessions:*"));
    let desk = Desk::create(&owner, &json!({})).await;
    let path = format!("/api/v1/sessions/{}", desk.id);
    desk.end().await;
    let gone = owner.get(&path).await.expect(404).json();
    assert_eq!((&gone["error"], &gone["end_reason"]), (&json!("not_found"), &json!("requested")));
    assert!(other.get(&path).await.expect(404).json()["end_reason"].is_null());
    assert!(gone["ended_at"].is_string(), "{gone}");

    // The next server knows it, too, and also of one that ended while no server was running.
    let lost = Desk::create(&owner, &json!({})).await.id;
    server.kill().await;
    server.runtime.guest(&lost).die();
    server.restart().await;
    let owner = server.client("alice", "sessions:*");
    assert_eq!(owner.get(&path).await.expect(404).json(), gone);
    let lost = owner.get(&format!("/api/v1/sessions/{lost}")).await.expect(404).json();
    assert_eq!(lost["end_reason"], "guest_lost", "{lost}");
}

#[tokio::test]
async fn a_session_keeps_its_owner_after_a_crash_of_the_server() {
    let mut server = FakeServer::start().await;
    let owner = server.client("alice", "sessions:*");
    let id = Desk::create(&owner, &json!({ "label": "mine" })).await.id;
    server.kill().await;
    server.restart().await;
    let (owner, other) = (server.client("alice", "sessions:*"), server.client("bob", "sessions:*"));
    let desk = Desk { client: &owner, id };
    let session: Value = desk.describe().await;
    assert_eq!(
        (&session["status"], &session["spec"]["label"]),
        (&json!("running"), &json!("mine"))
    );
    desk.browser("navigate", json!({ "url": "about:blank" })).await.expect(200);
    let path = format!("/api/v1/sessions/{}", desk.id);
    other.get(&path).await.expect_error(404, "not_found");
}
