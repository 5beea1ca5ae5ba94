//! `helmdeck pack` and `helmdeck jobs`, with a server in this process and a fake guest.

use std::{
    io::Write,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Client, binary, eventually, fake::FakeServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);

struct Shell {
    url: String,
    token: String,
    client: Client,
    session: String,
}

impl Shell {
    async fn of(server: &FakeServer) -> Self {
        let client = server.client("ann", "sessions:*");
        let made = client.post("/api/v1/sessions", &json!({})).await.expect(201).json();
        Self {
            url: format!("http://{}", server.address),
            token: server.token("ann", "sessions:*"),
            client,
            session: made["id"].as_str().unwrap().to_owned(),
        }
    }

    fn spawn(&self, args: &[&str]) -> Child {
        let mut command = Command::new(binary());
        command.args(args).env("HELMDECK_URL", &self.url).env("HELMDECK_TOKEN", &self.token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn run(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.spawn(args);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn said(&self, args: &[&str]) -> String {
        let done = self.run(args, "");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// The input of `cmd.run` as arguments.
    fn inputs(&self, command: &str) -> [String; 3] {
        let session = format!("_session_id={}", self.session);
        [session, "clone_path=/workspace/app".to_owned(), format!("command={command}")]
    }

    /// The state of the newest job, once it has begun.
    async fn begun(&self) -> String {
        let newest = async || {
            let list = self.client.get("/api/v1/jobs").await.expect(200).json();
            let job = &list["jobs"][0];
            (!job["started_at"].is_null()).then(|| job["job_id"].as_str().unwrap().to_owned())
        };
        eventually(SOON, newest).await.expect("the job begins")
    }

    async fn state(&self, id: &str) -> Value {
        self.client.get(&format!("/api/v1/jobs/{id}")).await.expect(200).json()["state"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pack_is_found_described_and_run_on_the_command_line() {
    let server = FakeServer::start().await;
    let shell = Shell::of(&server).await;
    assert!(shell.said(&["pack", "list"]).contains("cmd.run"));
    assert!(!shell.said(&["pack", "list", "--search", "clone repository"]).contains("node.run"));
    let described = shell.said(&["pack", "describe", "cmd.run"]);
    assert!(described.contains("clone_path (text, required)"), "{described}");

    let [session, clone, command] = shell.inputs(r#"["echo","x"]"#);
    let args = ["pack", "run", "cmd.run", &session, "-i", &clone, "--input", &command];
    let output: Value = serde_json::from_str(&shell.said(&args)).unwrap();
    assert_eq!(output["exit_code"], 0, "{output}");

    let input = json!({
        "_session_id": shell.session, "clone_path": "/workspace/app", "command": ["echo", "x"],
    });
    let done = shell.run(&["pack", "run", "cmd.run", "-", "--whole"], &input.to_string());
    let job: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((done.status.code(), &job["state"]), (Some(0), &json!("completed")));

    let wrong = shell.run(&["pack", "run", "cmd.run", &session], "");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(said.contains("clone_path") && said.contains("(invalid_input)"), "{said}");
    let unknown = shell.run(&["pack", "run", "cmd.rnu"], "");
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("did you mean cmd.run?"), "{said}");
    let listed = shell.said(&["jobs", "list", "--state", "completed"]);
    assert!(listed.contains(job["job_id"].as_str().unwrap()), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_cancels_the_job_and_a_detached_one_goes_on() {
    let server = FakeServer::start().await;
    let shell = Shell::of(&server).await;
    let inputs = shell.inputs(r#"["sleep","99"]"#);
    let mut args = vec!["pack", "run", "cmd.run"];
    args.extend(inputs.iter().map(String::as_str));
    let child = shell.spawn(&args);
    let id = shell.begun().await;
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::INT).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{done:?}");
    assert_eq!(shell.state(&id).await, "cancelled");

    args.push("--detach");
    let detached = shell.said(&args).trim().to_owned();
    assert_eq!(shell.state(&detached).await, "working");
    let shown = shell.said(&["jobs", "show", &detached]);
    assert!(shown.contains("working"), "{shown}");
    assert_eq!(shell.said(&["jobs", "cancel", &detached]), format!("{detached} cancelled\n"));
    let waited = shell.run(&["jobs", "wait", &detached], "");
    assert_eq!(waited.status.code(), Some(130), "{waited:?}");
    let unknown = shell.run(&["jobs", "wait", "job-none"], "");
    assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
}
