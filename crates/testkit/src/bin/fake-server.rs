//! A server with fake guests on the loopback, for programs that try the API: `fake-server`. It writes
//! one line, its address, the token of an admin and the id of a desktop session with tabs in between, and
//! runs until it is killed or its standard input ends.

use std::io::{Read, Write};

use helmdeck_testkit::fake::FakeServer;
use serde_json::json;

#[tokio::main]
async fn main() {
    let server = FakeServer::start().await;
    let token = server.person_token("admin", "admin");
    let admin = server.bearer(token.clone());
    let desktop = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 0 });
    let session = admin.post("/api/v1/sessions", &desktop).await.json();
    let id = session.get("id").and_then(|id| id.as_str()).unwrap_or_default();
    // The session gets any number of calls, and memory is the server's.
    server.runtime.guest(id).forget_calls();
    println!("http://{}\t{token}\t{id}", server.address);
    let _ = std::io::stdout().flush();
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = ended.await;
}
