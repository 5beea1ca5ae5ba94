//! Who may call what, for every row of the operation table.

use std::time::Duration;

use helmdeck_server::{Access, operations};
use helmdeck_sessions::Scope;
use tokio::time::timeout;

use crate::client::TestServer;

const SCOPES: [Scope; 4] =
    [Scope::SESSIONS_READ, Scope::SESSIONS_WRITE, Scope::SESSIONS_ACT, Scope::METRICS_READ];

#[test]
fn nothing_is_open_but_what_is_listed_here() {
    let operations = operations();
    let open = operations.iter().filter(|operation| operation.access == Access::Open);
    let open: Vec<_> = open.map(|operation| operation.id.as_str()).collect();
    let pages = ["home", "login_page", "session_page", "settings_page", "docs_page", "viewer_page"];
    let frames = ["embed_session", "embedded_page", "page_asset"];
    let checks = ["healthz", "readyz", "version", "openapi"];
    assert_eq!(open, [&pages[..], &frames, &checks, &["login", "log_in_by_cookie"]].concat());
}

#[tokio::test]
async fn every_operation_asks_for_its_scope_and_for_no_other() {
    let server = TestServer::start().await;
    for operation in operations() {
        let path = operation.path.replace("{id}", "sess-none").replace("{ticket}", "tick-none");
        let path = path.replace("{*path}", "a.txt").replace("{name}", "none");
        let call = async |token: &str| {
            server.send(server.request(operation.method.clone(), &path, token), "").await
        };
        let scope = match operation.access {
            Access::Needs(scope) => scope,
            // A ticket would do instead of this scope.
            Access::Watches => Scope::SESSIONS_ACT,
            Access::Open => {
                assert_ne!(call("").await.status.as_u16(), 403, "{path}");
                continue;
            }
        };
        let refused = call("").await;
        refused.assert_error(401, "missing_bearer");
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"helmdeck\"");

        for other in SCOPES.into_iter().filter(|other| *other != scope) {
            let message =
                call(&server.token(&[other.as_str()])).await.assert_error(403, "forbidden");
            assert!(message.contains(scope.as_str()), "{path}: {message}");
        }
        call(&server.token(&[])).await.assert_error(403, "forbidden");

        for enough in [scope.as_str(), "admin"] {
            let token = server.token(&[enough]);
            // Events never end: who is not refused waits for them.
            let Ok(answer) = timeout(Duration::from_secs(3), call(&token)).await else {
                assert_eq!(operation.id, "events");
                continue;
            };
            let status = answer.status.as_u16();
            assert!(status != 401 && status != 403, "{path} refused {enough}: {status}");
        }
    }
}
