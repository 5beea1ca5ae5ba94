//! The server's disk becomes full or read-only while it runs.

use std::{path::Path, time::Duration};

use helmdeck_testkit::{Client, Desk, Installation, Process, Server, View, eventually};
use http::Method;
use serde_json::json;
use sqlx::{Connection, SqliteConnection};
use tokio::time::timeout;

/// Time for a start and an end on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the server logs to.
enum Log {
    /// To the data directory, like `make up`.
    There,
    /// To the test.
    Elsewhere,
}

/// A server whose data directory is on a separate disk.
struct World {
    server: Server,
    view: View,
}

impl World {
    /// `None`, with a printed reason, if no disk can be mounted.
    fn start(log: Log) -> Option<Self> {
        let view = View::new()?;
        let installation = Installation::in_view(&view);
        mount(&view, &installation.data_dir(), 2 << 20);
        let file = view.path(&installation.data_dir().join("server.log"));
        let server = match log {
            Log::There => Server::start_logging(installation, &[], file),
            Log::Elsewhere => Server::start_in(installation, &[]),
        };
        Some(Self { server, view })
    }

    /// Resets the password and returns the login.
    fn new_login(&self) -> (String, String) {
        let said = self.server.run(["admin", "reset-password"]);
        let (name, password) = said.split_once('\t').expect("name and password");
        (name.to_owned(), password.to_owned())
    }

    /// The error of a reset that must fail.
    fn refused_reset(&self) -> String {
        let outcome = self.server.installation.attempt(["admin", "reset-password"], &[]);
        assert!(!outcome.success && outcome.stdout.is_empty(), "{outcome:?}");
        outcome.stderr
    }

    /// Fills the disk, including the rest of the log's last block.
    fn fill(&self) {
        self.run("cat /dev/zero >fill || true; truncate -s %4096 server.log || true");
    }

    fn run(&self, script: &str) -> String {
        let dir = self.server.data_dir();
        self.view.run(&format!("cd {}; {script}", dir.display()))
    }

    /// Stops the server, and checks that its data is intact.
    async fn expect_whole(&mut self) {
        self.server.stop();
        let copy = tempfile::tempdir().unwrap();
        for name in self.run("ls | grep helmdeck.db").lines() {
            let kept = self.view.path(&self.server.data_dir().join(name));
            std::fs::copy(kept, copy.path().join(name)).unwrap();
        }
        let file = format!("sqlite://{}", copy.path().join("helmdeck.db").display());
        let mut database = SqliteConnection::connect(&file).await.unwrap();
        let said: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut database).await.unwrap();
        assert_eq!(said, "ok");
    }
}

fn mount(view: &View, dir: &Path, bytes: u64) {
    let dir = dir.display();
    view.run(&format!("mkdir -p {dir}; mount -t tmpfs -o size={bytes},mode=711 tmpfs {dir}"));
}

async fn log_in(server: &Server, (username, password): &(String, String)) -> u16 {
    let body = json!({ "username": username, "password": password });
    server.stranger().post("/api/v1/auth/login", &body).await.status
}

fn names_the_disk(said: &str) -> bool {
    ["full", "No space", "has room"].iter().any(|words| said.contains(words))
}

/// Everyday operations, which write nothing.
async fn expect_everyday_life(server: &Server, desk: &Desk<'_>, login: &(String, String)) {
    assert_eq!(log_in(server, login).await, 200);
    let wrong = json!({ "username": login.0, "password": "wrong" });
    let answer = server.stranger().post("/api/v1/auth/login", &wrong).await;
    answer.expect_error(401, "invalid_credentials");
    server.stranger().get("/readyz").await.expect(200);
    // Another process creates the token with the stored secret.
    let client: Client = server.client("another", "sessions:*");
    client.get("/api/v1/sessions/none").await.expect_error(404, "not_found");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    assert!(desk.log().await.contains("xvnc"));
    // A session whose driver crashed by logging would never become ready or end.
    let another = async { Desk::create(&client, &json!({})).await.end().await };
    timeout(PATIENCE, another).await.expect("a session starts and ends");
}

#[tokio::test]
async fn a_full_data_directory_blocks_no_session_and_stays_intact() {
    let Some(mut world) = World::start(Log::There) else { return };
    let client = world.server.admin();
    let desk = Desk::desktop(&client).await;
    let old = world.new_login();
    world.fill();
    expect_everyday_life(&world.server, &desk, &old).await;
    let said = world.refused_reset();
    assert!(names_the_disk(&said), "{said}");
    assert_eq!(log_in(&world.server, &old).await, 200, "a failed reset changes nothing");

    world.run("rm fill");
    let new = world.new_login();
    assert_eq!(log_in(&world.server, &new).await, 200);
    assert_eq!(log_in(&world.server, &old).await, 401);
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    desk.end().await;
    world.expect_whole().await;
}

#[tokio::test]
async fn an_upload_to_a_full_disk_is_refused_and_no_artifact_is_lost() {
    let Some(mut world) = World::start(Log::Elsewhere) else { return };
    let client = world.server.client("agent", "sessions:*");
    let upload = async |size: usize| {
        let kind = [("content-type", "text/plain")];
        let content = vec![b'x'; size].into();
        client.send(Method::POST, "/api/v1/artifacts/upload", &kind, content).await
    };
    let kept = upload(10_000).await.expect(201).json();
    world.fill();
    upload(200_000).await.expect_error(507, "disk_full");
    let content = client.get(kept["url"].as_str().unwrap()).await.expect(200);
    assert_eq!(content.body.len(), 10_000);
    let list = client.get("/api/v1/artifacts").await.expect(200).json();
    assert_eq!((&list["count"], &list["used_bytes"]), (&json!(1), &json!(10_000)));
    assert_eq!(world.run("ls artifacts/incoming"), "");

    world.run("rm fill");
    upload(200_000).await.expect(201);
    world.expect_whole().await;
}

#[tokio::test]
async fn a_job_on_a_full_disk_works_until_its_result_is_saved() {
    let Some(mut world) = World::start(Log::Elsewhere) else { return };
    let client = world.server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({ "mode": "headless" })).await;
    let script = "until [ -e /tmp/go ]; do sleep 0.1; done; head -c 100000 /dev/zero | tr '\\0' x";
    let mut input = json!({
        "_session_id": desk.id, "clone_path": "/tmp", "command": ["sh", "-c", script], "wait_s": 0,
        "max_output_bytes": 200_000,
    });
    let job = client.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
    let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
    let shown = async || client.get(&path).await.expect(200).json();
    let began = async || (!shown().await["session_id"].is_null()).then_some(());
    eventually(PATIENCE, began).await.expect("it begins");
    world.fill();
    input["stdin"] = json!("x".repeat(400_000));
    client.post("/api/v1/packs/cmd.run", &input).await.expect_error(507, "disk_full");
    desk.run("touch /tmp/go").await;
    let waits = async || {
        let job = shown().await;
        assert_eq!(job["state"], "working", "{job}");
        job["message"].as_str().unwrap_or_default().contains("disk is full").then_some(())
    };
    eventually(PATIENCE, waits).await.expect("it says what it waits for");

    world.run("rm fill");
    let job = client.get(&format!("{path}?wait_s=45")).await.expect(200).json();
    assert_eq!(job["state"], "completed", "{job}");
    assert_eq!(job["output"]["stdout"].as_str().unwrap().len(), 100_000);
    desk.end().await;
    world.expect_whole().await;
}

#[tokio::test]
async fn a_read_only_data_directory_blocks_no_session() {
    let Some(mut world) = World::start(Log::There) else { return };
    let client = world.server.admin();
    let desk = Desk::desktop(&client).await;
    let old = world.new_login();
    // Files that are open for writing prevent a read-only remount. A read-only mount of the same
    // disk on top affects everything that is opened from now on.
    let dir = world.server.data_dir();
    let dir = dir.display();
    world.view.run(&format!("mount --bind {dir} {dir}; mount -o remount,bind,ro {dir}"));
    expect_everyday_life(&world.server, &desk, &old).await;
    let said = world.refused_reset();
    assert!(said.to_lowercase().contains("read-only") || said.contains("readonly"), "{said}");

    world.view.run(&format!("umount {dir}"));
    let new = world.new_login();
    assert_eq!(log_in(&world.server, &new).await, 200);
    desk.end().await;
    world.expect_whole().await;
}

#[tokio::test]
async fn a_server_killed_on_a_full_disk_starts_again_and_finds_its_sessions() {
    let Some(mut world) = World::start(Log::Elsewhere) else { return };
    let client = world.server.client("agent", "sessions:*");
    let id = Desk::desktop(&client).await.id;
    let login = world.new_login();
    world.fill();
    world.server.kill();
    world.server.restart();
    let client = world.server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    expect_everyday_life(&world.server, &desk, &login).await;
    world.run("rm fill");
    desk.end().await;
    world.expect_whole().await;
}

#[tokio::test]
async fn a_server_restarted_on_a_full_disk_reports_why_and_later_finds_its_sessions() {
    let Some(mut world) = World::start(Log::Elsewhere) else { return };
    let client = world.server.client("agent", "sessions:*");
    let id = Desk::desktop(&client).await.id;
    world.server.leave();
    world.fill();
    // The database has no open connection, and there is no space to open one.
    let outcome = world.server.installation.attempt(["serve"], &[]);
    assert!(!outcome.success && names_the_disk(&outcome.stderr), "{outcome:?}");
    world.run("rm fill");
    world.server.restart();
    let client = world.server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    desk.end().await;
    world.expect_whole().await;
}

#[tokio::test]
async fn a_first_start_on_a_full_disk_fails_with_a_reason_and_later_succeeds() {
    let Some(view) = View::new() else { return };
    let installation = Installation::in_view(&view);
    let dir = installation.data_dir();
    mount(&view, &dir, 1 << 20);
    let fill = dir.join("fill");
    // Space for a file or two, but not for a complete start.
    for kilobytes in [0, 4, 8, 16, 32, 64] {
        let rest = format!("truncate -s -{kilobytes}K {0}", fill.display());
        view.run(&format!("cat /dev/zero >{0} || true; {rest}", fill.display()));
        let outcome = installation.attempt(["admin", "init"], &[]);
        if outcome.success {
            break;
        }
        let said = &outcome.stderr;
        assert!(names_the_disk(said), "{kilobytes}: {said}");
        let token = installation.attempt(["token", "--sub", "x"], &[]);
        assert!(token.success || token.stderr.contains("No space"), "{}", token.stderr);
    }
    view.run(&format!("rm {}", fill.display()));
    let server = Server::start_in(installation, &[]);
    server.admin().get("/api/v1/sessions").await.expect(200);
    let left = view.run(&format!("ls {}", dir.display()));
    assert!(!left.contains(".new"), "no partial file is left: {left}");
}

#[tokio::test]
async fn a_full_run_directory_refuses_new_sessions_and_keeps_the_old_ones() {
    let Some(view) = View::new() else { return };
    let installation = Installation::in_view(&view);
    let run_dir = installation.run_dir();
    mount(&view, &run_dir, 1 << 30);
    let server = Server::start_in(installation, &[]);
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let processes = Process::in_sandboxes(&server.run_dir()).len();
    let dir = run_dir.display();
    view.run(&format!("cat /dev/zero >{dir}/fill || true"));
    let spec = json!({ "mode": "desktop", "geometry": "800x600" });
    let answer = client.post("/api/v1/sessions", &spec).await;
    let message = answer.expect_error(500, "create_failed");
    assert!(message.contains("No space"), "{message}");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    let said = desk.shell("seq 2000 | sed s/^/word/").await;
    assert!(said.contains("word2000"), "its log continues");
    assert_eq!(view.run(&format!("ls {dir}/*/sandboxes")).trim(), desk.id, "nothing is left");
    assert!(Process::in_sandboxes(&server.run_dir()).len() < 2 * processes);

    view.run(&format!("rm {dir}/fill"));
    Desk::create(&client, &spec).await.end().await;
    desk.end().await;
    assert_eq!(view.run(&format!("ls {dir}/*/sandboxes")), "");
}
