//! Packs of the operator, with fake guests.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use helmdeck_testkit::{eventually, fake::FakeServer};
use helmdeck_wire::guest::Progress;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    mcp::modern,
    packs::{headless, run},
};

/// For a folder that is checked every two seconds.
const SOON: Duration = Duration::from_secs(20);

const MANIFEST: &str = "description: Counts words.\ninput_schema:\n  required: [text]\n  properties: {text: string}\n\
    output_schema: {required: [count], properties: {count: integer}}\ntimeout_s: 7\nenv: [LIMIT=5]\n";

fn program(folder: &Path, name: &str) {
    let path = folder.join(name);
    fs::write(&path, "#!/bin/sh\ncat\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

async fn server(folder: &TempDir) -> FakeServer {
    let path = folder.path().to_str().unwrap();
    FakeServer::start_with(&[("HELMDECK_COMMAND_PACKS_DIR", path)]).await
}

#[tokio::test]
async fn a_program_of_the_operator_runs_in_the_session_with_its_own_limits() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "Word-Count.sh");
    fs::write(folder.path().join("Word-Count.helmdeck-pack.yaml"), MANIFEST).unwrap();
    let server = server(&folder).await;
    let ann = server.client("ann", "sessions:*");
    let shown = ann.get("/api/v1/packs/cmd.word-count").await.expect(200).json();
    assert_eq!(shown["description"], "Counts words.");
    assert_eq!(shown["input_schema"]["properties"]["text"]["type"], "string");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.end_program("Word-Count.sh", 0, "{\"count\": 3}\n", "");
    let input = json!({ "_session_id": session, "text": "a b c" });
    assert_eq!(run(&ann, "cmd.word_count", &input).await["output"]["count"], 3, "a similar name");
    assert_eq!(run(&ann, "cmd.word-count", &input).await["output"], json!({ "count": 3 }));
    let started = guest.started();
    let ran = started.iter().find(|it| it.timeout_s == 7).expect("its limit applies");
    assert!(ran.command.name().ends_with("/Word-Count.sh"));
    assert_eq!(ran.stdin.as_deref(), Some("{\"text\":\"a b c\"}"));
    assert_eq!(ran.env.iter().collect::<Vec<_>>(), [(&"LIMIT".to_owned(), &"5".to_owned())]);
    let file = ran.command.name().trim_start_matches("/home/agent/").to_owned();
    let sent = ann.get(&format!("/api/v1/sessions/{session}/files/{file}")).await;
    assert_eq!(
        sent.expect(200).text(),
        "#!/bin/sh\ncat\n",
        "the program is copied into the session"
    );

    let wrong = json!({ "_session_id": session });
    ann.post("/api/v1/packs/cmd.word-count", &wrong).await.expect_error(400, "invalid_input");
    for (exit_code, stdout, stderr, status, code) in [
        (3, "", "no words", 502, "handler_failed"),
        (0, "", "", 502, "invalid_output"),
        (0, "three", "", 502, "invalid_output"),
        (0, "{\"count\": \"3\"}", "", 502, "invalid_output"),
    ] {
        guest.end_program("Word-Count.sh", exit_code, stdout, stderr);
        let message =
            ann.post("/api/v1/packs/cmd.word-count", &input).await.expect_error(status, code);
        assert!(message.contains(stderr), "{message}");
    }
}

#[tokio::test]
async fn an_async_pack_returns_a_handle_at_once_by_every_door() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "report");
    fs::write(folder.path().join("report.helmdeck-pack.yaml"), "async: true\n").unwrap();
    let server = server(&folder).await;
    let ann = server.client("ann", "sessions:*");
    assert_eq!(ann.get("/api/v1/packs/cmd.report").await.expect(200).json()["async"], true);
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.end_program("/report", 0, "{\"rows\": 3}", "");
    // Its program is not copied before the handles are here.
    guest.hold("file");
    let input = json!({ "_session_id": session });
    let mut ids = Vec::new();
    for path in ["/api/v1/packs/cmd.report", "/api/v1/tools/cmd.report"] {
        let job = ann.post(path, &input).await.expect(202).json();
        assert_eq!(job["state"], "working", "{job}");
        ids.push(job["job_id"].as_str().unwrap().to_owned());
    }
    let reply = modern(&server, "ann").ok("cmd-report", input).await;
    assert_eq!(reply["state"], "working", "{reply}");
    ids.push(reply["job_id"].as_str().unwrap().to_owned());
    guest.release("file");
    for id in ids {
        let job = ann.get(&format!("/api/v1/jobs/{id}?wait_s=20")).await.expect(200).json();
        assert_eq!((&job["state"], &job["output"]["rows"]), (&json!("completed"), &json!(3)));
    }
}

#[tokio::test]
async fn packs_of_the_operator_come_change_and_go_while_the_server_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let ann = server.client("ann", "sessions:*");
    let client = modern(&server, "ann");
    let listed = async || {
        let tools = client.tools().await;
        tools.iter().any(|tool| tool["name"] == "cmd-new")
    };
    assert!(!listed().await);
    program(folder.path(), "new");
    eventually(SOON, async || listed().await.then_some(())).await.expect("it is listed");
    let shown = async || ann.get("/api/v1/packs/cmd.new").await.json();
    assert!(shown().await.get("unavailable").is_none());

    fs::write(folder.path().join("new.helmdeck-pack.yaml"), "timeout: 3\n").unwrap();
    let reason = async || shown().await["unavailable"].as_str().map(str::to_owned);
    let reason = eventually(SOON, reason).await.expect("a broken one is listed with its reason");
    assert!(
        reason.starts_with("new.helmdeck-pack.yaml: ") && reason.contains("timeout"),
        "{reason}"
    );
    let listing = ann.get("/api/v1/packs").await.expect(200).json();
    let packs = listing["packs"].as_array().unwrap();
    assert!(packs.iter().any(|pack| pack["name"] == "cmd.new" && pack["unavailable"] == reason));
    ann.post("/api/v1/packs/cmd.new", &json!({})).await.expect_error(409, "not_ready");
    let hidden = eventually(SOON, async || (!listed().await).then_some(())).await;
    hidden.expect("agents are not offered it");

    fs::remove_file(folder.path().join("new")).unwrap();
    let gone = async || (shown().await["error"] == "unknown_pack").then_some(());
    eventually(SOON, gone).await.expect("it is gone");
}

#[tokio::test]
async fn a_program_cannot_replace_a_pack_and_takes_any_input_without_a_manifest() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "run");
    program(folder.path(), "echo");
    let server = server(&folder).await;
    let ann = server.client("ann", "sessions:*");
    let shown = ann.get("/api/v1/packs/cmd.run").await.expect(200).json();
    assert!(shown["description"].as_str().unwrap().starts_with("Run a program in a clone"));
    let shown = ann.get("/api/v1/packs/cmd.run-2").await.expect(200).json();
    assert_eq!(shown["unavailable"], "run: the name cmd.run is taken; rename the program");
    let session = headless(&ann).await;
    server.runtime.guest(&session).end_program("/echo", 0, "[1]", "");
    let input: Value = json!({ "_session_id": session, "anything": { "a": [1] } });
    assert_eq!(run(&ann, "cmd.echo", &input).await["output"], json!([1]));
}

#[tokio::test]
async fn a_value_of_the_server_never_reaches_a_session_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "deploy");
    // Every test has this variable.
    let (variable, value) = ("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    fs::write(folder.path().join("deploy.helmdeck-pack.yaml"), format!("env: [{variable}]\n"))
        .unwrap();
    let server = server(&folder).await;
    let ann = server.client("ann", "sessions:*");
    let path = "/api/v1/packs/cmd.deploy";
    let own = headless(&ann).await;
    for (field, name) in [("_session_id", own.as_str()), ("workspace", "mine")] {
        let answer = ann.post(path, &json!({ field: name })).await;
        assert_eq!(answer.json()["field"], field);
        answer.expect_error(400, "invalid_input");
    }
    let schema = ann.get(path).await.expect(200).json()["input_schema"]["properties"].clone();
    assert!(schema.get("_session_id").is_none() && schema.get("workspace").is_none(), "{schema}");

    server.runtime.never_ready();
    let input = json!({ "wait_s": 0 });
    let job = ann.post(path, &input).await.expect(202).json()["job_id"].clone();
    let started = async || server.runtime.guests().into_iter().find(|guest| guest.id() != own);
    let guest = eventually(SOON, started).await.expect("a session starts for it");
    let of_guest = format!("/api/v1/sessions/{}", guest.id());
    ann.get(&of_guest).await.expect_error(404, "not_found");
    guest.end_program("/deploy", 0, &json!({ "used": value }).to_string(), "");
    guest.report(Progress::Ready);
    let job = format!("/api/v1/jobs/{}?wait_s=20", job.as_str().unwrap());
    assert_eq!(ann.get(&job).await.expect(200).json()["output"]["used"], "•••");
    let ran = guest.started().into_iter().find(|it| it.command.name().ends_with("/deploy"));
    assert_eq!(ran.unwrap().env[variable], value);
    assert!(!guest.is_alive(), "its session ends with it");
}
