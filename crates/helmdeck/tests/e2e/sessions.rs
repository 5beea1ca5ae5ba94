//! Creating, seeing and ending sessions.

use std::time::Duration;

use helmdeck_testkit::{Answer, Client, Desk, Process, Server, eventually};
use serde_json::{Value, json};

/// As the documentation prints it, for pasting.
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
async fn the_create_command_of_the_documentation_gives_a_running_desktop() {
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
async fn the_flat_shape_works_too_and_headless_is_the_default() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let body = json!({ "label": "crawler", "timeout_seconds": 600, "idle_timeout_s": 0,
                       "memory_limit": "1g", "shm_size": "512m", "cpu_limit": 1.5 });
    let session = create(&client, &body).await.expect(201).json();
    assert_eq!(session["status"], "running");
    assert_eq!(session["mode"], "headless");
    assert_eq!(session["spec"]["label"], "crawler");
    assert_eq!(session["spec"]["memory_limit"], "1g");
    assert_eq!(session["spec"]["shm_size"], "512m");
    let names: Vec<_> = stages(&session).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["sandbox", "browser"]);

    let empty = client.send("POST".parse().unwrap(), "/api/v1/sessions", &[], "".into()).await;
    assert_eq!(empty.expect(201).json()["mode"], "headless");
}

#[tokio::test]
async fn a_spec_that_makes_no_sense_is_refused_by_name() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let env = |name: &str, value: &str| json!({ "env": { name: value } });
    for (body, code, named) in [
        (json!({ "moed": "desktop" }), "invalid_input", "moed"),
        (json!({ "spec": { "geometri": "800x600" } }), "invalid_input", "geometri"),
        (json!({ "label": "a", "spec": { "label": "a" } }), "invalid_input", "label"),
        (json!({ "timeout_seconds": 5, "wallclock_timeout_s": 5 }), "invalid_input", "wallclock"),
        (json!({ "spec": "desktop" }), "invalid_input", "spec"),
        (json!({ "mode": "window" }), "invalid_input", "`desktop`"),
        (env("HELMDECK_MODE", "window"), "invalid_input", "headless or desktop"),
        (json!({ "geometry": "100x100" }), "invalid_geometry", "320x200 to 7680x4320"),
        (json!({ "geometry": "wide" }), "invalid_geometry", "WIDTHxHEIGHT"),
        (env("HELMDECK_DISPLAY_GEOMETRY", "9999x9999"), "invalid_input", "320x200"),
        (json!({ "memory_limit": "plenty" }), "invalid_input", "512m"),
        (json!({ "cpu_limit": 0 }), "invalid_input", "cpu_limit"),
        (json!({ "timeout_seconds": 0 }), "invalid_input", "timeout_seconds"),
        (json!({ "timezone": "../etc" }), "invalid_input", "timezone"),
        (env("A=B", "x"), "invalid_input", "variable name"),
    ] {
        let message = create(&client, &body).await.expect_error(400, code);
        assert!(message.contains(named), "{body}: {message}");
    }
    let both = json!({ "mode": "headless", "env": { "HELMDECK_MODE": "desktop" } });
    create(&client, &both).await.expect_error(400, "invalid_input");
    let list = client.get("/api/v1/sessions").await.expect(200).json();
    assert_eq!(list["sessions"], json!([]));
}

#[tokio::test]
async fn who_does_not_wait_is_answered_at_once_and_can_look_until_it_runs() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let body = json!({ "mode": "desktop", "geometry": "800x600" });
    let session = client.post("/api/v1/sessions?wait=false", &body).await.expect(201).json();
    assert_eq!(session["status"], "starting");
    let desk = Desk { client: &client, id: session["id"].as_str().unwrap().to_owned() };
    desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.expect_error(409, "session_starting");

    let running = async || Some(desk.describe().await).filter(|now| now["status"] != "starting");
    let session = eventually(Duration::from_secs(30), running).await.expect("it starts");
    assert_eq!(session["status"], "running");
    assert_eq!(stages(&session).len(), 4);
    desk.act("mouse_move", json!({ "x": 1, "y": 1 })).await;
}

#[tokio::test]
async fn sessions_are_listed_oldest_first_until_they_are_deleted() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let older = Desk::create(&client, &json!({ "label": "older" })).await;
    let newer = Desk::create(&client, &json!({ "label": "newer" })).await;
    let labels = async || {
        let list = client.get("/api/v1/sessions").await.expect(200).json();
        let sessions = list["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|s| s["spec"]["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels().await, ["older", "newer"]);

    older.end().await;
    older.end().await;
    assert_eq!(labels().await, ["newer"]);
    client.get(&format!("/api/v1/sessions/{}", older.id)).await.expect_error(404, "not_found");
    assert_eq!(server.installation.sandboxes(), [newer.id]);
}

#[tokio::test]
async fn a_full_server_says_so_until_a_session_ends() {
    let server = Server::start_with(&[("HELMDECK_MAX_SESSIONS", "1")]);
    let client = server.client("agent", "sessions:*");
    let first = Desk::create(&client, &json!({})).await;
    let message = create(&client, &json!({})).await.expect_error(503, "capacity_reached");
    assert!(message.contains('1') && message.contains("end one"), "{message}");
    first.end().await;
    create(&client, &json!({})).await.expect(201);
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

#[tokio::test]
async fn a_session_whose_guest_dies_says_so() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let sandbox = Process::in_sandboxes(&server.run_dir());
    let is_guest = |process: &&Process| process.command.starts_with("/opt/helmdeck/helmdeck guest");
    sandbox.iter().find(is_guest).expect("a guest").kill();
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    let session = eventually(Duration::from_secs(10), over).await.expect("it is noticed");
    assert_eq!(
        (&session["status"], &session["end_reason"]),
        (&json!("error"), &json!("guest_lost"))
    );
    let gone = async || server.installation.sandboxes().is_empty().then_some(());
    eventually(Duration::from_secs(10), gone).await.expect("nothing is left");
    assert_eq!(sandbox.iter().filter(|process| process.is_alive()).count(), 0);
}

#[tokio::test]
async fn one_caller_cannot_take_every_place() {
    let server = Server::start_with(&[("HELMDECK_MAX_SESSIONS_PER_CALLER", "1")]);
    let (one, two) = (server.client("one", "sessions:*"), server.client("two", "sessions:*"));
    let desk = Desk::create(&one, &json!({})).await;
    let refused = one.post("/api/v1/sessions", &json!({})).await;
    assert!(refused.expect_error(429, "quota_reached").contains("one has 1"));
    Desk::create(&two, &json!({})).await;
    desk.end().await;
    Desk::create(&one, &json!({})).await;
}
