//! `http.fetch`: secrets, redirects, limits, and calls to our own API.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use axum::{
    Router,
    body::Bytes,
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::Redirect,
    routing::{any, get},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};

use crate::outside::{Outside, ask, credential, expect_nowhere, output};

const SECRET: &str = "sk-0123456789-SECRET";
const REACHABLE: (&str, &str) = ("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.0/8");
const CALLER: &str = "sessions:*,vault:*";

/// Answers with what it got.
async fn echo(headers: HeaderMap, request: Request) -> String {
    let uri = request.uri().to_string();
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let header = |name| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
    json!({
        "uri": uri, "authorization": header("authorization"), "key": header("x-api-key"),
        "body": String::from_utf8_lossy(&body),
    })
    .to_string()
}

async fn site() -> Outside {
    Outside::start(|_| Router::new().route("/{*path}", any(echo))).await
}

#[tokio::test]
async fn secrets_are_substituted_for_their_host_and_never_returned_or_stored() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let (ann, site) = (server.client("ann", CALLER), site().await);
    credential(&ann, "service-key", &site.host, SECRET).await;
    let input = json!({
        "url": site.url("/v1?key=${vault:service-key}"), "method": "POST",
        "headers": { "Authorization": "Bearer ${vault:service-key}" },
        "body": "{\"key\": \"${vault:service-key}\"}",
    });
    let said = output(&ann, "http.fetch", &input).await;
    assert_eq!((&said["status"], &said["encoding"]), (&json!(200), &json!("utf-8")));
    let got: Value = serde_json::from_str(said["body"].as_str().unwrap()).unwrap();
    assert_eq!(got["authorization"], "Bearer •••", "it arrived, and is not repeated");
    assert_eq!((&got["uri"], &got["body"]), (&json!("/v1?key=•••"), &json!("{\"key\": \"•••\"}")));
    expect_nowhere(&server, SECRET).await;
}

#[tokio::test]
async fn an_artifact_does_not_have_the_secret_that_its_job_used() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let ann = server.client("ann", CALLER);
    // Longer than the pieces in which files are stored, with secrets at every place.
    let site = Outside::start(|_| {
        let repeats = async |headers: HeaderMap| {
            let key = headers.get("x-api-key").unwrap().to_str().unwrap().to_owned();
            let encoded = BASE64_STANDARD.encode(&key);
            (0..40_000).map(|n| format!("{n} {key} {encoded}\n")).collect::<String>()
        };
        Router::new().route("/log.txt", get(repeats))
    })
    .await;
    credential(&ann, "service-key", &site.host, SECRET).await;
    let input = json!({
        "url": site.url("/log.txt"), "headers": { "X-Api-Key": "${vault:service-key}" },
    });
    let said = output(&ann, "http.fetch", &input).await;
    let key = said["artifact_key"].as_str().unwrap();
    let stored = ann.get(&format!("/api/v1/artifacts/download/{key}")).await.expect(200).text();
    let lines: Vec<_> = stored.lines().collect();
    assert_eq!((lines.len(), lines[39_999]), (40_000, "39999 ••• •••"));
    assert!(lines.iter().all(|line| line.ends_with(" ••• •••")));
    expect_nowhere(&server, SECRET).await;
}

#[tokio::test]
async fn a_server_that_echoes_a_secret_into_the_address_and_type_of_a_download_stores_none() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let ann = server.client("ann", CALLER);
    let site = Outside::start(|_| {
        let away = async |headers: HeaderMap| {
            let key = headers.get("x-api-key").unwrap().to_str().unwrap().to_owned();
            Redirect::temporary(&format!("/files/{key}-report.txt"))
        };
        let file = async |headers: HeaderMap| {
            let key = headers.get("x-api-key").unwrap().to_str().unwrap().to_owned();
            ([(header::CONTENT_TYPE, format!("text/{key}"))], "x")
        };
        Router::new().route("/away", get(away)).route("/files/{name}", get(file))
    })
    .await;
    credential(&ann, "service-key", &site.host, SECRET).await;
    let headers = json!({ "X-Api-Key": "${vault:service-key}" });
    let input = json!({ "url": site.url("/away"), "headers": headers, "save": true });
    let said = output(&ann, "http.fetch", &input).await;
    let key = said["artifact_key"].as_str().unwrap();
    assert!(key.ends_with("-•••-report.txt"), "{key}");
    let listed = ann.get("/api/v1/artifacts").await.expect(200).text();
    assert!(!listed.contains(SECRET), "{listed}");
    expect_nowhere(&server, SECRET).await;
}

#[tokio::test]
async fn a_response_is_saved_whatever_its_content_type_is() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let ann = server.client("ann", CALLER);
    let site = Outside::start(|_| {
        let odd = |kind: &'static str| get(async move || ([(header::CONTENT_TYPE, kind)], "x"));
        let routes = Router::new().route("/text", odd("text")).route("/none", odd(""));
        routes.route("/two", odd("a b/c")).route("/plain", odd("text/plain; charset=utf-8"))
    })
    .await;
    for (path, kind) in [
        ("/text", "application/octet-stream"),
        ("/none", "application/octet-stream"),
        ("/two", "application/octet-stream"),
        ("/plain", "text/plain"),
    ] {
        let input = json!({ "url": site.url(path), "save": true });
        let job = ask(&ann, "http.fetch", &input).await.expect(200).json();
        assert_eq!(job["artifacts"][0]["content_type"], kind, "{path}");
    }
}

#[tokio::test]
async fn a_secret_for_another_host_or_of_another_caller_is_not_sent() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let (ann, bob) = (server.client("ann", CALLER), server.client("bob", CALLER));
    let site = site().await;
    credential(&ann, "other-key", "api.example.com", SECRET).await;
    credential(&ann, "service-key", &site.host, SECRET).await;
    let fetch = |name: &str| {
        let header = format!("${{vault:{name}}}");
        json!({ "url": site.url("/x"), "headers": { "X-Api-Key": header } })
    };
    let refused = ask(&ann, "http.fetch", &fetch("other-key")).await;
    let message = refused.expect_error(403, "forbidden");
    assert!(message.contains("may not be sent to 127.0.0.1"), "{message}");
    let refused = ask(&bob, "http.fetch", &fetch("service-key")).await;
    let message = refused.expect_error(400, "credential_invalid");
    assert!(message.starts_with("vault: service-key not found"), "{message}");
}

#[tokio::test]
async fn a_redirect_to_another_host_does_not_carry_the_secret() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let (ann, other) = (server.client("ann", CALLER), site().await);
    let elsewhere = other.url("/landed?stolen=${vault:service-key}");
    let first = Outside::start(|_| {
        let temporary = elsewhere.clone();
        Router::new()
            .route("/away", get(async move || Redirect::temporary(&elsewhere)))
            .route("/keep", any(async move || Redirect::temporary(&temporary)))
            .route("/here", get(async || Redirect::temporary("/echo?q=${vault:service-key}")))
            .route("/echo", any(echo))
    })
    .await;
    credential(&ann, "service-key", &first.host, SECRET).await;
    let headers = json!({
        "Authorization": "Bearer ${vault:service-key}", "X-Api-Key": "${vault:service-key}",
    });
    let fetch = |path: &str| json!({ "url": first.url(path), "headers": headers });
    let said = output(&ann, "http.fetch", &fetch("/away")).await;
    let got: Value = serde_json::from_str(said["body"].as_str().unwrap()).unwrap();
    assert_eq!((&got["authorization"], &got["key"]), (&Value::Null, &Value::Null), "{got}");
    assert!(got["uri"].as_str().unwrap().starts_with("/landed"), "{got}");
    // On the same host it does, and an address from a redirect is left as it is.
    let said = output(&ann, "http.fetch", &fetch("/here")).await;
    let got: Value = serde_json::from_str(said["body"].as_str().unwrap()).unwrap();
    assert_eq!(got["key"], "•••");
    assert!(got["uri"].as_str().unwrap().contains("vault:service-key"), "{got}");
    // A body with a secret is not sent elsewhere.
    let mut input = fetch("/keep");
    (input["method"], input["body"]) = (json!("POST"), json!("key=${vault:service-key}"));
    let refused = ask(&ann, "http.fetch", &input).await;
    assert!(refused.expect_error(400, "invalid_input").contains("redirects to"));
}

#[tokio::test]
async fn an_earlier_result_is_returned_only_to_the_caller_that_accepts_one() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let (ann, bob) = (server.client("ann", CALLER), server.client("bob", CALLER));
    let visits = Arc::new(AtomicU32::new(0));
    let site = Outside::start(|_| {
        let visit = async move || (visits.fetch_add(1, Ordering::Relaxed) + 1).to_string();
        Router::new().route("/visits", any(visit))
    })
    .await;
    let visit = async |client: &Client, more: Value| {
        let mut input = json!({ "url": site.url("/visits"), "save": true });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(client, "http.fetch", &input).await.expect(200).json()
    };
    let read = |job: &Value| job["output"]["body"].as_str().unwrap().to_owned();
    assert_eq!(read(&visit(&ann, json!({})).await), "1");
    let second = visit(&ann, json!({})).await;
    assert_eq!((read(&second).as_str(), second.get("cached")), ("2", None));

    let cached = visit(&ann, json!({ "max_age_s": 3600 })).await;
    assert_eq!((read(&cached).as_str(), &cached["cached"]), ("2", &json!(true)), "{cached}");
    assert_eq!(cached["job_id"], second["job_id"]);
    assert!(cached["age_s"].is_u64(), "{cached}");
    // A new call: the caller accepts none, or it is another caller, token or input.
    assert_eq!(read(&visit(&ann, json!({ "max_age_s": 0 })).await), "3");
    assert_eq!(read(&visit(&bob, json!({ "max_age_s": 3600 })).await), "4");
    let other_token = server.client("ann", CALLER);
    assert_eq!(read(&visit(&other_token, json!({ "max_age_s": 3600 })).await), "5");
    assert_eq!(read(&visit(&ann, json!({ "max_age_s": 3600, "timeout_s": 9 })).await), "6");
    // A result whose file was deleted is of no use.
    let newest = visit(&ann, json!({ "max_age_s": 3600 })).await;
    assert_eq!(read(&newest), "3");
    let key = newest["output"]["artifact_key"].as_str().unwrap();
    ann.delete(&format!("/api/v1/artifacts/{key}")).await.expect(204);
    assert_eq!(read(&visit(&ann, json!({ "max_age_s": 3600 })).await), "7");

    let input = json!({ "url": site.url("/visits"), "method": "POST", "max_age_s": 3600 });
    let refused = ask(&ann, "http.fetch", &input).await;
    assert_eq!(refused.json()["field"], "max_age_s");
    refused.expect_error(400, "invalid_input");
    let input = json!({ "code": "print(1)", "max_age_s": 3600 });
    let refused = ask(&ann, "python.run", &input).await;
    assert!(refused.expect_error(400, "invalid_input").contains("max_age_s"));
}

#[tokio::test]
async fn a_large_or_binary_response_is_bounded_and_kept_as_an_artifact() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let ann = server.client("ann", "sessions:*");
    let site = Outside::start(|_| {
        let large = || async { "x".repeat(300 << 10) };
        let binary = || async { Bytes::from_static(&[0xff, 0, 1]) };
        let missing = || async { (StatusCode::NOT_FOUND, [(header::SERVER, "test")], "no") };
        Router::new()
            .route("/large.txt", get(large))
            .route("/binary", get(binary))
            .route("/missing", get(missing))
    })
    .await;
    let fetch = |path: &str| json!({ "url": site.url(path) });
    let said = output(&ann, "http.fetch", &fetch("/large.txt")).await;
    assert_eq!((&said["truncated"], &said["size"]), (&json!(true), &json!(300 << 10)));
    assert_eq!(said["body"].as_str().unwrap().len(), 256 << 10);
    let key = said["artifact_key"].as_str().unwrap();
    assert!(key.starts_with("http.fetch/") && key.ends_with("-large.txt"), "{key}");
    let whole = ann.get(&format!("/api/v1/artifacts/download/{key}")).await.expect(200);
    assert_eq!(whole.body.len(), 300 << 10);
    let said = output(&ann, "http.fetch", &fetch("/binary")).await;
    assert_eq!((&said["encoding"], &said["body"]), (&json!("base64"), &json!("/wAB")));
    let said = output(&ann, "http.fetch", &fetch("/missing")).await;
    assert_eq!((&said["status"], &said["headers"]["server"]), (&json!(404), &json!("test")));
}

#[tokio::test]
async fn closed_addresses_and_malformed_requests_are_refused() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    for url in ["http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://10.0.0.1/"] {
        let refused = ask(&ann, "http.fetch", &json!({ "url": url })).await;
        let message = refused.expect_error(403, "egress_denied");
        assert!(message.starts_with("egress denied"), "{message}");
    }
    for (input, field) in [
        (json!({ "url": "file:///etc/passwd" }), "url"),
        (json!({ "url": "http://me:secret@a.example/" }), "url"),
        (json!({ "url": "http://${vault:x}.example/" }), "url"),
        (json!({ "url": "http://a.example/", "method": "CONNECT" }), "method"),
        (json!({ "url": "http://a.example/", "headers": { "Host": "b" } }), "headers"),
        (json!({ "url": "http://a.example/", "headers": { "a b": "c" } }), "headers"),
        (json!({ "url": "http://a.example/", "timeout_s": 0 }), "timeout_s"),
    ] {
        let refused = ask(&ann, "http.fetch", &input).await;
        assert_eq!(refused.json()["field"], field, "{input}");
        refused.expect_error(400, "invalid_input");
    }
}

#[tokio::test]
async fn our_own_api_is_called_in_process_as_the_caller() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let created = ann.post("/api/v1/sessions", &json!({ "mode": "desktop" })).await.expect(201);
    let session = created.json()["id"].as_str().unwrap().to_owned();
    // As the documentation of the desktop endpoints has it.
    let click = |url: &str| {
        json!({
            "url": url, "method": "POST", "headers": { "Content-Type": "application/json" },
            "body": json!({ "session_id": session, "x": 376, "y": 69, "button": "left" }).to_string(),
        })
    };
    let port = server.address.port();
    for host in
        ["localhost:3000".to_owned(), format!("localhost:{port}"), format!("127.0.0.1:{port}")]
    {
        let url = format!("http://{host}/api/v1/desktop/click");
        let said = output(&ann, "http.fetch", &click(&url)).await;
        assert_eq!(said["status"], 200, "{said}");
        let body: Value = serde_json::from_str(said["body"].as_str().unwrap()).unwrap();
        assert_eq!((&body["ok"], &body["x"], &body["y"]), (&json!(true), &json!(376), &json!(69)));
    }
    let guest = server.runtime.guest(&session);
    assert_eq!(guest.bodies("click").len(), 3);
    // Others cannot, and the caller has no other rights than its own.
    let bob = server.client("bob", "sessions:*");
    let said =
        output(&bob, "http.fetch", &click("http://localhost:3000/api/v1/desktop/click")).await;
    assert_eq!(said["status"], 404);
    let audit = json!({ "url": "http://localhost:3000/api/v1/audit" });
    assert_eq!(output(&ann, "http.fetch", &audit).await["status"], 403);
    let logout = json!({ "url": "http://localhost:3000/api/v1/auth/logout", "method": "POST" });
    ask(&ann, "http.fetch", &logout).await.expect_error(400, "invalid_input");
    let other = json!({ "url": "http://localhost:3001/" });
    ask(&ann, "http.fetch", &other).await.expect_error(403, "egress_denied");
}
