//! `fake-server`: a server with fake guests on the loopback, for programs that test the API. It
//! prints its address, an admin token and the id of a desktop session, separated by tabs, and runs
//! until it is killed or its standard input ends. With `--mcp-fixtures`, it has the tools that the
//! MCP conformance suite calls. With `--models`, it has providers of models on the loopback with keys, and
//! those of `HELMDECK_MODEL_PROVIDERS`.

use std::io::{Read, Write};

use helmdeck_testkit::{FakeVendors, fake::FakeServer};
use serde_json::json;

#[tokio::main]
async fn main() {
    let vendors = FakeVendors::start().await;
    let server = match std::env::args().nth(1).as_deref() {
        Some("--mcp-fixtures") => FakeServer::start_for_conformance().await,
        Some("--models") => {
            let mut env = vendors.environment(&["openai", "anthropic", "gemini", "openrouter"]);
            let others = std::env::var("HELMDECK_MODEL_PROVIDERS").unwrap_or_default();
            env.push(("HELMDECK_MODEL_PROVIDERS".to_owned(), others));
            let env: Vec<_> = env.iter().map(|(name, it)| (name.as_str(), it.as_str())).collect();
            FakeServer::start_with(&env).await
        }
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
