//! Tokens and logging in.

use helmdeck_testkit::{Installation, Server, eventually};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn without_a_good_token_nothing_is_told_and_the_challenge_says_how() {
    let server = Server::start();
    let answer = server.stranger().get("/api/v1/sessions").await;
    assert!(answer.header("www-authenticate").starts_with("Bearer"), "{:?}", answer.headers);
    answer.expect_error(401, "missing_bearer");

    let forged = server.bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.".to_owned());
    let answer = forged.get("/api/v1/sessions").await;
    assert!(answer.header("www-authenticate").starts_with("Bearer"), "{:?}", answer.headers);
    answer.expect_error(401, "invalid_token");

    let elsewhere = Server::start();
    let stranger = server.bearer(elsewhere.run(["token", "--sub", "admin", "--scopes", "admin"]));
    stranger.get("/api/v1/sessions").await.expect_error(401, "invalid_token");
}

#[tokio::test]
async fn an_expired_token_is_refused_as_expired() {
    let server = Server::start();
    let short = server.bearer(server.run(["token", "--sub", "agent", "--ttl", "1s"]));
    short.get("/api/v1/sessions").await.expect(200);
    // The clocks of two machines may be seconds apart, so it is honoured a little longer.
    let refused = async || {
        let answer = short.get("/api/v1/sessions").await;
        (answer.status != 200).then_some(answer)
    };
    let refused = eventually(Duration::from_secs(20), refused).await.expect("it expires");
    let message = refused.expect_error(401, "invalid_token");
    assert!(message.contains("token expired"), "{message}");
}

#[tokio::test]
async fn a_token_opens_what_its_scopes_name_and_nothing_else() {
    let server = Server::start();
    let reader = server.client("agent", "sessions:read");
    reader.get("/api/v1/sessions").await.expect(200);
    let message = reader.post("/api/v1/sessions", &json!({})).await.expect_error(403, "forbidden");
    assert!(message.contains("sessions:write"), "{message}");
    reader.delete("/api/v1/sessions/sess-1").await.expect_error(403, "forbidden");
    let body = json!({ "session_id": "sess-1", "x": 1, "y": 1 });
    reader.post("/api/v1/desktop/click", &body).await.expect_error(403, "forbidden");
    reader.get("/metrics").await.expect_error(403, "forbidden");

    let actor = server.client("agent", "sessions:act");
    actor.get("/api/v1/sessions").await.expect_error(403, "forbidden");
    actor.post("/api/v1/desktop/click", &body).await.expect_error(404, "not_found");
}

#[tokio::test]
async fn the_login_that_the_first_start_made_gives_an_admin_token() {
    let installation = Installation::new();
    let login = installation.run(["admin", "init"]);
    let (username, password) = login.split_once('\t').expect("name, tab, password");
    assert_eq!(installation.run(["admin", "init"]), "", "the second time makes nothing");

    let server = Server::start_in(installation, &[]);
    let credentials = json!({ "username": username, "password": password });
    let reply = server.stranger().post("/api/v1/auth/login", &credentials).await.expect(200).json();
    assert_eq!(reply["subject"], username);
    let admin = server.bearer(reply["token"].as_str().expect("a token").to_owned());
    admin.get("/metrics").await.expect(200);
}

#[tokio::test]
async fn a_new_password_replaces_the_old_one_while_the_server_runs() {
    let server = Server::start_in(Installation::new(), &[]);
    let old = server.run(["admin", "reset-password"]);
    let new = server.run(["admin", "reset-password"]);
    let stranger = server.stranger();
    let log_in = async |login: &str| {
        let (username, password) = login.split_once('\t').expect("name, tab, password");
        let credentials = json!({ "username": username, "password": password });
        stranger.post("/api/v1/auth/login", &credentials).await
    };
    log_in(&old).await.expect_error(401, "invalid_credentials");
    log_in(&new).await.expect(200);
    let empty = stranger.post("/api/v1/auth/login", &json!({ "username": "admin" })).await;
    empty.expect_error(400, "missing_credentials");
}
