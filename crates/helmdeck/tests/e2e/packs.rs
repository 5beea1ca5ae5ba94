//! Packs with real sessions and programs: a change to a repository, from clone to commit.

use std::{collections::HashMap, fs, path::Path, process::Command, time::Duration};

use helmdeck_testkit::{Client, Installation, Page, Process, Server, Site, eventually};
use serde_json::{Value, json};

use crate::packages::{Index, available, server};

/// For programs on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// Serves a repository with one commit, as files.
async fn repository() -> Index {
    Index::start(|_| {
        let dir = tempfile::tempdir().unwrap();
        let script = "git init -q src && cd src && mkdir docs && echo '# App' > README.md && \
                      echo 'print(\"hi\")' > main.py && echo text > docs/a.md && \
                      printf 'def helper(name):\n    return name\n' > lib.py && git add -A && \
                      git -c user.name=a -c user.email=a@example.com commit -qm first && \
                      git clone -q --bare . ../app.git && cd ../app.git && git update-server-info";
        let made = Command::new("bash").args(["-c", script]).current_dir(dir.path()).status();
        assert!(made.unwrap().success());
        let mut files = HashMap::new();
        add_files(&dir.path().join("app.git"), "/app.git", &mut files);
        files
    })
    .await
}

fn add_files(folder: &Path, path: &str, files: &mut HashMap<String, (&'static str, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => add_files(&entry.path(), &path, files),
            false => {
                files.insert(path, ("application/octet-stream", fs::read(entry.path()).unwrap()));
            }
        }
    }
}

async fn output(client: &Client, pack: &str, input: Value) -> Value {
    let job = client.post(&format!("/api/v1/packs/{pack}"), &input).await.expect(200).json();
    job["output"].clone()
}

#[tokio::test]
async fn a_repository_is_cloned_changed_tested_and_committed() {
    let (server, index) = (server(), repository().await);
    let agent = server.client("agent", "sessions:*");
    let url = format!("{}/app.git", index.url());
    let fetched = output(&agent, "repo.fetch", json!({ "url": url })).await;
    assert_eq!(fetched["readme"]["content"], "# App\n", "{fetched}");
    assert_eq!(fetched["doc_hints"], json!(["docs/**/*.md"]));
    let with = |mut input: Value| {
        input["_session_id"] = fetched["session_id"].clone();
        input["clone_path"] = fetched["clone_path"].clone();
        input
    };
    let listed = output(&agent, "fs.list", with(json!({ "glob": "**/*.md" }))).await;
    assert_eq!(listed["files"], json!(["README.md", "docs/a.md"]));
    let map = output(&agent, "repo.map", with(json!({ "token_budget": 40 }))).await;
    assert_eq!(map["map"], "lib.py:\n  1 def helper(name)\n", "{map}");
    assert!(map["tokens_estimated"].as_u64().unwrap() <= 40);
    let wrong = with(json!({ "languages": ["cobol"] }));
    let message =
        agent.post("/api/v1/packs/repo.map", &wrong).await.expect_error(400, "invalid_input");
    assert!(message.contains("python"), "{message}");
    let edit = json!({ "path": "main.py", "search": "hi", "replace": "hello" });
    assert_eq!(output(&agent, "fs.patch", with(edit)).await["applied"], 1);
    let large = "é".repeat(500_000);
    let write = json!({ "path": "new/large.txt", "content": large });
    output(&agent, "fs.write", with(write)).await;
    let read = output(&agent, "fs.read", with(json!({ "path": "new/large.txt" }))).await;
    assert_eq!((read["size"].as_u64(), read["content"].as_str()), (Some(1_000_000), Some(&*large)));
    let run = json!({ "command": ["python3", "main.py"] });
    assert_eq!(output(&agent, "cmd.run", with(run)).await["stdout"], "hello\n");
    assert_eq!(output(&agent, "git.diff", with(json!({}))).await["files_changed"], 2);
    let commit = output(&agent, "git.commit", with(json!({ "message": "greet" }))).await;
    let log = output(&agent, "git.log", with(json!({}))).await;
    assert_eq!(log["commits"][0]["commit"], commit["commit"]);
    output(&agent, "fs.delete", with(json!({ "path": "main.py" }))).await;

    // What goes wrong says why.
    let path = |pack: &str| format!("/api/v1/packs/{pack}");
    let gone = agent.post(&path("fs.read"), &with(json!({ "path": "main.py" }))).await;
    assert!(gone.expect_error(400, "invalid_input").contains("does not exist"));
    let elsewhere = json!({ "code": "print(1)", "workspace": "other" });
    let other = agent.post(&path("python.run"), &elsewhere).await.expect(200).json();
    let input = json!({ "_session_id": other["_session_id"], "clone_path": fetched["clone_path"] });
    let message = agent.post(&path("fs.list"), &input).await.expect_error(400, "invalid_input");
    assert!(message.contains("does not exist in session"), "{message}");
    let missing = json!({ "url": format!("{}/none.git", index.url()) });
    let message =
        agent.post(&path("repo.fetch"), &missing).await.expect_error(400, "invalid_input");
    assert!(message.contains("not found"), "git is quoted: {message}");
    let closed = json!({ "url": "http://169.254.169.254/x.git" });
    let message = agent.post(&path("repo.fetch"), &closed).await.expect_error(403, "egress_denied");
    assert!(message.starts_with("egress denied"), "{message}");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dead = json!({ "url": format!("http://host.helmdeck.internal:{port}/x.git") });
    let message = agent.post(&path("repo.fetch"), &dead).await.expect_error(502, "handler_failed");
    assert!(message.contains("refused the connection"), "{message}");
    // The sessions of failed calls have ended.
    let left = agent.get("/api/v1/sessions").await.expect(200).json();
    let ids = left["sessions"].as_array().unwrap().iter().map(|session| &session["id"]);
    let mut ids: Vec<_> = ids.collect();
    ids.sort_by_key(|id| **id != fetched["session_id"]);
    assert_eq!(ids, [&fetched["session_id"], &other["_session_id"]]);
}

#[tokio::test]
async fn a_cancelled_job_leaves_no_process_and_a_killed_server_loses_no_job() {
    let mut server = server();
    let run_dir = server.run_dir();
    let sleeps = || {
        let all = Process::in_sandboxes(&run_dir);
        all.iter().filter(|process| process.command.contains("sleep 4321")).count()
    };
    let start = async |client: &Client| {
        let input =
            json!({ "code": "import os; os.execvp('sleep', ['sleep', '4321'])", "wait_s": 0 });
        let job = client.post("/api/v1/packs/python.run", &input).await.expect(202).json();
        eventually(SOON, async || (sleeps() == 1).then_some(())).await.expect("it runs");
        format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap())
    };
    let agent = server.client("agent", "sessions:*");
    let job = start(&agent).await;
    assert_eq!(agent.delete(&job).await.expect(200).json()["state"], "cancelled");
    assert_eq!(sleeps(), 0);

    let job = start(&agent).await;
    server.kill();
    server.restart();
    let agent = server.client("agent", "sessions:*");
    let ended = agent.get(&job).await.expect(200).json();
    assert_eq!(
        (&ended["state"], &ended["error"]["error"]),
        (&json!("failed"), &json!("handler_failed"))
    );
    eventually(SOON, async || (sleeps() == 0).then_some(())).await.expect("its session ends");
}

#[tokio::test]
async fn code_runs_with_the_real_programs_and_wrong_input_says_what_is_wrong() {
    let (server, index) = (server(), repository().await);
    let agent = server.client("agent", "sessions:*");
    let fetched =
        output(&agent, "repo.fetch", json!({ "url": format!("{}/app.git", index.url()) })).await;
    let with = |mut input: Value| {
        input["_session_id"] = fetched["session_id"].clone();
        let clone = input.get("clone_path").is_none();
        if clone {
            input["clone_path"] = fetched["clone_path"].clone();
        }
        input
    };
    let here = |mut input: Value| {
        input["_session_id"] = fetched["session_id"].clone();
        input
    };
    let ran = output(&agent, "python.run", here(json!({ "code": "1 / 0" }))).await;
    assert_eq!(ran["exit_code"], 1);
    assert!(ran["stderr"].as_str().unwrap().contains("ZeroDivisionError"), "{ran}");
    if available(&["node"]) {
        let code = json!({ "code": "console.log(6 * 7); throw new Error('no more')" });
        let ran = output(&agent, "node.run", here(code)).await;
        assert_eq!((&ran["stdout"], &ran["exit_code"]), (&json!("42\n"), &json!(1)));
        assert!(ran["stderr"].as_str().unwrap().contains("no more"), "{ran}");
    }
    let edit = |path: &str| json!({ "path": path, "search": "absent", "replace": "x" });
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let elsewhere = json!({ "clone_path": "/tmp" });
    for (pack, input, status, code, part) in [
        ("fs.write", with(write("../x")), 400, "invalid_input", "leads outside"),
        ("fs.write", with(write("docs")), 400, "invalid_input", "docs is a folder"),
        ("fs.patch", with(edit("main.py")), 400, "invalid_input", "does not occur"),
        ("fs.patch", with(edit("none.py")), 400, "invalid_input", "does not exist"),
        ("fs.delete", with(json!({ "path": "docs" })), 400, "invalid_input", "is a folder"),
        ("fs.delete", with(json!({ "path": "none" })), 400, "invalid_input", "does not exist"),
        (
            "cmd.run",
            with(json!({ "command": ["no-such-program"] })),
            404,
            "command_not_found",
            "no-such-program",
        ),
        ("git.commit", with(json!({ "message": "x" })), 400, "invalid_input", "nothing to commit"),
        ("git.diff", with(elsewhere.clone()), 502, "handler_failed", "not a git repository"),
        ("git.log", with(elsewhere), 502, "handler_failed", "not a git repository"),
        (
            "repo.push",
            with(json!({ "remote": "away" })),
            400,
            "invalid_input",
            "no remote named away",
        ),
        (
            "python.run",
            here(json!({ "code": "1", "cwd": "/none" })),
            400,
            "invalid_input",
            "pass its",
        ),
        ("node.run", here(json!({})), 400, "invalid_input", "code"),
    ] {
        let answer = agent.post(&format!("/api/v1/packs/{pack}"), &input).await;
        let message = answer.expect_error(status, code);
        assert!(message.contains(part), "{pack} {input}: {message}");
    }
    let listed = output(&agent, "fs.list", with(json!({ "glob": "docs/*" }))).await;
    assert_eq!(listed["files"], json!(["docs/a.md"]), "nothing was left behind");
}

#[tokio::test]
async fn a_secret_that_packs_used_is_not_in_the_log() {
    const SECRET: &str = "sk-0123456789-SECRET-of-packs";
    let site = Site::start(|_| Page::html("{}")).await;
    let host = site.address().to_string();
    let url = format!("http://{host}");
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("server.log");
    let env = [
        Site::REACHABLE,
        ("HELMDECK_LOG", "debug"),
        ("HELMDECK_GITHUB_API_URL", url.as_str()),
        ("HELMDECK_RESEND_API_URL", url.as_str()),
    ];
    let server = Server::start_logging(Installation::new(), &env, log.clone());
    let agent = server.client("agent", "sessions:*,vault:*");
    for name in ["github-token", "resend-api-key", "service-key"] {
        let body =
            json!({ "name": name, "type": "api_key", "host_pattern": host, "value": SECRET });
        agent.post("/api/v1/vault/credentials", &body).await.expect(201);
    }
    let header = json!({ "Authorization": "Bearer ${vault:service-key}" });
    for (pack, input) in [
        ("github.get_issue", json!({ "repo": "a/b", "issue_number": 1 })),
        (
            "email.send",
            json!({ "to": "a@example.com", "from": "b@example.com", "subject": "s", "text": "t" }),
        ),
        ("http.fetch", json!({ "url": format!("{url}/x"), "headers": header })),
    ] {
        // The answers of this site make no sense to some of them.
        agent.post(&format!("/api/v1/packs/{pack}"), &input).await;
    }
    let used = "/api/v1/audit?event_type=credential.used";
    let used = server.admin().get(used).await.expect(200).json();
    assert_eq!(used["count"], 3, "{used}");
    assert!(!used.to_string().contains(SECRET));
    let written = fs::read_to_string(&log).unwrap();
    assert!(written.contains("Job ended"), "{written}");
    assert!(!written.contains(SECRET), "{written}");
}
