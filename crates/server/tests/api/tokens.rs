//! Revoking tokens and its effects. Cookies are tokens that scripts cannot read.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_testkit::{Desk, Refused, Watcher, fake::FakeServer};
use http::Method;
use serde_json::json;

use crate::client::TestServer;

const HOUR: Duration = Duration::from_secs(3600);

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
    // It can revoke itself and tokens that allow no more.
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
async fn a_person_creates_tokens_that_allow_no_more_than_their_own() {
    let server = FakeServer::start().await;
    let ann = server.bearer(server.person_token("ann", "sessions:*"));
    let wanted = json!({ "label": "price checker", "scopes": ["sessions:read"], "ttl_s": 600 });
    let made = ann.post("/api/v1/tokens", &wanted).await.expect(201).json();
    assert_eq!(
        (&made["label"], &made["subject"], &made["scopes"]),
        (&json!("price checker"), &json!("ann"), &json!(["sessions:read"]))
    );
    let token = made["token"].as_str().unwrap().to_owned();
    let agent = server.bearer(token);
    agent.get("/api/v1/sessions").await.expect(200);
    agent.post("/api/v1/sessions", &json!({})).await.expect_error(403, "forbidden");
    let listed = ann.get("/api/v1/tokens").await.expect(200).json();
    let listed = &listed["tokens"][0];
    assert_eq!((&listed["id"], &listed["human"]), (&made["id"], &json!(false)));
    assert!(listed["last_used_at"].is_string() && listed["token"].is_null(), "{listed}");
    ann.delete(&format!("/api/v1/tokens/{}", made["id"].as_str().unwrap())).await.expect(204);
    agent.get("/api/v1/sessions").await.expect_error(401, "invalid_token");

    for (wanted, code) in [
        (json!({ "label": "x", "scopes": ["admin"] }), "forbidden"),
        (json!({ "label": "x", "scopes": ["metrics:read"] }), "forbidden"),
        (json!({ "label": "x", "subject": "bob" }), "forbidden"),
    ] {
        ann.post("/api/v1/tokens", &wanted).await.expect_error(403, code);
    }
    for wrong in [
        json!({}),
        json!({ "label": "" }),
        json!({ "label": "a\nb" }),
        json!({ "label": "x", "scopes": ["sessions:reed"] }),
        json!({ "label": "x", "scopes": [] }),
        json!({ "label": "x", "ttl_s": 1 }),
        json!({ "label": "x", "human": true }),
    ] {
        ann.post("/api/v1/tokens", &wrong).await.expect_error(400, "invalid_input");
    }
}

#[tokio::test]
async fn an_agent_creates_no_tokens_and_an_admin_only_tokens_of_agents() {
    let server = FakeServer::start().await;
    let wanted = json!({ "label": "x" });
    let agent = server.client("agent", "sessions:*");
    agent.post("/api/v1/tokens", &wanted).await.expect_error(403, "person_required");

    let wanted = json!({ "label": "x", "subject": "bob", "scopes": ["admin"] });
    let made = server.admin().post("/api/v1/tokens", &wanted).await.expect(201).json();
    assert_eq!(made["subject"], "bob");
    let bob = server.bearer(made["token"].as_str().unwrap().to_owned());
    let desk = Desk::desktop(&bob).await;
    let forced = json!({ "force": true });
    let path = format!("/api/v1/sessions/{}/control/take", desk.id);
    server.person().post(&path, &json!({})).await.expect(200);
    bob.post(&path, &forced).await.expect_error(403, "person_required");
}

#[tokio::test]
async fn the_last_use_of_a_token_survives_a_restart() {
    let mut server = FakeServer::start().await;
    let (token, id) = server.listed_token("agent", false, "sessions:*", HOUR).await;
    let (other, unused) = server.listed_token("agent", false, "sessions:read", HOUR).await;
    server.bearer(token).get("/api/v1/sessions").await.expect(200);
    let used = async |server: &FakeServer, id: &str| {
        let listed = server.admin().get("/api/v1/tokens").await.expect(200).json();
        let listed = listed["tokens"].as_array().unwrap().clone();
        listed.into_iter().find(|token| token["id"] == *id).unwrap()["last_used_at"].clone()
    };
    let before = used(&server, &id).await;
    assert!(before.is_string());
    server.leave().await;
    server.restart().await;
    assert_eq!(used(&server, &id).await, before);
    assert!(used(&server, &unused).await.is_null());
    server.bearer(other).get("/api/v1/sessions").await.expect(200);
    assert!(used(&server, &unused).await.is_string());
}

#[tokio::test]
async fn an_unknown_token_id_is_a_404() {
    let server = TestServer::start().await;
    let admin = server.token(&["admin"]);
    for id in ["none", "0123456789abcdef0123456789abcdef"] {
        server.delete(&format!("/api/v1/tokens/{id}"), &admin).await.assert_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_its_viewers_are_closed() {
    let server = FakeServer::start().await;
    let (admin, agent) = (server.admin(), server.client("agent", "sessions:*"));
    let (token, id) = server.listed_token("agent", false, "sessions:*", HOUR).await;
    server.listed_token("other", false, "sessions:*", HOUR).await;
    let viewer_of = server.bearer(token.clone());
    let desk = Desk::desktop(&agent).await;
    let bearer = format!("Bearer {token}");
    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    let viewer = Watcher::open(&server, &vnc, &[("authorization", &bearer)]).await.unwrap();

    let own = viewer_of.get("/api/v1/tokens").await.expect(200).json();
    let own = own["tokens"].as_array().unwrap();
    assert!(own.iter().all(|token| token["subject"] == "agent"), "{own:?}");
    assert_eq!(own[0]["id"], id, "the newest token comes first");
    admin.delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    viewer_of.get("/api/v1/sessions").await.expect_error(401, "invalid_token");
    assert_eq!(viewer.closed().await.0, 4001);
    let again = Watcher::socket(&server, &vnc, &[("authorization", &bearer)]).await;
    assert_eq!(again.map(|_| ()).unwrap_err(), Refused(401, "invalid_token".into()));
    agent.get("/api/v1/sessions").await.expect(200);
    let listed = admin.get("/api/v1/tokens").await.json();
    let listed = listed["tokens"].as_array().unwrap();
    assert!(listed.iter().any(|token| token["id"] == *id && token["revoked_at"].is_string()));
    assert!(listed.iter().any(|token| token["subject"] == "other"), "an admin sees all");
    agent.delete("/api/v1/tokens/none").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn a_revoked_token_stays_revoked_in_the_next_server() {
    let mut server = FakeServer::start().await;
    let (token, id) = server.listed_token("agent", false, "sessions:*", HOUR).await;
    server.admin().delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    server.kill().await;
    server.restart().await;
    server.bearer(token).get("/api/v1/sessions").await.expect_error(401, "invalid_token");
}

#[tokio::test]
async fn a_page_logs_in_by_cookie_and_other_sites_cannot_use_it() {
    let server = FakeServer::start_with(&[("HELMDECK_ADMIN_PASSWORD", "correct horse")]).await;
    let nobody = server.stranger();
    let login = json!({ "username": "admin", "password": "correct horse" });
    let answer = nobody.post("/api/v1/auth/cookie", &login).await.expect(200);
    assert!(answer.json().get("token").is_none(), "scripts cannot read the token");
    let cookie = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    let send = async |method: Method, path: &str, more: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie)], more].concat();
        nobody.send(method, path, &headers, Bytes::new()).await
    };
    let me = send(Method::GET, "/api/v1/auth/me", &[]).await.expect(200).json();
    assert_eq!((&me["subject"], &me["scopes"]), (&json!("admin"), &json!(["admin"])));

    let csrf = [("x-helmdeck-csrf", "1")];
    send(Method::POST, "/api/v1/sessions?wait=false", &[]).await.expect_error(403, "csrf");
    let foreign = [("origin", "http://evil.example"), csrf[0]];
    let refused = send(Method::POST, "/api/v1/sessions?wait=false", &foreign).await;
    refused.expect_error(403, "foreign_origin");
    send(Method::POST, "/api/v1/sessions?wait=false", &csrf).await.expect(201);
    send(Method::GET, "/api/v1/sessions", &[]).await.expect(200);
    send(Method::DELETE, "/api/v1/auth/cookie", &csrf).await.expect(204);
    send(Method::GET, "/api/v1/sessions", &[]).await.expect_error(401, "invalid_token");
}
