//! A greedy session stays within its limits, and its guest and other sessions are not affected.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_the_session_still_acts() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let bomb = json!({ "command": "bash", "args": ["-c", ":(){ :|:& };:"] });
    desk.act("launch", bomb).await;
    // The bomb has reached its limit when no program can be started.
    let full = async || {
        let answer = desk.ask("launch", json!({ "command": "true" })).await;
        (answer.status != 200).then_some(())
    };
    eventually(SOON, full).await.expect("the bomb runs into its limit");
    for _ in 0..5 {
        desk.act("click", json!({ "x": 300, "y": 300 })).await;
        desk.ask("screenshot", json!({})).await.expect(200);
    }
    let resources = desk.describe().await["resources"].clone();
    if let Some(pids) = resources["pids"].as_u64() {
        assert!(pids <= 1024, "{resources}");
    }
    desk.end().await;
}

#[tokio::test]
async fn a_memory_bomb_is_killed_and_the_session_survives_or_reports_why_not() {
    let server = Server::start();
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "memory_limit": "700m" });
    let desk = Desk::create(&client, &spec).await;
    let bomb = "a=x; while :; do a=$a$a; done";
    desk.act("launch", json!({ "command": "bash", "args": ["-c", bomb] })).await;
    let seen = async || {
        let session = desk.describe().await;
        let killed = session["resources"]["out_of_memory"].as_u64().unwrap_or(0) > 0;
        let over = session["end_reason"] == "out_of_memory";
        // Without control groups, the watchdog writes to the log.
        let watched = killed || over || desk.log().await.contains("used too much memory");
        watched.then_some(session)
    };
    let session = eventually(SOON, seen).await.expect("the bomb is stopped");
    if session["status"] == "running" {
        assert_eq!(desk.act("mouse_move", json!({ "x": 1, "y": 1 })).await["ok"], true);
    }
}

#[tokio::test]
async fn a_session_with_full_disks_keeps_working() {
    let server = Server::start();
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "memory_limit": "1g" });
    let desk = Desk::create(&client, &spec).await;
    let fill = "for f in ~/fill /tmp/fill; do head -c 4G /dev/zero 2>&1 >$f; rm $f; done";
    let said = desk.shell(fill).await;
    assert_eq!(said.matches("No space left").count(), 2, "{said}");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
    assert_eq!(desk.describe().await["status"], "running");
}

#[tokio::test]
async fn full_disks_do_not_affect_other_sessions() {
    let server = Server::start();
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "shm_size": "16m" });
    let desk = Desk::create(&client, &spec).await;
    let fill = "head -c 64M /dev/zero 2>&1 >/dev/shm/fill; stat -c %s /dev/shm/fill";
    let said = desk.shell(fill).await;
    assert!(said.contains("No space left") && said.contains("16777216"), "{said}");
    assert_eq!(desk.act("click", json!({ "x": 300, "y": 300 })).await["ok"], true);
}

#[tokio::test]
async fn a_session_reports_its_limits_and_usage() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let resources = desk.describe().await["resources"].clone();
    let by = resources["limits_by"].as_str().expect("a word");
    assert!(["cgroup-v1", "cgroup-v2", "rlimit+watchdog"].contains(&by), "{resources}");
    if by.starts_with("cgroup") {
        assert!(resources["memory_bytes"].as_u64().expect("bytes") > 10 << 20, "{resources}");
        assert!(resources["pids"].as_u64().expect("a number") > 5, "{resources}");
    }
}
