//! The machine's clock is set while no server runs: a session's limits are counted in time that
//! passed, not in what the clock says.
//!
//! The clock of the machine is not ours to set, so it is the moment of creation that is moved in
//! what the runtime remembers; to the server that starts next, this is the same.

use std::{fs, path::PathBuf, time::Duration};

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(30);

/// Moves the moment at which a session was created, as its labels tell it, to another year.
fn created_in(server: &Server, id: &str, year: &str) {
    let instances = fs::read_dir(server.run_dir()).unwrap().map(|entry| entry.unwrap().path());
    let mut files = instances.map(|dir| dir.join("sandboxes").join(id).join("labels"));
    let path: PathBuf = files.find(|file| file.exists()).expect("the session has labels");
    let mut labels: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut record: Value =
        serde_json::from_str(labels["helmdeck.session"].as_str().unwrap()).unwrap();
    let created_at = record["created_at"].as_str().unwrap();
    record["created_at"] = format!("{year}{}", &created_at[4..]).into();
    labels["helmdeck.session"] = record.to_string().into();
    fs::write(path, labels.to_string()).unwrap();
}

#[tokio::test]
async fn a_clock_that_was_set_forward_ends_no_session() {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600",
        "timeout_seconds": 3600, "idle_timeout_s": 1800 });
    let id = Desk::create(&client, &spec).await.id;
    server.kill();
    created_in(&server, &id, "2001");
    server.restart();
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
}

#[tokio::test]
async fn a_clock_that_was_set_back_gives_no_session_more_time() {
    let mut server = Server::start();
    let client = server.client("agent", "sessions:*");
    let seconds = 20;
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timeout_seconds": seconds });
    let created = std::time::Instant::now();
    let id = Desk::create(&client, &spec).await.id;
    server.kill();
    created_in(&server, &id, "2999");
    // Half of its time passes without a server; one that began to count anew would add that.
    let half = Duration::from_secs(seconds / 2);
    tokio::time::sleep(half.saturating_sub(created.elapsed())).await;
    server.restart();
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    let session = eventually(SOON, over).await.expect("it ends");
    assert_eq!(session["end_reason"], "wall_clock", "{session}");
    let lived = created.elapsed();
    let limit = Duration::from_secs(seconds);
    // Time without a server is counted in whole seconds.
    let early = limit - Duration::from_secs(2);
    assert!(lived > early && lived < limit + half - Duration::from_secs(2), "{lived:?}");
}
