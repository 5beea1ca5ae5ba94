//! Services outside of helmdeck, for packs that call them.

use axum::Router;
use helmdeck_testkit::{Answer, Client};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::AbortHandle};

/// A service on this machine. Dropping it ends it.
pub struct Outside {
    /// Its address, such as `127.0.0.1:4000`.
    pub host: String,
    task: AbortHandle,
}

impl Outside {
    /// Serves these routes. They may depend on the service's address.
    pub async fn start(routes: impl FnOnce(&str) -> Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let routes = routes(&format!("http://{host}"));
        let task = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { host, task: task.abort_handle() }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Adds a credential of the client for a host.
pub async fn credential(client: &Client, name: &str, host: &str, value: &str) {
    let body = json!({ "name": name, "type": "api_key", "host_pattern": host, "value": value });
    client.post("/api/v1/vault/credentials", &body).await.expect(201);
}

/// Runs a pack.
pub async fn ask(client: &Client, pack: &str, input: &Value) -> Answer {
    client.post(&format!("/api/v1/packs/{pack}"), input).await
}

/// Output of a pack that succeeds.
pub async fn output(client: &Client, pack: &str, input: &Value) -> Value {
    ask(client, pack, input).await.expect(200).json()["output"].clone()
}
