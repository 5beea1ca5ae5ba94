//! The page at `/`.

use crate::client::TestServer;

#[tokio::test]
async fn the_front_page_says_what_this_is_and_where_to_go() {
    let server = TestServer::start().await;
    let page = server.get("/", "").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for part in ["helmdeck", env!("CARGO_PKG_VERSION"), "/api/v1/openapi.json", "curl"] {
        assert!(page.text().contains(part), "{part}");
    }
}
