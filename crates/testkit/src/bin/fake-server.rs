//! `fake-server`: a server with fake guests on the loopback, for programs that test the API. It
//! prints its address, an admin token and the id of a desktop session, separated by tabs, and runs
//! until it is killed or its standard input ends. With `--mcp-fixtures`, it has the tools that the
//! MCP conformance suite calls.

use std::io::{Read, Write};

use helmdeck_testkit::fake::FakeServer;
use serde_json::json;

#[tokio::main]
async fn main() {
    let server = match std::env::args().nth(1).as_deref() {
        Some("--mcp-fixtures") => FakeServer::start_for_conformance().await,
        _ => FakeServer::start().await,
    };
    let token = server.person_token("admin", "admin");
    let admin = server.bearer(token.clone());
    let desktop = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 0 });
    let session = admin.post("/api/v1/sessions", &desktop).await.json();
    let id = session.get("id").and_then(|id| id.as_str()).unwrap_or_default();
    // Programs measure the memory of this process, so calls must not accumulate.
    server.runtime.guest(id).forget_calls();
    println!("http://{}\t{token}\t{id}", server.address);
    let _ = std::io::stdout().flush();
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = ended.await;
}
