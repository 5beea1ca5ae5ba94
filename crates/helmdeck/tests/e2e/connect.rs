//! `helmdeck connect` and `helmdeck skill`: what they write on a client's machine. The clients' own
//! programs are scripts that note how they were called.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use helmdeck_testkit::{binary, fake::FakeServer};
use serde_json::{Value, json};

/// A client's machine: a home, and a folder of programs.
struct Machine {
    home: tempfile::TempDir,
    url: String,
    token: String,
}

impl Machine {
    fn new(server: &FakeServer) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        let token = server.person_token("ann", "sessions:*");
        Self { home, url: format!("http://{}", server.address), token }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A program that notes its arguments, one per line, and ends with this status.
    fn program(&self, name: &str, status: u8) {
        let calls = self.path("calls");
        let script = format!(
            "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\" >>'{}'; done\n\
             echo \"heard: $*\"\nexit {status}\n",
            calls.display()
        );
        self.write(&format!("bin/{name}"), &script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(&format!("bin/{name}")), mode).unwrap();
    }

    fn run(&self, program: impl AsRef<Path>, args: &[&str]) -> Output {
        let mut command = Command::new(program.as_ref());
        let path = std::env::var("PATH").unwrap();
        command.args(args).env("HOME", self.home.path());
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.env("HELMDECK_URL", &self.url).env("HELMDECK_TOKEN", &self.token);
        for moved in ["XDG_CONFIG_HOME", "CODEX_HOME", "HERMES_HOME", "OPENCLAW_STATE_DIR"] {
            command.env_remove(moved);
        }
        command.output().unwrap()
    }

    fn helmdeck(&self, args: &[&str]) -> Output {
        self.run(binary(), args)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned()
}

async fn tokens(server: &FakeServer) -> Vec<Value> {
    let listed = server.admin().get("/api/v1/tokens").await.expect(200).json();
    let listed = listed["tokens"].as_array().unwrap().clone();
    listed.into_iter().filter(|token| token["revoked_at"].is_null()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn connecting_keeps_other_settings_and_refuses_a_file_that_cannot_be_parsed() {
    let server = FakeServer::start().await;
    let machine = Machine::new(&server);
    let file = ".gemini/settings.json";
    let before = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    machine.write(file, before);
    let done = machine.helmdeck(&["connect", "gemini-cli", "--label", "laptop"]);
    assert!(done.status.success(), "{}", said(&done));
    let after = machine.read(file);
    assert!(
        after.starts_with("{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {"),
        "{after}"
    );
    let plain: Value = serde_json::from_str(&after.replace("// mine", "")).unwrap();
    let entry = &plain["mcpServers"]["helmdeck"];
    assert_eq!(entry["httpUrl"], format!("{}/mcp?profile=core", machine.url));
    let bearer = entry["headers"]["Authorization"].as_str().unwrap();
    let token = bearer.strip_prefix("Bearer ").unwrap().to_owned();
    server.bearer(token).get("/api/v1/sessions").await.expect(200);
    let text = said(&done);
    for part in ["gemini mcp list", "helmdeck skill install gemini-cli", "revoke", ".bak"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let listed = tokens(&server).await;
    assert_eq!(
        (&listed[0]["client"], &listed[0]["made_for"]),
        (&json!("laptop"), &json!("gemini-cli"))
    );

    machine.write(file, "{ broken");
    let refused = machine.helmdeck(&["connect", "gemini-cli"]);
    assert!(!refused.status.success() && said(&refused).contains("not valid JSON"), "{refused:?}");
    assert_eq!(machine.read(file), "{ broken");
    assert_eq!(tokens(&server).await.len(), listed.len(), "no token is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn toml_and_yaml_settings_are_written_too_and_printing_writes_nothing() {
    let server = FakeServer::start().await;
    let machine = Machine::new(&server);
    machine.write(".codex/config.toml", "model = \"x\" # mine\n");
    machine.write(".hermes/config.yaml", "model: x # mine\n");
    for client in ["codex", "hermes", "opencode", "cursor", "vscode", "claude-desktop"] {
        let done = machine.helmdeck(&["connect", client]);
        assert!(done.status.success(), "{client}: {}", said(&done));
    }
    let codex = machine.read(".codex/config.toml");
    assert!(codex.starts_with("model = \"x\" # mine\n\n[mcp_servers.helmdeck]\n"), "{codex}");
    let hermes = machine.read(".hermes/config.yaml");
    assert!(hermes.starts_with("model: x # mine\n\nmcp_servers:\n  helmdeck:\n"), "{hermes}");
    let desktop = machine.read(".config/Claude/claude_desktop_config.json");
    let desktop: Value = serde_json::from_str(&desktop).unwrap();
    let entry = &desktop["mcpServers"]["helmdeck"];
    assert_eq!(entry["command"], binary().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(entry["env"]["HELMDECK_URL"], machine.url);

    let before = machine.read(".cursor/mcp.json");
    let printed = machine.helmdeck(&["connect", "cursor", "--print", "--profile", "browser"]);
    assert!(said(&printed).contains("/mcp?profile=browser"), "{}", said(&printed));
    assert_eq!(machine.read(".cursor/mcp.json"), before);
    let listed = said(&machine.helmdeck(&["connect"]));
    assert!(listed.contains("claude-code") && listed.contains("Any other client"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clients_own_program_adds_the_server_and_its_failure_leaves_no_token() {
    let server = FakeServer::start().await;
    let machine = Machine::new(&server);
    machine.program("claude", 0);
    let done = machine.helmdeck(&["connect", "claude-code"]);
    assert!(done.status.success(), "{}", said(&done));
    let calls = machine.read("calls");
    assert!(calls.starts_with("mcp\nremove\n--scope\nuser\nhelmdeck\nmcp\nadd\n"), "{calls}");
    assert!(calls.contains("\nAuthorization: Bearer eyJ"), "{calls}");
    assert_eq!(tokens(&server).await.len(), 1);

    machine.program("claude", 1);
    let failed = machine.helmdeck(&["connect", "claude-code"]);
    assert!(!failed.status.success());
    assert!(
        said(&failed).contains("Bearer <token>") && !said(&failed).contains("eyJ"),
        "{failed:?}"
    );
    assert_eq!(tokens(&server).await.len(), 1);

    // An agent cannot connect others.
    let agent = Machine { token: server.token("bot", "sessions:*"), ..Machine::new(&server) };
    agent.program("claude", 0);
    assert!(said(&agent.helmdeck(&["connect", "claude-code"])).contains("(person_required)"));
    assert_eq!(agent.read("calls"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_a_client_starts_gets_the_certificate_of_a_self_signed_server() {
    let server = FakeServer::start_with(&[("HELMDECK_TLS_SELF_SIGNED", "true")]).await;
    let machine = Machine { url: format!("https://{}", server.address), ..Machine::new(&server) };
    let cert = server.config.certificate_in_use().unwrap();
    let cert = cert.to_str().unwrap();
    let done = machine.helmdeck(&["connect", "cursor", "--stdio", "--ca-file", cert]);
    assert!(done.status.success(), "{}", said(&done));
    let written: Value = serde_json::from_str(&machine.read(".cursor/mcp.json")).unwrap();
    let env = &written["mcpServers"]["helmdeck"]["env"];
    assert_eq!(
        (&env["HELMDECK_URL"], &env["HELMDECK_CA_FILE"]),
        (&json!(machine.url), &json!(cert))
    );

    let done = machine.helmdeck(&["connect", "cursor", "--ca-file", cert]);
    assert!(done.status.success() && said(&done).contains("--stdio"), "{}", said(&done));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_skill_is_installed_where_the_client_looks() {
    let server = FakeServer::start().await;
    let machine = Machine::new(&server);
    let printed = machine.helmdeck(&["skill", "print"]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.starts_with("---\nname: helmdeck\n"), "{printed}");
    for (client, file) in [
        ("claude-code", ".claude/skills/helmdeck/SKILL.md"),
        ("hermes", ".hermes/skills/helmdeck/SKILL.md"),
    ] {
        for _ in 0..2 {
            let done = machine.helmdeck(&["skill", "install", client]);
            assert!(done.status.success(), "{}", said(&done));
        }
        assert_eq!(machine.read(file), printed);
    }
    let refused = machine.helmdeck(&["skill", "install", "claude-desktop"]);
    assert!(!refused.status.success() && said(&refused).contains("helmdeck skill print"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_openclaw_script_connects_teaches_and_can_be_run_again() {
    let server = FakeServer::start().await;
    let machine = Machine::new(&server);
    machine.program("openclaw", 0);
    fs::copy(binary(), machine.path("bin/helmdeck")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/configure-openclaw.sh");
    for _ in 0..2 {
        let done = machine.run(&script, &["--seed-identity"]);
        assert!(done.status.success(), "{}", said(&done));
    }
    let calls = machine.read("calls");
    let entry = calls.lines().find(|line| line.starts_with('{')).unwrap();
    let entry: Value = serde_json::from_str(entry).unwrap();
    assert_eq!(entry["transport"], "streamable-http");
    assert_eq!(entry["url"], format!("{}/mcp?profile=core", machine.url));
    let skill = machine.read(".openclaw/skills/helmdeck/SKILL.md");
    assert!(skill.starts_with("---\nname: helmdeck\n"), "{skill}");
    assert!(machine.read(".openclaw/workspace/IDENTITY.md").contains("helmdeck skill"));

    // The same for an OpenClaw in a container.
    machine.write("calls", "");
    machine.write(
        "bin/docker",
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'exec -i gateway' ] || exit 9\nshift 3\n\"$@\"\n",
    );
    fs::set_permissions(machine.path("bin/docker"), fs::Permissions::from_mode(0o755)).unwrap();
    let inside = ["OPENCLAW_CONTAINER=gateway", "OPENCLAW_HELMDECK_URL=http://10.0.0.1:3000/"];
    let script_path = script.to_str().unwrap();
    let done = machine.run("env", &[&inside[..], &[script_path, "--profile", "desktop"]].concat());
    assert!(done.status.success(), "{}", said(&done));
    let calls = machine.read("calls");
    assert!(calls.contains("\"url\":\"http://10.0.0.1:3000/mcp?profile=desktop\""), "{calls}");

    machine.write(".openclaw/workspace/IDENTITY.md", "mine");
    machine.write("calls", "");
    let done = machine.run(&script, &["--seed-identity", "--skip-mcp"]);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(machine.read(".openclaw/workspace/IDENTITY.md"), "mine");
    assert_eq!(machine.read("calls"), "");
}
