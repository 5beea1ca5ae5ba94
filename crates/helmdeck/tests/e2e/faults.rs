//! Parts of a session are killed: it recovers, or reports what happened.

use std::time::Duration;

use helmdeck_testkit::{Client, Desk, Process, Server, eventually};
use serde_json::{Value, json};

/// Time to recover on a busy machine.
const HEALING: Duration = Duration::from_secs(20);

fn find(server: &Server, part: &str) -> Process {
    let found = Process::in_sandboxes(&server.run_dir());
    let mut parts = found.into_iter().filter(|process| is_part(process, part));
    parts.next().unwrap_or_else(|| panic!("{part} runs"))
}

/// Nests run from a descriptor, so their command lines start with a number.
fn is_part(process: &Process, part: &str) -> bool {
    let command = &process.command;
    command.starts_with(part) || (command.starts_with("/proc/self/fd/") && command.contains(part))
}

const XVNC: &str = "Xtigervnc :99";
const GUEST: &str = "/opt/helmdeck/helmdeck guest";
const NEST: &str = " nest --name agent";
const BROWSER_NEST: &str = " nest --name browser";
const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";

/// Waits until the session has ended, and returns it.
async fn ended(desk: &Desk<'_>) -> Value {
    let over = async || {
        let session = desk.describe().await;
        (session["status"] == "error").then_some(session)
    };
    eventually(HEALING, over).await.expect("the session reports its end")
}

/// Kills a part of an idle session. The session must end with this reason, and leave nothing.
async fn killed_idle(part: &str, reason: &str) {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    find(&server, part).kill();
    let session = ended(&desk).await;
    assert_eq!(session["end_reason"], reason, "{session}");
    desk.ask("click", json!({ "x": 1, "y": 1 })).await.expect_error(502, reason);
    assert!(!desk.log().await.trim().is_empty(), "the log is kept");
    let nothing = async || {
        let no_process = Process::in_sandboxes(&server.run_dir()).is_empty();
        (no_process && server.installation.sandboxes().is_empty()).then_some(())
    };
    eventually(HEALING, nothing).await.expect("no process and no directory is left");
}

#[tokio::test]
async fn a_session_without_its_x_server_ends_with_that_reason() {
    killed_idle(XVNC, "display_lost").await;
}

#[tokio::test]
async fn a_session_without_its_guest_ends_with_that_reason() {
    killed_idle(GUEST, "guest_lost").await;
}

#[tokio::test]
async fn a_session_without_its_nested_sandbox_ends_with_that_reason() {
    killed_idle(NEST, "guest_lost").await;
}

#[tokio::test]
async fn a_running_call_fails_when_the_x_server_dies() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    desk.open_key_field().await;
    let killer = async {
        desk.titled("up x").await;
        find(&server, XVNC).kill();
    };
    let text = json!({ "text": "x".repeat(10_000), "delay_ms": 50 });
    let (_, answer) = tokio::join!(killer, desk.ask("type", text));
    // Not a timeout: the error comes at once.
    answer.expect_error(502, "display_lost");
}

/// Number of Chromium windows.
async fn browsers(desk: &Desk<'_>) -> usize {
    desk.windows().await.iter().filter(|window| window["class"] == "Chromium").count()
}

#[tokio::test]
async fn a_browser_is_restarted_when_its_sandbox_is_killed() {
    let server = Server::start();
    let client: Client = server.admin();
    let desk = Desk::desktop(&client).await;
    let old = find(&server, CHROMIUM);
    find(&server, BROWSER_NEST).kill();
    let back = async || {
        let there = desk.browser("navigate", json!({ "url": "data:text/html,<title>back" })).await;
        (!old.is_alive() && there.status == 200).then_some(())
    };
    eventually(HEALING, back).await.expect("a new browser in a new sandbox");
    assert_eq!(desk.describe().await["status"], "running");
    desk.titled("back").await;
}

#[tokio::test]
async fn a_killed_browser_is_restarted() {
    let server = Server::start();
    let client: Client = server.admin();
    let desk = Desk::desktop(&client).await;
    let old = find(&server, CHROMIUM);
    old.kill();
    let back = async || {
        let new = Process::in_sandboxes(&server.run_dir())
            .into_iter()
            .any(|process| process.command.starts_with(CHROMIUM) && process.pid != old.pid);
        (new && browsers(&desk).await == 1).then_some(())
    };
    eventually(HEALING, back).await.expect("Chromium is back");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    assert_eq!(desk.describe().await["status"], "running");

    // However often it is killed, the desktop stays, and reports when the browser is restarted.
    let mut killed = vec![old.pid];
    for _ in 0..3 {
        let alive = async || {
            let found = Process::in_sandboxes(&server.run_dir());
            let new = |process: &Process| {
                process.command.starts_with(CHROMIUM) && !killed.contains(&process.pid)
            };
            found.into_iter().find(new)
        };
        let new = eventually(HEALING, alive).await.expect("Chromium is started again");
        new.kill();
        killed.push(new.pid);
    }
    let told = async || {
        let answer = desk.browser("extract", json!({ "timeout_s": 0.5 })).await.json();
        let said = answer["message"].as_str()?.contains("it restarts in");
        (said && answer["error"] == "cdp_unavailable").then_some(())
    };
    eventually(HEALING, told).await.expect("a call reports when the browser restarts");
    let view = desk.describe().await["browser_view"].clone();
    assert_eq!(view["status"], "no_browser", "{view}");
    assert!(view["reason"].as_str().unwrap().contains("the next try is at"), "{view}");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    let page = json!({ "url": "data:text/html,<title>back</title>", "timeout_s": 30 });
    let there = desk.browser("navigate", page).await.expect(200).json();
    assert_eq!(
        (&there["title"], &desk.describe().await["status"]),
        (&json!("back"), &json!("running"))
    );
}

#[tokio::test]
async fn a_killed_headless_browser_is_restarted() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let old = find(&server, CHROMIUM);
    old.kill();
    let back = async || {
        let found = Process::in_sandboxes(&server.run_dir());
        let new =
            |process: &Process| process.command.starts_with(CHROMIUM) && process.pid != old.pid;
        found.iter().any(new).then_some(())
    };
    eventually(HEALING, back).await.expect("Chromium is back");
    assert_eq!(desk.describe().await["status"], "running");
}
