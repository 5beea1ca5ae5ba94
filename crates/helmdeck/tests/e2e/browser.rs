//! The browser's own sandbox, seen from the host.

use std::time::Duration;

use helmdeck_testkit::{Desk, Process, Server, eventually};
use serde_json::json;

/// The browser process and its renderers.
fn browser(server: &Server) -> Option<(Process, Vec<Process>)> {
    let chromium = Process::in_sandboxes(&server.run_dir())
        .into_iter()
        .filter(|process| process.command.contains("/chromium/chromium "));
    let (renderers, others): (Vec<_>, Vec<_>) =
        chromium.partition(|process| process.command.contains("--type=renderer"));
    let main = others.into_iter().find(|process| !process.command.contains("--type="))?;
    (!renderers.is_empty()).then_some((main, renderers))
}

async fn check(server: &Server) {
    let look = async || browser(server);
    let (main, renderers) = eventually(Duration::from_secs(10), look).await.expect("a renderer");
    assert!(main.command.contains("--remote-debugging-pipe"), "{}", main.command);
    for process in renderers.iter().chain([&main]) {
        for forbidden in ["--no-sandbox", "--disable-setuid-sandbox", "--remote-debugging-port"] {
            assert!(!process.command.contains(forbidden), "{}", process.command);
        }
    }
    // A new renderer is about to enter its sandbox.
    let locked_in =
        async || browser(server).filter(|(main, all)| all.iter().all(|r| sandboxed(r, main)));
    let found = eventually(Duration::from_secs(10), locked_in).await;
    assert!(found.is_some(), "not sandboxed: {:#?}", browser(server));
}

/// Whether a renderer has a system call filter and its own user namespace.
fn sandboxed(renderer: &Process, main: &Process) -> bool {
    let filters = |process: &Process| -> u32 {
        process.status("Seccomp_filters").map_or(0, |count| count.parse().unwrap())
    };
    renderer.status("Seccomp").as_deref() == Some("2")
        && filters(renderer) > filters(main)
        && renderer.namespace("user").is_some()
        && renderer.namespace("user") != main.namespace("user")
}

#[tokio::test]
async fn a_visible_browsers_pages_run_in_its_own_sandbox() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.browse("<title>a page</title>", "a page").await;
    check(&server).await;
}

#[tokio::test]
async fn a_headless_browsers_pages_run_in_its_own_sandbox() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let _desk = Desk::create(&client, &json!({})).await;
    check(&server).await;
}
