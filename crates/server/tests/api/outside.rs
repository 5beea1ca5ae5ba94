//! Services outside of helmdeck, for packs that call them.

use std::fs;

use axum::Router;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::{Answer, Client, fake::FakeServer};
use memchr::memmem;
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

/// Searches the data directory, the jobs and the audit log for a secret that was used.
pub async fn expect_nowhere(server: &FakeServer, secret: &str) {
    let admin = server.admin();
    let mut places = Vec::new();
    let listed = admin.get("/api/v1/jobs?limit=200").await.expect(200);
    for job in listed.json()["jobs"].as_array().unwrap() {
        let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
        for path in [format!("{path}/input"), path] {
            places.push((path.clone(), admin.get(&path).await.expect(200).body.to_vec()));
        }
    }
    assert!(!places.is_empty(), "a job used the secret");
    for path in ["/api/v1/audit?limit=200", "/api/v1/audit/export?format=jsonl", "/metrics"] {
        places.push((path.to_owned(), admin.get(path).await.body.to_vec()));
    }
    places.push(("the list of jobs".to_owned(), listed.body.to_vec()));
    let mut folders = vec![server.data_dir()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => places.push((path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    for form in [secret.to_owned(), BASE64_STANDARD.encode(secret)] {
        for (place, bytes) in &places {
            let found = memmem::find(bytes, form.as_bytes()).is_some();
            assert!(!found, "{place} has the secret");
        }
    }
}
