//! Secrets where texts are cut: no part of one is left.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use axum::{Router, extract::Path, http::HeaderMap, routing::get};
use helmdeck_testkit::{eventually, fake::FakeServer};
use helmdeck_wire::guest::Progress;
use serde_json::json;

use crate::outside::{Outside, credential, expect_nowhere, output};

const SOON: Duration = Duration::from_secs(20);
const SECRET: &str = "sk-0123456789-SECRET";
const REACHABLE: (&str, &str) = ("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.0/8");
/// How much of a response `http.fetch` returns.
const INLINE: usize = 256 << 10;

#[tokio::test]
async fn a_secret_where_a_response_is_cut_is_not_returned_in_part() {
    let server = FakeServer::start_with(&[REACHABLE]).await;
    let ann = server.client("ann", "sessions:*,vault:*");
    let site = Outside::start(|_| {
        let echo = async |Path(before): Path<usize>, headers: HeaderMap| {
            let key = headers.get("x-api-key").unwrap().to_str().unwrap().to_owned();
            format!("{}{key}{}", "x".repeat(before), "y".repeat(100))
        };
        Router::new().route("/after/{before}", get(echo))
    })
    .await;
    credential(&ann, "service-key", &site.host, SECRET).await;
    for part in [1, 4, 10, SECRET.len() - 1, SECRET.len()] {
        let before = INLINE - part;
        let input = json!({
            "url": site.url(&format!("/after/{before}")),
            "headers": { "X-Api-Key": "${vault:service-key}" },
        });
        let said = output(&ann, "http.fetch", &input).await;
        assert_eq!((&said["encoding"], &said["truncated"]), (&json!("utf-8"), &json!(true)));
        let body = said["body"].as_str().unwrap();
        let rest = body.strip_prefix("x".repeat(before).as_str()).unwrap();
        let rest = rest.trim_start_matches('•').trim_start_matches('y');
        assert_eq!(rest, "", "{part} bytes of the secret are before the cut");
    }
    expect_nowhere(&server, &SECRET[..8]).await;
}

#[tokio::test]
async fn an_error_does_not_quote_a_part_of_a_value_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("deploy");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // Every test has this variable.
    let (variable, value) = ("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    let manifest = folder.path().join("deploy.helmdeck-pack.yaml");
    fs::write(manifest, format!("env: [{variable}]\n")).unwrap();
    let path = folder.path().to_str().unwrap();
    let server = FakeServer::start_with(&[("HELMDECK_COMMAND_PACKS_DIR", path)]).await;
    let ann = server.client("ann", "sessions:*");
    server.runtime.never_ready();
    let half = value.len() / 2;
    // Of the output, an error quotes the first 200 characters, and of a failure the last 4096 bytes.
    let not_json = format!("{}{value}", "x".repeat(200 - half));
    let failure = format!("{value}{}", "x".repeat(4096 - half));
    for (exit_code, stdout, stderr) in [(0, not_json.as_str(), ""), (1, "", failure.as_str())] {
        let job = ann.post("/api/v1/packs/cmd.deploy", &json!({ "wait_s": 0 })).await.expect(202);
        let started = async || server.runtime.guests().into_iter().find(|guest| guest.is_alive());
        let guest = eventually(SOON, started).await.expect("a session starts for it");
        guest.end_program("/deploy", exit_code, stdout, stderr);
        guest.report(Progress::Ready);
        let job = job.json()["job_id"].as_str().unwrap().to_owned();
        let job = ann.get(&format!("/api/v1/jobs/{job}?wait_s=20")).await.expect(200).json();
        let message = job["error"]["message"].as_str().unwrap();
        assert!(message.contains("xxx"), "{message}");
        assert!(!message.contains(&value[..half]), "{message}");
        assert!(!message.contains(&value[half..]), "{message}");
        let ended = async || (!guest.is_alive()).then_some(());
        eventually(SOON, ended).await.expect("its session ends with it");
    }
}
