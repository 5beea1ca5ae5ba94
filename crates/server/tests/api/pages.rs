//! The web page as the server sends it.

use crate::client::TestServer;

#[tokio::test]
async fn pages_load_nothing_from_other_sites_and_cannot_be_framed() {
    let server = TestServer::start().await;
    for path in ["/", "/login", "/sessions/sess-any", "/docs", "/vnc.html", "/embed.html"] {
        let page = server.get(path, "").await;
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert!(page.text().contains("helmdeck"), "{path}");
        if page.text().contains("built\nwithout its web page") {
            continue;
        }
        let policy = page.header("content-security-policy");
        for part in ["default-src 'self'", "frame-ancestors 'none'", "script-src 'self'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!page.text().contains("http://") && !page.text().contains("https://"), "{path}");
    }
    server.get("/assets/no-such-file.js", "").await.assert_error(404, "not_found");
}

#[tokio::test]
async fn an_embed_address_redirects_to_the_session_with_its_ticket() {
    let server = TestServer::start().await;
    let answer = server.get("/embed/sess-1?ticket=a.b-c_d", "").await;
    assert_eq!(answer.status.as_u16(), 307);
    let path = "api/v1/sessions/sess-1/vnc%3Fticket%3Da.b-c_d";
    let page = format!("../embed.html?autoconnect=true&resize=remote&path={path}");
    assert_eq!(answer.header("location"), page);
}

#[tokio::test]
async fn an_invalid_session_id_is_a_404_and_not_a_500() {
    let server = TestServer::start().await;
    for path in ["/embed/%0a", "/embed/a%20b", "/embed/%00?ticket=x", "/embed/%c3%a9"] {
        server.get(path, "").await.assert_error(404, "not_found");
    }
}

#[tokio::test]
async fn a_browser_at_an_unknown_address_sees_a_page() {
    let server = TestServer::start().await;
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["/nothing", "/a/b/c"] {
        let request = server.request(http::Method::GET, path, "").header("accept", html);
        let page = server.send(request, "").await;
        assert_eq!(
            (page.status.as_u16(), page.header("content-type")),
            (404, "text/html; charset=utf-8")
        );
        assert!(page.text().contains("Page not found"), "{}", page.text());
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
    }
    let program = server.request(http::Method::GET, "/nothing", "").header("accept", "*/*");
    server.send(program, "").await.assert_error(404, "not_found");
}
