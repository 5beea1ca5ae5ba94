//! Browser profiles: names, and invalid files.

use std::fs;

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::json;

#[tokio::test]
async fn an_unreadable_profile_fails_the_session_and_is_not_overwritten() {
    let server = FakeServer::start().await;
    let client = server.admin();
    for bad in ["", "a/b", "..", "a b"] {
        let answer = client.post("/api/v1/sessions", &json!({ "profile": bad })).await;
        answer.expect_error(400, "invalid_input");
    }
    let dir = server.data_dir().join("profiles/o61646d696e");
    fs::create_dir_all(&dir).unwrap();
    for (content, why) in
        [("nonsense, and long enough", "not a profile"), ("helmdeckprofile1", "sealed")]
    {
        fs::write(dir.join("odd"), content).unwrap();
        let answer = client.post("/api/v1/sessions", &json!({ "profile": "odd" })).await;
        let message = answer.expect_error(500, "create_failed");
        assert!(message.contains(why), "{message}");
        assert_eq!(fs::read_to_string(dir.join("odd")).unwrap(), content);
    }
}

#[tokio::test]
async fn one_session_at_a_time_uses_a_profile_and_owners_do_not_share_names() {
    let server = FakeServer::start().await;
    let (client, other) = (server.admin(), server.client("other", "sessions:*"));
    let wanted = json!({ "profile": "work" });
    let first = Desk::create(&client, &wanted).await;
    let refused = client.post("/api/v1/sessions", &wanted).await;
    let message = refused.expect_error(409, "profile_in_use");
    assert!(message.contains(&first.id), "{message}");
    client.delete("/api/v1/profiles/work").await.expect_error(409, "profile_in_use");
    let theirs = Desk::create(&other, &wanted).await;
    theirs.end().await;
    first.end().await;

    // The profile was saved, and the next session gets it.
    let names = client.get("/api/v1/profiles").await.expect(200).json();
    assert_eq!(names["profiles"][0]["name"], "work", "{names}");
    let second = Desk::create(&client, &wanted).await;
    let guest = server.runtime.guest(&second.id);
    assert_eq!(guest.bodies("profile").len(), 1, "{:?}", guest.asked());
    second.end().await;
    other.delete("/api/v1/profiles/work").await.expect(204);
    assert_eq!(other.get("/api/v1/profiles").await.json()["profiles"], json!([]));
    assert_eq!(client.get("/api/v1/profiles").await.json()["profiles"][0]["name"], "work");
}
