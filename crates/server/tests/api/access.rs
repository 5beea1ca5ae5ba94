//! Access rules of every row of the operation table.

use bytes::Bytes;
use helmdeck_server::{Access, operations};
use helmdeck_sessions::Scope;
use helmdeck_testkit::{Answer, Client, fake::FakeServer};
use serde_json::Value;

#[test]
fn only_operations_listed_here_are_open() {
    let operations = operations();
    let open = operations.iter().filter(|operation| operation.access == Access::Open);
    let open: Vec<_> = open.map(|operation| operation.id.as_str()).collect();
    let pages =
        ["home", "login_page", "session_page", "settings_page", "connect_page", "tokens_page"];
    let work = ["packs_page", "pack_page", "jobs_page"];
    let views = ["audit_page", "credentials_page", "artifacts_page", "models_page"];
    let documents = ["docs_page", "viewer_page"];
    let frames = ["embed_session", "embedded_page", "page_asset"];
    let checks = ["healthz", "readyz", "version", "openapi"];
    let logins = ["login", "log_in_by_cookie", "skill"];
    let metadata = ["protected_resource", "protected_resource_mcp"];
    let cards = ["agent_card", "agent_card_old"];
    let open_ones =
        [&pages[..], &work, &views, &documents, &frames, &checks, &logins, &metadata, &cards];
    assert_eq!(open, open_ones.concat());
}

#[tokio::test]
async fn every_operation_requires_exactly_its_scope() {
    let server = FakeServer::start().await;
    for operation in operations() {
        let path = operation.path.replace("{id}", "sess-none").replace("{ticket}", "tick-none");
        let path = path.replace("{*path}", "a.txt").replace("{name}", "none");
        let path = path.replace("{*key}", "none/0000000000000000-a").replace("{*id}", "none/none");
        let path = path.replace("{caller}", "none").replace("{provider}", "none");
        // Events never end: the head of the response is enough.
        let call = async |client: Client| -> Answer {
            client.begin(operation.method.clone(), &path, &[], Bytes::new()).await
        };
        let scope = match operation.access {
            Access::Needs(scope) => scope,
            // A ticket would work instead of this scope.
            Access::Watches => Scope::SESSIONS_ACT,
            // And so would a link.
            Access::Linked(scope) => scope,
            Access::AnyToken => {
                call(server.stranger()).await.expect_error(401, "missing_bearer");
                let status = call(server.client("agent", "")).await.status;
                assert!(![401, 403].contains(&status) && status < 500, "{path}: {status}");
                continue;
            }
            Access::Open => {
                let status = call(server.stranger()).await.status;
                assert!(status != 403 && status < 500, "{path}: {status}");
                continue;
            }
        };
        let refused = call(server.stranger()).await;
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"helmdeck\"");
        expect_error(refused, 401, "missing_bearer");

        for other in other_scopes(scope) {
            let refused = call(server.client("agent", other.as_str())).await;
            let message = expect_error(refused, 403, "forbidden");
            assert!(message.contains(scope.as_str()), "{path}: {message}");
        }
        expect_error(call(server.client("agent", "")).await, 403, "forbidden");

        for enough in [scope.as_str(), "admin"] {
            let answer = call(server.client("agent", enough)).await;
            let refused = [401, 403].contains(&answer.status);
            // The server can answer each call, or reports what is missing.
            assert!(!refused && answer.status < 500, "{path} with {enough}: {}", answer.text());
        }
    }
}

/// Checks an error, also in the shape of a vendor's, and returns its message.
#[track_caller]
fn expect_error(answer: Answer, status: u16, code: &str) -> String {
    let body = answer.clone().expect(status).json();
    match &body["error"]["code"] {
        Value::Null => answer.expect_error(status, code),
        found => {
            assert_eq!(found, code, "{body}");
            body["error"]["message"].as_str().expect("a message").to_owned()
        }
    }
}

/// All scopes but this one and that of admins.
fn other_scopes(scope: Scope) -> impl Iterator<Item = Scope> {
    let scopes = Scope::REGISTRY.into_iter().map(|(scope, _)| scope);
    scopes.filter(move |other| *other != scope && *other != Scope::ADMIN)
}
