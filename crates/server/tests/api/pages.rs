//! The web page, as the server sends it.

use crate::client::TestServer;

#[tokio::test]
async fn pages_may_load_nothing_from_elsewhere_and_nobody_may_frame_them() {
    let server = TestServer::start().await;
    for path in ["/", "/login", "/sessions/sess-any", "/vnc.html", "/embed.html"] {
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
    let missing = server.get("/assets/no-such-file.js", "").await;
    assert_eq!(missing.status.as_u16(), 404);
}

#[tokio::test]
async fn a_frame_is_led_to_its_session_with_its_ticket() {
    let server = TestServer::start().await;
    let answer = server.get("/embed/sess-1?ticket=a.b-c_d", "").await;
    assert_eq!(answer.status.as_u16(), 307);
    let path = "api/v1/sessions/sess-1/vnc%3Fticket%3Da.b-c_d";
    let page = format!("../embed.html?autoconnect=true&resize=remote&path={path}");
    assert_eq!(answer.header("location"), page);
}
