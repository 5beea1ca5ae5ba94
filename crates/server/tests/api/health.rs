//! Health, readiness and version.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::{client::TestServer, nowhere::Nowhere};

#[tokio::test]
async fn health_needs_no_token() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/healthz", "").await.json(), json!({"status": "ok"}));
    assert_eq!(server.get("/readyz", "").await.json(), json!({"status": "ok"}));
    let version = server.get("/version", "").await.json();
    assert_eq!(version, json!({"version": env!("CARGO_PKG_VERSION")}));
    server.get("/nowhere", "").await.assert_error(404, "not_found");
}

#[tokio::test]
async fn a_server_without_its_runtime_is_healthy_and_not_ready() {
    let runtime = Nowhere::default();
    let broken = runtime.broken.clone();
    let server = TestServer::start_with(&[], runtime).await;
    broken.store(true, Ordering::Relaxed);
    assert_eq!(server.get("/healthz", "").await.status, 200);
    let message = server.get("/readyz", "").await.assert_error(503, "unavailable");
    assert_eq!(message, "the runtime does not answer");
}

#[tokio::test]
async fn a_stopped_server_releases_its_data_directory() {
    let server = TestServer::start().await;
    let (addr, config) = (server.addr, server.config.clone());
    let refused = helmdeck_server::Instance::open(config).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("pid {}", std::process::id())), "{refused}");
    server.stop().await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}
