//! Git with a credential of the vault: fetch, change, commit and push, while a program in the session
//! looks for the secret.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_testkit::{Client, Installation, Server};
use serde_json::{Value, json};

use crate::git_server::GitServer;

const PUSH: &str = "/api/v1/packs/repo.push";
/// Replaces the last commit.
pub const AMEND: &str =
    "git -c user.name=a -c user.email=a@example.com commit -q --amend -m replaced";
const PASSWORD: &str = "hunter2-0123456789-SECRET";
/// Collects what any program in the session can see of the others.
pub const SPY: &str = "while sleep 0.05; do cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; done \
                   >>/workspace/seen 2>/dev/null";
/// Looks for the lines of its input in everything that the session's programs can read. They are in
/// no argument, where it would find them.
pub const SEARCH: &str = r#"
    mapfile -t secrets
    for place in "$HOME" /workspace /tmp /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do
        grep -arlsF -f <(printf '%s\n' "${secrets[@]}") "$place"
    done; true
"#;

pub async fn output(client: &Client, pack: &str, input: &Value) -> Value {
    let job = client.post(&format!("/api/v1/packs/{pack}"), input).await.expect(200).json();
    job["output"].clone()
}

/// Files under a directory that contain a text.
pub fn containing(dir: &Path, text: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map_while(Result::ok) {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => containing(&path, text, found),
            Ok(kind) if kind.is_file() => {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
            _ => {}
        }
    }
}

/// A branch that moved is not overwritten, and force replaces one that the clone has seen.
async fn push_where_the_branch_moved(
    agent: &Client,
    git: &GitServer,
    with: &impl Fn(Value) -> Value,
) {
    let tree = git.git(&["rev-parse", "main^{tree}"]).await;
    let other = git.git(&["commit-tree", &tree, "-p", "main", "-m", "other"]).await;
    git.git(&["update-ref", "refs/heads/main", &other]).await;
    output(agent, "fs.write", &with(json!({ "path": "new.txt", "content": "x" }))).await;
    let second = output(agent, "git.commit", &with(json!({ "message": "new" }))).await;
    // Force is refused, too: the clone has not seen where the branch is now.
    for force in [false, true] {
        let refused = agent.post(PUSH, &with(json!({ "force": force }))).await;
        let error = refused.expect(409).json();
        assert_eq!(error["error"], "schema_mismatch", "{error}");
        let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
        assert!(message.contains("refs/heads/main has moved on"), "{error}");
        assert!(hint.contains("repo.fetch"), "{error}");
    }
    assert_eq!(git.git(&["rev-parse", "main"]).await, other);
    let aside = output(agent, "repo.push", &with(json!({ "branch": "aside" }))).await;
    assert_eq!(aside["commit"], second["commit"]);
    assert_eq!(git.git(&["rev-parse", "aside"]).await, second["commit"].as_str().unwrap());
    // Force replaces a branch that is where the clone last saw it.
    let amend = format!("{AMEND} && git rev-parse HEAD");
    let amended = output(agent, "cmd.run", &with(json!({ "command": amend }))).await;
    let amended = amended["stdout"].as_str().unwrap().trim().to_owned();
    let again = json!({ "branch": "aside" });
    agent.post(PUSH, &with(again)).await.expect_error(409, "schema_mismatch");
    let again = json!({ "branch": "aside", "force": true });
    let replaced = output(agent, "repo.push", &with(again)).await;
    assert_eq!((&replaced["forced"], replaced["commit"].as_str()), (&json!(true), Some(&*amended)));
    assert_eq!(git.git(&["rev-parse", "aside"]).await, amended);
    assert_eq!(git.git(&["rev-parse", "main"]).await, other);
}

#[tokio::test]
async fn a_private_repository_is_fetched_changed_and_pushed_and_the_secret_is_nowhere() {
    let git = GitServer::start("agent", PASSWORD).await;
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("server.log");
    let env = [("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32"), ("HELMDECK_LOG", "debug")];
    let server = Server::start_logging(Installation::new(), &env, log.clone());
    let agent = server.client("agent", "sessions:*,vault:*");
    let host = format!("host.helmdeck.internal:{}", git.port);
    let url = format!("http://{host}/app.git");

    // Without a credential, the error says what is missing.
    let refused = agent.post("/api/v1/packs/repo.fetch", &json!({ "url": url })).await;
    refused.expect_error(400, "credential_invalid");
    let login = json!({ "username": "agent", "password": PASSWORD }).to_string();
    let credential =
        json!({ "name": "git", "type": "login", "host_pattern": host, "value": login });
    agent.post("/api/v1/vault/credentials", &credential).await.expect(201);

    let fetched = output(&agent, "repo.fetch", &json!({ "url": url })).await;
    assert_eq!((&fetched["credential"], &fetched["url"]), (&json!("git"), &json!(url)));
    assert_eq!(fetched["readme"]["content"], "# The old app\n", "{fetched}");
    let session = fetched["session_id"].as_str().unwrap().to_owned();
    let with = |mut input: Value| {
        input["_session_id"] = json!(session);
        input["clone_path"] = fetched["clone_path"].clone();
        input
    };
    let spy = json!({ "command": SPY, "background": true });
    agent.post(&format!("/api/v1/sessions/{session}/exec"), &spy).await.expect(200);
    // The clone keeps the address, and a hook of the repository does not run.
    let hook = "printf '#!/bin/sh\\nenv >/workspace/hooked' >.git/hooks/pre-push && \
                chmod +x .git/hooks/pre-push && git remote get-url origin";
    let run = output(&agent, "cmd.run", &with(json!({ "command": hook }))).await;
    assert_eq!(run["stdout"], format!("{url}\n"));
    let edit = json!({ "path": "main.py", "search": "hi", "replace": "hello" });
    output(&agent, "fs.patch", &with(edit)).await;
    let committed = output(&agent, "git.commit", &with(json!({ "message": "greet" }))).await;
    let pushed = output(&agent, "repo.push", &with(json!({}))).await;
    assert_eq!((&pushed["commit"], &pushed["branch"]), (&committed["commit"], &json!("main")));
    assert_eq!(git.git(&["rev-parse", "main"]).await, committed["commit"].as_str().unwrap());

    push_where_the_branch_moved(&agent, &git, &with).await;
    // The port is closed again.
    let forwards = agent.get(&format!("/api/v1/sessions/{session}")).await.expect(200).json();
    assert!(forwards["forwards"].as_array().is_none_or(Vec::is_empty), "{forwards}");

    let encoded = BASE64_STANDARD.encode(format!("agent:{PASSWORD}"));
    let searched = json!({ "command": SEARCH, "stdin": format!("{PASSWORD}\n{encoded}\n") });
    let searched = agent.post(&format!("/api/v1/sessions/{session}/exec"), &searched).await;
    let searched = searched.expect(200).json();
    assert_eq!(searched["stdout"], "", "found in the session: {searched}");
    let look = json!({ "command": "grep -ac insteadOf /workspace/seen; ls /workspace" });
    let seen = output(&agent, "cmd.run", &with(look)).await;
    let seen = seen["stdout"].as_str().unwrap();
    assert!(!seen.starts_with("0\n"), "the program saw git at work: {seen}");
    assert!(!seen.contains("hooked"), "{seen}");
    let jobs = agent.get("/api/v1/jobs").await.expect(200).text();
    assert!(!jobs.contains(PASSWORD) && !jobs.contains(&encoded), "{jobs}");
    let mut found = Vec::new();
    for secret in [PASSWORD, encoded.as_str()] {
        containing(&server.data_dir(), secret, &mut found);
        containing(logs.path(), secret, &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_rejected_credential_is_reported() {
    let git = GitServer::start("agent", PASSWORD).await;
    let server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
    let agent = server.client("agent", "sessions:*,vault:*");
    let host = format!("host.helmdeck.internal:{}", git.port);
    let body = json!({ "name": "git", "type": "api_key", "host_pattern": host, "value": "a wrong secret" });
    agent.post("/api/v1/vault/credentials", &body).await.expect(201);
    let path = "/api/v1/packs/repo.fetch";
    let input = json!({ "url": format!("http://{host}/app.git"), "workspace": "w" });
    let message = agent.post(path, &input).await.expect_error(400, "credential_invalid");
    assert!(message.contains("rejected the credential (401)"), "{message}");
    let input = json!({ "url": "http://10.0.0.1/a.git", "credential": "git", "workspace": "w" });
    agent.post(path, &input).await.expect_error(403, "forbidden");
}
