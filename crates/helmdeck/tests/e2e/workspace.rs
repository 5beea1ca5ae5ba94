//! `/workspace`: on disk, limited, and removed with the session.

use std::{fs, path::Path, time::Duration};

use helmdeck_testkit::{Desk, Process, Server, eventually};
use serde_json::json;

/// The limit is checked once per second; the machine may be busy.
const SOON: Duration = Duration::from_secs(30);

fn workspaces(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.data_dir().join("workspaces")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Total size of the files in a directory.
fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size(&entry.path()),
            _ => entry.metadata().map_or(0, |facts| facts.len()),
        })
        .sum()
}

#[tokio::test]
async fn a_workspace_is_on_disk_and_removed_with_its_session_even_after_a_crash() {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let (one, two) = (Desk::create(&client, &json!({})).await, Desk::desktop(&client).await);
    assert_eq!(workspaces(&server).len(), 2);
    let line = "dd if=/dev/zero of=big bs=1M count=20 2>/dev/null; mkdir -p a/b; chmod 0 a/b a; \
                ln -s /etc link; cp /bin/true t && ./t && stat -c %s big";
    for desk in [&one, &two] {
        assert_eq!(desk.run(line).await, "20971520\n");
        let dir = server.data_dir().join("workspaces").join(&desk.id);
        assert!(size(&dir) >= 20 << 20, "it is on the disk");
    }
    // Programs do not learn its host path, and the browser cannot see it.
    let mounts = two.run("cat /proc/self/mountinfo").await;
    assert!(mounts.contains(" /workspace "), "{mounts}");
    for hidden in [server.data_dir().to_str().unwrap(), "workspaces", &two.id] {
        assert!(!mounts.contains(hidden), "{hidden} in {mounts}");
    }
    one.end().await;
    assert_eq!(workspaces(&server), [two.id.as_str()]);
    // A killed server and sandbox: the next server cleans up.
    server.kill();
    for process in Process::in_sandboxes(&server.run_dir()) {
        process.kill();
    }
    server.restart();
    let none = async || workspaces(&server).is_empty().then_some(());
    eventually(SOON, none).await.expect("nothing is left");
}

#[tokio::test]
async fn a_command_that_fills_the_workspace_is_killed_and_space_can_be_freed() {
    let server = Server::start_with(&[("HELMDECK_WORKSPACE_LIMIT", "64m")]);
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    // Slowly, so that the check can see it.
    let slowly = "while :; do head -c 4000000 /dev/zero; sleep 0.05; done";
    let state = desk.exec(json!({ "command": format!("{slowly} > big") })).await;
    assert_eq!(state["error"]["error"], "session_disk_full", "{state}");
    assert_eq!((&state["signal"], &state["timed_out"]), (&json!("SIGKILL"), &json!(false)));
    let message = state["error"]["message"].as_str().unwrap();
    assert!(message.contains("HELMDECK_WORKSPACE_LIMIT"), "{message}");
    // Deleted files that are still open count, and so do programs that no call started.
    desk.run("rm big").await;
    let hidden = format!("exec 3> hidden; rm hidden; {slowly} >&3");
    let state = desk.exec(json!({ "command": hidden })).await;
    assert_eq!(state["error"]["error"], "session_disk_full", "{state}");
    desk.run(&format!("({slowly} > big; touch over) & true")).await;
    let killed = async || desk.log().await.contains("is killed: /workspace holds").then_some(());
    eventually(SOON, killed).await.expect("it is killed");
    desk.run("rm -f big && echo room > file").await;
}

#[tokio::test]
async fn without_a_limit_the_workspace_is_a_part_of_the_home() {
    let server = Server::start_with(&[("HELMDECK_WORKSPACE_LIMIT", "0")]);
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let kind = desk.run("echo kept > file; cat file; stat -f -c %T .").await;
    assert_eq!(kind, "kept\ntmpfs\n");
    assert_eq!(workspaces(&server), [""; 0]);
}
