//! Leftovers of a server that is killed with its sandboxes and never restarts: the next server on
//! the machine removes them, and nothing else.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use helmdeck_testkit::{Desk, Process, Server, eventually, is_root};
use serde_json::json;

/// The control groups of a server and its sandboxes.
fn groups(server: &Server) -> Vec<PathBuf> {
    let instances = fs::read_dir(server.run_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> =
        instances.map(|name| format!("helmdeck-{}", name.to_string_lossy())).collect();
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), &mut |dir| {
        let ours = |part: &std::ffi::OsStr| names.iter().any(|name| name.as_str() == part);
        if dir.iter().any(ours) {
            found.push(dir.to_owned());
        }
    });
    found
}

fn walk(dir: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            visit(&entry.path());
            walk(&entry.path(), visit);
        }
    }
}

/// Number of user ids that are claimed for this server's sandboxes.
fn claims(server: &Server) -> usize {
    let entries = fs::read_dir("/run/helmdeck-uids").into_iter().flatten().flatten();
    let owners = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    owners.filter(|owner| Path::new(owner).starts_with(server.installation.path())).count()
}

#[tokio::test]
async fn groups_and_user_ids_of_a_dead_server_are_removed_by_the_next() {
    if !is_root() {
        eprintln!("skipped: only a server of root has user ids and groups that others could see");
        return;
    }
    let (mut dead, mut away, alive) = (Server::start(), Server::start(), Server::start());
    let (client, other) = (away.admin(), alive.admin());
    Desk::create(&dead.admin(), &json!({})).await;
    let waiting = Desk::desktop(&client).await.id;
    let living = Desk::desktop(&other).await;
    // One server is gone completely. A sandbox of another one waits for its server.
    dead.kill();
    away.kill();
    for process in Process::in_sandboxes(&dead.run_dir()) {
        process.kill();
    }
    let left = groups(&dead);
    if left.is_empty() {
        eprintln!("skipped: sandboxes have no control groups here");
        return;
    }
    let empty = async || {
        let mut members = left.iter().map(|group| fs::read_to_string(group.join("cgroup.procs")));
        members.all(|members| members.unwrap().is_empty()).then_some(())
    };
    eventually(Duration::from_secs(20), empty).await.expect("all are gone");
    assert_eq!((claims(&dead), claims(&away), claims(&alive)), (1, 1, 1));
    let before = (groups(&away), groups(&alive));

    let _next = Server::start();

    assert_eq!(groups(&dead), [""; 0].map(PathBuf::from));
    assert_eq!((claims(&dead), claims(&away), claims(&alive)), (0, 1, 1));
    assert_eq!((groups(&away), groups(&alive)), before);
    living.act("click", json!({ "x": 300, "y": 300 })).await;
    Desk::desktop(&other).await.end().await;
    away.restart();
    let client = away.admin();
    let back = Desk { client: &client, id: waiting };
    back.act("click", json!({ "x": 300, "y": 300 })).await;
    back.end().await;
    // If it does restart, the removal causes no problems.
    dead.restart();
    Desk::create(&dead.admin(), &json!({})).await.end().await;
    assert_eq!(claims(&dead), 0);
}

#[tokio::test]
#[ignore = "the test below runs it as a separate process, to kill it"]
async fn a_test_that_never_ends() {
    let server = Server::start();
    let client = server.admin();
    let _session = Desk::create(&client, &json!({})).await;
    println!("installation {}", server.installation.path().display());
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_killed_test_leaves_neither_server_nor_sandbox() {
    let mut test = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers::a_test_that_never_ends", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let said = BufReader::new(test.stdout.take().unwrap()).lines().map_while(Result::ok);
    let dir = said.filter_map(|line| Some(line.split_once("installation ")?.1.to_owned())).next();
    let dir = PathBuf::from(dir.expect("the session is there"));
    let run_dir = dir.join("run");
    assert_ne!(Process::in_sandboxes(&run_dir), []);
    let pid = fs::read_to_string(dir.join("data/server.pid")).unwrap();
    let server = Path::new("/proc").join(pid.trim());

    // Like a test runner: kills the whole process group.
    let group = format!("-{}", test.id());
    assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    test.wait().unwrap();

    let gone = async || {
        let left = Process::in_sandboxes(&run_dir).len();
        (left == 0 && !server.join("exe").exists() && !dir.exists()).then_some(())
    };
    eventually(Duration::from_secs(30), gone).await.expect("nothing is left");
}
