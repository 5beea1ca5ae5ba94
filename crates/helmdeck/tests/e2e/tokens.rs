//! Tokens are listed and revoked; cookies are tokens that no script can read.

use bytes::Bytes;
use helmdeck_testkit::{Client, Desk, Refused, Server, Watcher};
use http::Method;
use serde_json::json;

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_its_viewers_are_closed() {
    let server = Server::start();
    let (admin, agent) = (server.admin(), server.client("agent", "sessions:*"));
    let token = server.token("agent", "sessions:*");
    let viewer_of = Client::new(server.address, Some(token.clone()));
    let desk = Desk::desktop(&agent).await;
    let bearer = format!("Bearer {token}");
    let vnc = format!("/api/v1/sessions/{}/vnc", desk.id);
    let viewer = Watcher::open(&server, &vnc, &[("authorization", &bearer)]).await.unwrap();

    let own = viewer_of.get("/api/v1/tokens").await.expect(200).json();
    let own = own["tokens"].as_array().unwrap();
    assert!(own.iter().all(|token| token["subject"] == "agent"), "{own:?}");
    // The newest is the one that was made last.
    let id = own[0]["id"].as_str().unwrap();
    admin.delete(&format!("/api/v1/tokens/{id}")).await.expect(204);
    viewer_of.get("/api/v1/sessions").await.expect_error(401, "invalid_token");
    assert_eq!(viewer.closed().await.0, 4001);
    let again = Watcher::socket(&server, &vnc, &[("authorization", &bearer)]).await;
    assert_eq!(again.map(|_| ()).unwrap_err(), Refused(401, "invalid_token".into()));
    agent.get("/api/v1/sessions").await.expect(200);
    let listed = admin.get("/api/v1/tokens").await.json();
    let listed = listed["tokens"].as_array().unwrap();
    assert!(listed.iter().any(|token| token["id"] == id && token["revoked_at"].is_string()));
    agent.delete("/api/v1/tokens/none").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn a_page_logs_in_by_cookie_and_other_sites_cannot_use_it() {
    let server = Server::start_with(&[("HELMDECK_ADMIN_PASSWORD", "correct horse")]);
    let nobody = server.stranger();
    let login = json!({ "username": "admin", "password": "correct horse" });
    let answer = nobody.post("/api/v1/auth/cookie", &login).await.expect(200);
    assert!(answer.json().get("token").is_none(), "no script sees the token");
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
    send(Method::GET, "/api/v1/sessions", &[]).await.expect(200);
    send(Method::DELETE, "/api/v1/auth/cookie", &csrf).await.expect(204);
    send(Method::GET, "/api/v1/sessions", &[]).await.expect_error(401, "invalid_token");
}
