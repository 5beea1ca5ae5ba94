//! Whether the server is well.

use helmdeck_testkit::Server;

#[tokio::test]
async fn anyone_may_ask_how_the_server_is() {
    let server = Server::start();
    let stranger = server.stranger();
    for path in ["/healthz", "/readyz"] {
        let answer = stranger.get(path).await.expect(200);
        assert_eq!(answer.json()["status"], "ok", "{path}");
        assert!(!answer.header("x-request-id").is_empty(), "{path}");
    }
    let version = stranger.get("/version").await.expect(200).json();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    stranger.get("/nowhere").await.expect_error(404, "not_found");
}
