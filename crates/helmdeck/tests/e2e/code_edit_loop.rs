//! The loop by which agents change code, through MCP: the client of the official SDK, `helmdeck mcp`, a
//! real session, and a git server that needs a credential.

use std::process::Stdio;

use helmdeck_testkit::{Server, binary};
use rmcp::{RoleClient, model::CallToolRequestParams, serve_client, service::RunningService};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::git_server::GitServer;

/// An agent with its program, which ends when this is dropped.
struct Agent {
    client: RunningService<RoleClient, ()>,
    _program: Child,
}

impl Agent {
    async fn connect(server: &Server, token: &str) -> Self {
        let mut program = Command::new(binary())
            .arg("mcp")
            .env("HELMDECK_URL", format!("http://{}", server.address))
            .env("HELMDECK_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let pipes = (program.stdout.take().unwrap(), program.stdin.take().unwrap());
        Self { client: serve_client((), pipes).await.unwrap(), _program: program }
    }

    /// Calls a tool; an error is its text.
    async fn call(&self, name: &'static str, arguments: &Value) -> Result<Value, String> {
        let arguments = arguments.as_object().unwrap().clone();
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = self.client.call_tool(params).await.unwrap();
        match result.is_error {
            Some(true) => Err(serde_json::to_string(&result.content).unwrap()),
            _ => Ok(result.structured_content.unwrap()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_clones_reads_changes_tests_commits_and_pushes_through_mcp() {
    let git = GitServer::start("agent", "hunter2-0123456789").await;
    let server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
    let host = format!("host.helmdeck.internal:{}", git.port);
    let login = json!({ "username": "agent", "password": "hunter2-0123456789" }).to_string();
    let credential =
        json!({ "name": "git", "type": "login", "host_pattern": host, "value": login });
    let person = server.client("agent", "vault:write");
    person.post("/api/v1/vault/credentials", &credential).await.expect(201);
    let token = server.token("agent", "sessions:*");

    let url = format!("http://{host}/app.git");
    let cloning = Agent::connect(&server, &token).await;
    let fetched = cloning.call("repo.fetch", &json!({ "url": url })).await.unwrap();
    // The clone's session is the current one of that connection. This one has none.
    let agent = Agent::connect(&server, &token).await;
    let clone_path = &fetched["output"]["clone_path"];
    assert!(clone_path.is_string() && fetched["_session_id"].is_string(), "{fetched}");
    // The names and arguments of the worked example in the agents' guide. The repository is in Python.
    let calls = [
        ("fs.list", json!({ "glob": "*.md" })),
        ("fs.read", json!({ "path": "README.md" })),
        ("fs.patch", json!({ "path": "README.md", "search": "old", "replace": "new" })),
        ("cmd.run", json!({ "command": ["python3", "-m", "unittest"] })),
        ("git.commit", json!({ "message": "docs: typo" })),
        ("repo.push", json!({})),
    ];
    let mut outputs = Vec::new();
    for (name, mut arguments) in calls {
        arguments["clone_path"] = clone_path.clone();
        // Without the session, no call works in an empty one.
        let message = agent.call(name, &arguments).await.unwrap_err();
        assert!(message.contains("invalid_input"), "{name}: {message}");
        assert!(message.contains("pass `_session_id` from the reply of repo.fetch"), "{message}");
        arguments["_session_id"] = fetched["_session_id"].clone();
        let reply = agent.call(name, &arguments).await.unwrap();
        assert_eq!(reply["_session_id"], fetched["_session_id"], "{name}");
        outputs.push(reply["output"].clone());
    }
    let [listed, read, patched, tested, committed, pushed]: [Value; 6] =
        outputs.try_into().unwrap();
    assert_eq!(listed["files"], json!(["README.md"]));
    assert_eq!(read["content"], "# The old app\n");
    assert_eq!(patched["applied"], 1);
    assert_eq!(tested["exit_code"], 0, "{tested}");
    assert_eq!((&pushed["commit"], &pushed["branch"]), (&committed["commit"], &json!("main")));
    assert_eq!(git.git(&["rev-parse", "main"]).await, committed["commit"].as_str().unwrap());
    assert_eq!(git.git(&["show", "main:README.md"]).await, "# The new app");
}
