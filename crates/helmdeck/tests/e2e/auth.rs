//! Tokens and login.

use helmdeck_testkit::{Installation, Server};
use serde_json::json;

#[tokio::test]
async fn the_generated_login_gives_an_admin_token() {
    let installation = Installation::new();
    let login = installation.run(["admin", "init"]);
    let (username, password) = login.split_once('\t').expect("name, tab, password");
    assert_eq!(installation.run(["admin", "init"]), "", "the second call creates nothing");

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
