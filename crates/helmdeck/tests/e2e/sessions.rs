//! Creating, listing and ending sessions.

use std::time::Duration;

use helmdeck_testkit::{Answer, Client, Desk, Server, eventually};
use serde_json::{Value, json};

/// As the documentation prints it.
const DOCUMENTED: &str = r#"{
"spec": {
"image": "ghcr.io/tosin2013/helmdeck-sidecar:0.10.0",
"env": { "HELMDECK_MODE": "desktop" },
"wallclock_timeout_s": 600
}
}"#;

async fn create(client: &Client, body: &Value) -> Answer {
    client.post("/api/v1/sessions", body).await
}

fn stages(session: &Value) -> Vec<(String, u64)> {
    let timings = session["timings"].as_array().expect("timings");
    let stage = |timing: &Value| {
        (timing["stage"].as_str().unwrap().to_owned(), timing["done_ms"].as_u64().unwrap())
    };
    timings.iter().map(stage).collect()
}

#[tokio::test]
async fn the_documented_create_command_starts_a_desktop() {
    let server = Server::start();
    let client = server.admin();
    let method = "POST".parse().unwrap();
    let answer = client.send(method, "/api/v1/sessions", &[], DOCUMENTED.into()).await.expect(201);
    let session = answer.json();

    let id = session["id"].as_str().expect("an id");
    assert_eq!(answer.header("location"), format!("/api/v1/sessions/{id}"));
    assert_eq!(session["status"], "running");
    assert_eq!(session["mode"], "desktop");
    assert_eq!(session["owner"], "admin");
    assert!(session["expires_at"].is_string() && session["created_at"].is_string(), "{session}");
    assert_eq!(session["spec"]["geometry"], "1920x1080");
    assert_eq!(session["spec"]["timeout_seconds"], 600);
    assert_eq!(session["spec"]["idle_timeout_s"], 300);
    assert_eq!(session["spec"]["env"]["HELMDECK_MODE"], "desktop");
    assert_eq!(session["spec"]["image"], "ghcr.io/tosin2013/helmdeck-sidecar:0.10.0");
    let notes = session["notes"].to_string();
    assert!(notes.contains("image") && notes.contains("local runtime"), "{notes}");

    let stages = stages(&session);
    let names: Vec<_> = stages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sandbox", "display", "desktop", "browser"]);
    assert!(stages.is_sorted_by_key(|(_, done_ms)| *done_ms) && stages[0].1 > 0, "{stages:?}");
}

#[tokio::test]
async fn a_start_that_fails_names_the_stage_and_leaves_nothing() {
    let nothing = tempfile::tempdir().unwrap();
    let server = Server::start_with(&[("PATH", nothing.path().to_str().unwrap())]);
    let client = server.client("agent", "sessions:*");
    let message = create(&client, &json!({})).await.expect_error(500, "create_failed");
    assert!(message.contains("stage sandbox") && message.contains("bwrap"), "{message}");
    let list = client.get("/api/v1/sessions").await.expect(200).json();
    assert_eq!(list["sessions"], json!([]));
    assert_eq!(server.installation.sandboxes(), [""; 0]);

    let session = client.post("/api/v1/sessions?wait=false", &json!({})).await.expect(201).json();
    let desk = Desk { client: &client, id: session["id"].as_str().unwrap().to_owned() };
    let failed = async || Some(desk.describe().await).filter(|now| now["status"] != "starting");
    let session = eventually(Duration::from_secs(10), failed).await.expect("it fails");
    assert_eq!(
        (&session["status"], &session["end_reason"]),
        (&json!("error"), &json!("start_failed"))
    );
    assert!(session["error"].as_str().unwrap().contains("stage sandbox"), "{session}");
    assert_eq!(server.installation.sandboxes(), [""; 0]);
}
