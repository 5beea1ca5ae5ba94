//! Who may end whose token.

use crate::client::TestServer;

#[tokio::test]
async fn a_token_cannot_revoke_a_stronger_one_of_the_same_subject() {
    let server = TestServer::start().await;
    let (weak, weak_id) = server.listed("agent", false, &["sessions:read"]).await;
    let (strong, strong_id) = server.listed("agent", false, &["sessions:*"]).await;
    let (_, admin_id) = server.listed("agent", false, &["admin"]).await;
    let path = |id: &str| format!("/api/v1/tokens/{id}");
    for (token, id, scope) in [
        (&weak, &strong_id, "sessions:*"),
        (&weak, &admin_id, "admin"),
        (&strong, &admin_id, "admin"),
    ] {
        let message = server.delete(&path(id), token).await.assert_error(403, "forbidden");
        assert!(message.contains(scope), "{message}");
    }
    // Itself, and what allows no more than it does.
    let (_, other_id) = server.listed("agent", false, &["sessions:act"]).await;
    assert_eq!(server.delete(&path(&other_id), &strong).await.status, 204);
    assert_eq!(server.delete(&path(&weak_id), &weak).await.status, 204);
    let admin = server.token(&["admin"]);
    assert_eq!(server.delete(&path(&strong_id), &admin).await.status, 204);
    server.get("/api/v1/tokens", &strong).await.assert_error(401, "invalid_token");
}

#[tokio::test]
async fn an_agents_token_does_not_revoke_a_persons() {
    let server = TestServer::start().await;
    let (agent, _) = server.listed("ann", false, &["sessions:*"]).await;
    let (person, id) = server.listed("ann", true, &["sessions:read"]).await;
    let path = format!("/api/v1/tokens/{id}");
    server.delete(&path, &agent).await.assert_error(403, "person_required");
    let listed = server.get("/api/v1/tokens", &person).await.json();
    let humans = listed["tokens"].as_array().unwrap().iter().filter(|it| it["human"] == true);
    assert_eq!(humans.count(), 1);
    assert_eq!(server.delete(&path, &person).await.status, 204);
}

#[tokio::test]
async fn an_id_that_no_token_has_is_a_404() {
    let server = TestServer::start().await;
    let admin = server.token(&["admin"]);
    for id in ["none", "0123456789abcdef0123456789abcdef"] {
        server.delete(&format!("/api/v1/tokens/{id}"), &admin).await.assert_error(404, "not_found");
    }
}
