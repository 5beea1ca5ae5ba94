//! Git by SSH with a key of the vault, against a real SSH server, while a program in the session looks for
//! the key.

use std::{fs, time::Duration};

use helmdeck_testkit::{Client, Installation, Server};
use serde_json::{Value, json};
use tokio::{io::AsyncReadExt, net::TcpListener, time::timeout};

use crate::{
    git_credentials::{AMEND, SEARCH, SPY, containing, output},
    ssh_server::SshServer,
};

const CREDENTIALS: &str = "/api/v1/vault/credentials";
const FETCH: &str = "/api/v1/packs/repo.fetch";
const SOON: Duration = Duration::from_secs(20);

/// Adds a key for a host, with known host keys.
async fn add_key(agent: &Client, name: &str, host: &str, key: &str, known_hosts: &str) {
    let body = json!({
        "name": name, "type": "ssh", "host_pattern": host, "value": key,
        "metadata": { "known_hosts": known_hosts },
    });
    agent.post(CREDENTIALS, &body).await.expect(201);
}

#[tokio::test]
async fn a_repository_is_fetched_and_pushed_by_ssh_and_the_key_is_nowhere() {
    let ssh = SshServer::start().await;
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("server.log");
    let known_hosts = logs.path().join("known_hosts");
    fs::write(&known_hosts, ssh.known_as("host")).unwrap();
    let env = [
        ("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32"),
        ("HELMDECK_LOG", "debug"),
        ("HELMDECK_SSH_KNOWN_HOSTS", known_hosts.to_str().unwrap()),
    ];
    let server = Server::start_logging(Installation::new(), &env, log);
    let agent = server.client("agent", "sessions:*,vault:*");
    let url = ssh.url();
    let refused = agent.post(FETCH, &json!({ "url": url })).await;
    refused.expect_error(400, "credential_invalid");
    add_key(&agent, "deploy", &ssh.host(), &ssh.key, "").await;

    let fetched = output(&agent, "repo.fetch", &json!({ "url": url })).await;
    assert_eq!((&fetched["credential"], &fetched["url"]), (&json!("deploy"), &json!(url)));
    assert_eq!(fetched["readme"]["content"], "# The old app\n", "{fetched}");
    let session = fetched["session_id"].as_str().unwrap().to_owned();
    let with = |mut input: Value| {
        input["_session_id"] = json!(session);
        input["clone_path"] = fetched["clone_path"].clone();
        input
    };
    let spy = json!({ "command": SPY, "background": true });
    agent.post(&format!("/api/v1/sessions/{session}/exec"), &spy).await.expect(200);
    let write = json!({ "path": "large.txt", "content": "é".repeat(500_000) });
    output(&agent, "fs.write", &with(write)).await;
    // The clone's own idea of an SSH client is not used.
    let config = "git config core.sshCommand 'touch /workspace/used; false'";
    output(&agent, "cmd.run", &with(json!({ "command": config }))).await;
    let committed = output(&agent, "git.commit", &with(json!({ "message": "large" }))).await;
    let pushed = output(&agent, "repo.push", &with(json!({}))).await;
    assert_eq!((&pushed["commit"], &pushed["branch"]), (&committed["commit"], &json!("main")));
    assert_eq!(ssh.git(&["rev-parse", "main"]).await, committed["commit"].as_str().unwrap());
    let other = ssh.git(&["rev-parse", "main~1"]).await;
    ssh.git(&["update-ref", "refs/heads/main", &other]).await;
    output(&agent, "cmd.run", &with(json!({ "command": AMEND }))).await;
    let forced = with(json!({ "force": true }));
    let refused = agent.post("/api/v1/packs/repo.push", &forced).await;
    refused.expect_error(409, "schema_mismatch");
    // The server ran git's two programs on this repository, and nothing else.
    let path = url.split_once(&ssh.host()).unwrap().1;
    let mut commands = ssh.commands();
    commands.sort();
    commands.dedup();
    let expected = ["git-receive-pack", "git-upload-pack"].map(|it| format!("{it} '{path}'"));
    assert_eq!(commands, expected);

    // Lines of the key, without the first, which every key has.
    let secret: Vec<_> = ssh.key.lines().filter(|line| !line.starts_with('-')).skip(1).collect();
    let searched = json!({ "command": SEARCH, "stdin": format!("{}\n", secret.join("\n")) });
    let searched = agent.post(&format!("/api/v1/sessions/{session}/exec"), &searched).await;
    let searched = searched.expect(200).json();
    assert_eq!(searched["stdout"], "", "found in the session: {searched}");
    let look = json!({ "command": "grep -ac GIT_SSH_COMMAND /workspace/seen; ls /workspace" });
    let seen = output(&agent, "cmd.run", &with(look)).await;
    let seen = seen["stdout"].as_str().unwrap();
    assert!(!seen.starts_with("0\n"), "the program saw git at work: {seen}");
    assert!(!seen.contains("used"), "{seen}");
    let jobs = agent.get("/api/v1/jobs").await.expect(200).text();
    let mut found = Vec::new();
    for line in &secret {
        assert!(!jobs.contains(line), "{jobs}");
        containing(&server.data_dir(), line, &mut found);
        containing(logs.path(), line, &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn unknown_hosts_wrong_keys_and_forbidden_addresses_are_refused_and_a_cancelled_client_ends()
{
    let ssh = SshServer::start().await;
    let server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
    let agent = server.client("agent", "sessions:*,vault:*");
    let (host, fingerprint) = (ssh.host(), ssh.fingerprint().await);
    add_key(&agent, "unknown", &host, &ssh.key, "").await;
    add_key(&agent, "changed", &host, &ssh.key, &ssh.known_as("other")).await;
    add_key(&agent, "stranger", &host, &ssh.other_key(), &ssh.known_as("host")).await;
    add_key(&agent, "nonsense", &host, "not a key", &ssh.known_as("host")).await;
    add_key(&agent, "private", "10.0.0.1", &ssh.key, "").await;
    let fetch = |credential: &str, url: &str| json!({ "url": url, "credential": credential, "workspace": "w" });
    for (credential, expected) in [
        ("unknown", format!("is not known: it presented ssh-ed25519 {fingerprint}")),
        ("changed", format!("is not the known one: it presented ssh-ed25519 {fingerprint}")),
        ("stranger", "rejected the key of the credential stranger".to_owned()),
        ("nonsense", "expected a private SSH key".to_owned()),
    ] {
        let refused = agent.post(FETCH, &fetch(credential, &ssh.url())).await;
        let message = refused.expect_error(400, "credential_invalid");
        assert!(message.contains(&expected), "{credential}: {message}");
    }
    let missing = ssh.url().replace("app.git", "none.git");
    let known = ssh.known_as("host");
    add_key(&agent, "known", &host, &ssh.key, &known).await;
    let refused = agent.post(FETCH, &fetch("known", &missing)).await;
    let message = refused.expect_error(400, "invalid_input");
    assert!(message.contains("has no repository"), "{message}");
    let refused = agent.post(FETCH, &fetch("unknown", "git@other.example:a/b.git")).await;
    refused.expect_error(403, "forbidden");
    let refused = agent.post(FETCH, &fetch("private", "git@10.0.0.1:a/b.git")).await;
    assert!(refused.expect_error(403, "egress_denied").starts_with("egress denied"));

    // A server that says nothing: cancelling the job ends the SSH client, and with it the connection.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("host.helmdeck.internal:{}", silent.local_addr().unwrap().port());
    add_key(&agent, "silent", &host, &ssh.key, "").await;
    let mut input = fetch("silent", &format!("ssh://git@{host}/app.git"));
    input["wait_s"] = json!(0);
    let job = agent.post(FETCH, &input).await.expect(202).json();
    let (mut stream, _) = timeout(SOON, silent.accept()).await.unwrap().unwrap();
    let mut banner = [0; 4];
    timeout(SOON, stream.read_exact(&mut banner)).await.unwrap().unwrap();
    assert_eq!(&banner, b"SSH-", "the client is there");
    let job = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
    assert_eq!(agent.delete(&job).await.expect(200).json()["state"], "cancelled");
    let mut rest = Vec::new();
    timeout(SOON, stream.read_to_end(&mut rest)).await.expect("it ends").unwrap();
}
