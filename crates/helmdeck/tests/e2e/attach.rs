//! `helmdeck attach`: attached displays and browsers work like other sessions, survive the server,
//! and are left unchanged.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{SinkExt, StreamExt};
use helmdeck_testkit::{Client, Desk, Process, Server, Wall, Watcher, eventually, is_root};
use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;

const SOON: Duration = Duration::from_secs(30);
const RETURN: u32 = 0xff0d;
/// Background colour of the terminal in the picture: blue, green, red.
const BACKGROUND: [u8; 3] = [0x60, 0x40, 0x20];

/// A process that is killed at the end of the test.
struct Program(Child);

/// Output of a program, line by line.
#[derive(Clone, Default)]
struct ProgramLines(Arc<Mutex<Vec<String>>>);

impl ProgramLines {
    /// Waits for a line with this prefix.
    async fn hears(&self, beginning: &str) -> String {
        let line = || self.0.lock().unwrap().iter().find(|it| it.starts_with(beginning)).cloned();
        let heard = eventually(SOON, async || line()).await;
        heard.unwrap_or_else(|| panic!("no {beginning:?} in {:?}", self.0.lock().unwrap()))
    }
}

impl Program {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0.id().cast_signed()).unwrap(), signal).unwrap();
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits for its end. Returns whether it succeeded.
    async fn ended(&mut self) -> bool {
        let over = async || self.0.try_wait().unwrap();
        eventually(SOON, over).await.expect("it ends").success()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X display with a terminal that records every line typed into it.
struct Desktop {
    x: Program,
    terminal: Program,
    name: String,
    dir: TempDir,
}

impl Desktop {
    fn start() -> Self {
        let mut command = Command::new("Xtigervnc");
        command.args(["-displayfd", "1", "-geometry", "800x600", "-depth", "24"]);
        command.args(["-rfbport", "-1", "-nolisten", "tcp", "-SecurityTypes", "None"]);
        let dir = tempfile::tempdir().unwrap();
        command.arg("-rfbunixpath").arg(dir.path().join("x.sock"));
        let mut x = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut number = String::new();
        BufReader::new(x.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let lines = dir.path().join("lines");
        let script = format!("while read line; do echo \"$line\" >> {}; done", lines.display());
        let mut command = Command::new("xterm");
        command.args(["-geometry", "100x30+0+0", "-bg", "#204060", "-e", "sh", "-c", &script]);
        let terminal = command.env("DISPLAY", &name).stdin(Stdio::null()).spawn().unwrap();
        Self { x: Program(x), terminal: Program(terminal), name, dir }
    }

    /// Waits until the terminal has read this.
    async fn reads(&self, lines: &str) {
        let path = self.dir.path().join("lines");
        let read = || fs::read_to_string(&path).unwrap_or_default();
        let look = async || (read() == lines).then_some(());
        assert!(eventually(SOON, look).await.is_some(), "{:?}", read());
    }
}

/// `helmdeck attach`, once its session is ready: the process, the session's id and further output.
fn attach(server: &Server, runtime_dir: &Path, more: &[&str]) -> (Program, String, ProgramLines) {
    let url = format!("http://{}", server.address);
    let mut command = server.installation.command(["attach", "--url", &url]);
    command.args(more).env("XDG_RUNTIME_DIR", runtime_dir).env_remove("DISPLAY");
    // Like a shell: exec 9<secret; helmdeck attach.
    let secret = tempfile::NamedTempFile::new().unwrap();
    fcntl_setfd(secret.as_file(), FdFlags::empty()).unwrap();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    fcntl_setfd(secret.as_file(), FdFlags::CLOEXEC).unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let program = Program(child);
    let first = said.next().expect("it prints the session").unwrap();
    let id = first.strip_prefix("session ").expect("its id").to_owned();
    let second = said.next().expect("the session is ready").unwrap();
    assert!(second.contains(&format!("{url}/sessions/{id}")), "{second}");
    for open in fs::read_dir(format!("/proc/{}/fd", program.0.id())).unwrap().flatten() {
        let file = fs::read_link(open.path()).unwrap_or_default();
        assert_ne!(file, secret.path(), "inherited descriptors are closed");
    }
    let rest = ProgramLines::default();
    let lines = rest.clone();
    std::thread::spawn(move || {
        said.map_while(Result::ok).for_each(|line| lines.0.lock().unwrap().push(line));
    });
    (program, id, rest)
}

/// A server with a fixed address, so that it can be restarted.
fn server_to_be_restarted() -> Server {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    Server::start_with(&[("HELMDECK_ADDR", &free.to_string())])
}

fn scrapers(display: &str) -> Vec<Process> {
    let own = format!("X0tigervnc -display {display} ");
    Process::all().into_iter().filter(|process| process.command.starts_with(&own)).collect()
}

async fn session(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/v1/sessions/{id}")).await.expect(200).json()
}

/// Waits until a field of the session has this value.
async fn becomes(client: &Client, id: &str, field: &str, value: &str) {
    let look = async || (session(client, id).await[field] == value).then_some(());
    if eventually(SOON, look).await.is_none() {
        panic!("{field} is not {value}: {:#}", session(client, id).await);
    }
}

/// Waits until the session reports that its program is disconnected.
async fn waits(client: &Client, id: &str) {
    let look = async || {
        let shown = session(client, id).await;
        (shown["browser_view"]["status"] == "unavailable"
            && shown["browser_view"]["reason"] == shown["notes"][1])
            .then(|| shown["notes"][1].as_str().unwrap_or_default().to_owned())
    };
    let waits = eventually(SOON, look).await.expect("it reports that it waits");
    assert!(waits.contains("is not connected since") && waits.contains("to come back"), "{waits}");
}

fn entries(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

#[tokio::test]
async fn an_attached_display_is_watched_driven_and_left_unchanged() {
    let mut server = server_to_be_restarted();
    let client = server.admin();
    let (mut desktop, private) = (Desktop::start(), tempfile::tempdir().unwrap());
    let (mut attached, id, said) =
        attach(&server, private.path(), &["--display", &desktop.name, "--label", "my desk"]);
    let desk = Desk { client: &client, id: id.clone() };

    // The session describes what is attached.
    let shown = desk.describe().await;
    assert_eq!((&shown["status"], &shown["mode"]), (&json!("running"), &json!("desktop")));
    assert_eq!(shown["attached"], json!({ "display": desktop.name, "live_view": true }));
    assert_eq!((&shown["spec"]["label"], &shown["owner"]), (&json!("my desk"), &json!("admin")));
    assert_eq!(shown["resources"]["limits_by"], "none");

    // People can watch it.
    let ticket = async |wanted: Value| {
        let path = format!("/api/v1/sessions/{id}/tickets");
        let ticket = client.post(&path, &wanted).await.expect(201).json();
        format!("/api/v1/sessions/{id}/vnc?ticket={}", ticket["ticket"].as_str().unwrap())
    };
    let mut viewer = Watcher::open(&server, &ticket(json!({})).await, &[]).await.unwrap();
    assert_eq!(viewer.size, (800, 600));
    let seen = async || {
        let picture = viewer.picture().await;
        (picture[(300 * 800 + 300) * 4..][..3] == BACKGROUND).then_some(())
    };
    eventually(SOON, seen).await.expect("the terminal is seen");

    // Actions reach the display. Actions that need a sandbox are refused.
    desk.act("mouse_move", json!({ "x": 200, "y": 200 })).await;
    desk.act("type", json!({ "text": "typed by an agent\n" })).await;
    desktop.reads("typed by an agent\n").await;
    desk.ask("launch", json!({ "command": "xterm" })).await.expect_error(400, "session_attached");
    desk.ask_exec(&json!({ "command": ["true"] })).await.expect_error(400, "session_attached");
    let size = json!({ "width": 640, "height": 480 });
    desk.ask("resize", size).await.expect_error(400, "session_attached");
    let files = format!("/api/v1/sessions/{id}/files");
    client.get(&files).await.expect_error(400, "session_attached");
    desk.browser("tabs", json!({})).await.expect_error(503, "cdp_unavailable");

    // A person who takes control can drive it.
    let drives = format!("{}&take=true", ticket(json!({ "role": "control" })).await);
    let mut viewer = Watcher::open(&server, &drives, &[]).await.unwrap();
    let held = desk.ask("type", json!({ "text": "x" })).await;
    held.expect_error(409, "control_held");
    for letter in "by hand".chars() {
        viewer.key(letter as u32).await;
    }
    viewer.key(RETURN).await;
    viewer.settled().await;
    desktop.reads("typed by an agent\nby hand\n").await;
    drop(viewer);

    // Without its server it waits, and the next server resumes the same session.
    server.kill();
    server.restart();
    let client = server.admin();
    let known = async || {
        let answer = client.get(&format!("/api/v1/sessions/{id}")).await;
        (answer.status == 200 && answer.json()["status"] == "running").then_some(())
    };
    eventually(SOON, known).await.expect("it reconnects");
    assert!(said.hears("reconnected").await.contains(&format!("/sessions/{id}")));
    let desk = Desk { client: &client, id: id.clone() };
    assert_eq!(desk.describe().await["created_at"], shown["created_at"]);
    desk.act("type", json!({ "text": "again\n" })).await;
    desktop.reads("typed by an agent\nby hand\nagain\n").await;

    // When killed, it leaves no process, and its directory only until the next start. The session
    // reports that it waits.
    attached.signal(Signal::KILL);
    assert!(!attached.ended().await);
    waits(&client, &id).await;
    let gone = async || scrapers(&desktop.name).is_empty().then_some(());
    eventually(SOON, gone).await.expect("the scraper ends with it");
    assert_eq!(entries(private.path()), 1);
    let number = desktop.name.trim_start_matches(':').to_owned();
    let (mut second, other, said) = attach(&server, private.path(), &["--display", &number]);
    assert_eq!(entries(private.path()), 1);

    // When interrupted, it leaves nothing behind.
    second.signal(Signal::INT);
    assert!(second.ended().await);
    let goodbye = said.hears("The session has ended").await;
    assert_eq!(goodbye, format!("The session has ended; display {} is unchanged", desktop.name));
    becomes(&client, &other, "end_reason", "requested").await;
    assert_eq!(session(&client, &other).await["status"], "terminated");
    assert_eq!((entries(private.path()), scrapers(&desktop.name).len()), (0, 0));
    assert!(desktop.x.is_alive() && desktop.terminal.is_alive());

    // When the display ends, so does its session.
    let (mut third, last, _) = attach(&server, private.path(), &["--display", &desktop.name]);
    desktop.x.signal(Signal::KILL);
    becomes(&client, &last, "end_reason", "display_lost").await;
    assert!(!third.ended().await);
}

/// A browser with a debugging port: any free one, or a given one.
fn browser(dir: &Path, port: u16) -> (Program, u16) {
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-first-run", "--disable-gpu", "about:blank"]);
    command.arg(format!("--remote-debugging-port={port}"));
    command.arg(format!("--user-data-dir={}", dir.display()));
    if is_root() {
        command.arg("--no-sandbox");
    }
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let program = Program(child);
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.strip_prefix("DevTools listening on ws://127.0.0.1:").map(str::to_owned)
    });
    // It writes more, and would block without a reader.
    std::thread::spawn(move || lines.map_while(Result::ok).count());
    let port = address.expect("a port").split('/').next().unwrap().parse().unwrap();
    (program, port)
}

#[tokio::test]
async fn an_attached_browser_answers_the_api_and_survives_a_restart() {
    let server = Server::start();
    let client = server.admin();
    let (profile, private) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (mut chromium, port) = browser(profile.path(), 0);
    let cdp = format!("http://127.0.0.1:{port}");
    let (mut attached, id, _) = attach(&server, private.path(), &["--cdp", &cdp]);
    let desk = Desk { client: &client, id: id.clone() };
    let shown = desk.describe().await;
    assert_eq!(shown["mode"], "headless");
    assert_eq!(
        shown["attached"],
        json!({ "live_view": false, "cdp": format!("127.0.0.1:{port}") })
    );

    let page = json!({ "url": "data:text/html,<title>mine</title><h1>Hello there</h1>" });
    desk.browser("navigate", page.clone()).await.expect(200);
    let text = desk.browser("markdown", json!({})).await.expect(200).text();
    assert!(text.contains("Hello there"), "{text}");
    let version = format!("/api/v1/sessions/{id}/cdp/json/version");
    assert!(client.get(&version).await.expect(200).text().contains("Chrome"));
    desk.ask("click", json!({ "x": 1, "y": 1 })).await.expect_error(400, "not_desktop_mode");
    let file = json!({ "selector": "input", "files": ["a.txt"] });
    desk.browser("upload", file).await.expect_error(400, "session_attached");

    let mut wall = Wall::watch(&server, &server.token("admin", "admin"), &[&id], 320).await;
    wall.picture(&id).await;
    assert_eq!(desk.describe().await["browser_view"]["status"], "passthrough");
    chromium.signal(Signal::KILL);
    chromium.ended().await;
    let (mut chromium, _) = browser(profile.path(), port);
    wall.picture(&id).await;
    let back = async || {
        let answer = desk.browser("navigate", page.clone()).await;
        (answer.status == 200).then_some(())
    };
    eventually(SOON, back).await.expect("the browser reconnects");

    attached.signal(Signal::INT);
    assert!(attached.ended().await);
    becomes(&client, &id, "end_reason", "requested").await;
    assert!(chromium.is_alive());
    assert_eq!(entries(private.path()), 0);
}

#[tokio::test]
async fn attaching_fails_with_a_reason_and_needs_scope_and_secret() {
    let server = Server::start();
    let url = format!("http://{}", server.address);
    let refused = |more: &[&str], env: &[(&str, &str)]| {
        let all = [&["attach", "--url", &url], more].concat();
        let outcome = server.installation.attempt(all, env);
        assert!(!outcome.success, "{more:?}");
        outcome.stderr
    };
    let said = refused(&[], &[("DISPLAY", "")]);
    assert!(said.contains("--display"), "{said}");
    let said = refused(&["--display", ":3999"], &[]);
    assert!(said.contains("there is no X server at :3999: "), "{said}");
    let said = refused(&["--cdp", "http://127.0.0.1:1"], &[]);
    assert!(said.starts_with("helmdeck: the browser at 127.0.0.1:1 cannot be"), "{said}");

    // Without the scope nothing can be attached, and without the secret no stream can be opened.
    let stranger = server.token("stranger", "sessions:read");
    let bearer = format!("Bearer {stranger}");
    let headers = [("authorization", bearer.as_str())];
    let answer = Watcher::socket(&server, "/api/v1/attach", &headers).await.map(|_| ());
    assert_eq!(answer.unwrap_err().0, 403);
    let may = format!("Bearer {}", server.token("stranger", "admin"));
    let headers = [("authorization", may.as_str()), ("x-helmdeck-attach", may.as_str())];
    let stream = "/api/v1/attach/sess-000000000000/stream";
    let answer = Watcher::socket(&server, stream, &headers).await.map(|_| ());
    assert_eq!(answer.unwrap_err().0, 404);

    // Only one program at a time can use a secret. Another is refused until the first is gone.
    let headers = [("authorization", may.as_str())];
    let attach = async |secret: &Value| {
        let mut socket = Watcher::socket(&server, "/api/v1/attach", &headers).await.unwrap();
        let attached = json!({ "cdp": "127.0.0.1:1" });
        let hello = json!({ "attached": attached, "secret": secret });
        socket.send(Message::text(hello.to_string())).await.unwrap();
        loop {
            if let Message::Text(text) = socket.next().await.expect("an answer").unwrap() {
                return (socket, serde_json::from_str::<Value>(&text).unwrap());
            }
        }
    };
    let (first, brought) = attach(&Value::Null).await;
    let brought = &brought["attached"];
    let (_, refused) = attach(&brought["secret"]).await;
    assert_eq!(refused["refused"]["error"], "already_attached", "{refused}");
    drop(first);
    let back = async || {
        let (socket, answer) = attach(&brought["secret"]).await;
        answer["attached"].is_object().then_some((socket, answer))
    };
    let (_socket, answer) = eventually(SOON, back).await.expect("it reconnects");
    assert_eq!(answer["attached"]["session_id"], brought["session_id"]);
}
