//! No process outlives its session, and sessions outlive their server.

use std::{fs, path::Path, time::Duration};

use helmdeck_testkit::{Desk, Installation, Process, Server, eventually, is_root};
use serde_json::json;

/// A killed namespace is gone in milliseconds, but the machine may be busy.
const SOON: Duration = Duration::from_secs(5);

/// A desktop and a headless session, with a program that resists termination.
async fn populate(server: &Server) -> Vec<Process> {
    let client = server.client("agent", "sessions:*");
    let (desk, _headless) = (Desk::desktop(&client).await, Desk::create(&client, &json!({})).await);
    let stubborn = "trap '' TERM HUP INT; (trap '' TERM HUP; setsid sleep 1000 &); sleep 1000";
    desk.act("launch", json!({ "command": "bash", "args": ["-c", stubborn] })).await;
    let look = async || {
        let found = Process::in_sandboxes(&server.run_dir());
        found.iter().any(|process| process.command.contains("sleep 1000")).then_some(found)
    };
    let found = eventually(SOON, look).await.expect("the program runs");
    assert!(found.iter().any(|process| process.command.contains("Xtigervnc")), "{found:#?}");
    assert!(found.len() > 20, "{found:#?}");
    found
}

/// Checks that the processes are gone, with their directories and user ids.
async fn expect_gone(processes: &[Process], installation: &Installation) {
    let gone = async || processes.iter().all(|process| !process.is_alive()).then_some(());
    if eventually(SOON, gone).await.is_none() {
        let left: Vec<_> = processes.iter().filter(|process| process.is_alive()).collect();
        panic!("left running: {left:#?}");
    }
    assert_eq!(installation.sandboxes(), [""; 0]);
    assert_eq!(Process::in_sandboxes(&installation.run_dir()), []);
    assert_eq!(claims(installation), [""; 0]);
    if is_root() {
        let uids: Vec<_> = processes.iter().map(|process| process.uid).collect();
        let others = Process::all().into_iter().filter(|process| uids.contains(&process.uid));
        // Another test may use the same id by now; its sandbox is not ours.
        let ours = others.filter(|process| processes.iter().any(|known| known == process));
        assert_eq!(ours.collect::<Vec<_>>(), []);
    }
}

/// User ids that are still claimed for this installation's sandboxes.
fn claims(installation: &Installation) -> Vec<String> {
    let entries = fs::read_dir("/run/helmdeck-uids").into_iter().flatten().map_while(Result::ok);
    let owners = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    owners.filter(|owner| Path::new(owner).starts_with(installation.path())).collect()
}

#[tokio::test]
async fn deleting_sessions_leaves_no_process_no_directory_and_no_user_id() {
    let server = Server::start();
    let found = populate(&server).await;
    if is_root() {
        assert_eq!(claims(&server.installation).len(), 2);
    }
    let client = server.admin();
    for id in server.installation.sandboxes() {
        client.delete(&format!("/api/v1/sessions/{id}")).await.expect(204);
    }
    expect_gone(&found, &server.installation).await;
}

#[tokio::test]
async fn ctrl_c_ends_the_server_with_its_sessions() {
    let mut server = Server::start();
    let found = populate(&server).await;
    server.stop();
    expect_gone(&found, &server.installation).await;
}

#[tokio::test]
async fn sessions_outlive_a_stopped_server_and_work_with_the_next() {
    let mut server = Server::start();
    let found = populate(&server).await;
    server.leave();
    expect_adopted(&mut server, &found).await;
}

#[tokio::test]
async fn sessions_outlive_a_killed_server_and_work_with_the_next() {
    let mut server = Server::start();
    let found = populate(&server).await;
    server.kill();
    expect_adopted(&mut server, &found).await;
}

#[tokio::test]
async fn without_a_server_a_session_ends_at_its_limit_and_leaves_no_process() {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timeout_seconds": 8 });
    Desk::create(&client, &spec).await;
    let found = Process::in_sandboxes(&server.run_dir());
    server.kill();
    let gone = async || found.iter().all(|process| !process.is_alive()).then_some(());
    if eventually(Duration::from_secs(15), gone).await.is_none() {
        let left: Vec<_> = found.iter().filter(|process| process.is_alive()).collect();
        panic!("left running: {left:#?}");
    }
    server.restart();
    expect_gone(&found, &server.installation).await;
}

/// Starts the next server, which must adopt the sessions, act in them and end them.
async fn expect_adopted(server: &mut Server, found: &[Process]) {
    let before = server.installation.sandboxes();
    assert_eq!(before.len(), 2);
    server.restart();
    let client = server.client("agent", "sessions:*");
    for id in &before {
        let desk = Desk { client: &client, id: id.clone() };
        let session = desk.describe().await;
        assert_eq!((&session["status"], &session["owner"]), (&json!("running"), &json!("agent")));
        if session["mode"] == "desktop" {
            assert_eq!(desk.act("mouse_move", json!({ "x": 3, "y": 4 })).await["ok"], true);
            assert!(
                desk.shell("pgrep -x sleep").await.lines().count() >= 2,
                "its programs keep running"
            );
        }
    }
    let gone: Vec<_> = found.iter().filter(|process| !process.is_alive()).collect();
    assert!(gone.len() < found.len() / 4, "ended meanwhile: {gone:#?}");

    for id in &before {
        client.delete(&format!("/api/v1/sessions/{id}")).await.expect(204);
    }
    expect_gone(found, &server.installation).await;
}

#[tokio::test]
async fn two_servers_on_one_machine_leave_each_others_sessions_alone() {
    let (mut one, two) = (Server::start(), Server::start());
    let (first, second) = (one.admin(), two.admin());
    let (ours, theirs) = (Desk::create(&first, &json!({})).await, Desk::desktop(&second).await);
    let id = ours.id.clone();
    // When it crashes, restarts, or ends all its sessions.
    one.kill();
    one.restart();
    let first = one.admin();
    let ours = Desk { client: &first, id };
    assert_eq!(ours.describe().await["status"], "running");
    first.get(&format!("/api/v1/sessions/{}", theirs.id)).await.expect_error(404, "not_found");
    one.stop();
    assert_eq!(theirs.act("click", json!({ "x": 9, "y": 9 })).await["ok"], true);
    assert_eq!(one.installation.sandboxes(), [""; 0]);
    assert_eq!(two.installation.sandboxes().len(), 1);
}
