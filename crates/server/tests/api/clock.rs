//! The machine's clock changes while no server runs: limits of sessions count elapsed time.
//!
//! A test cannot set the machine's clock, so it changes the creation time in the runtime's record.
//! To the next server, this is equivalent.

use std::time::Duration;

use helmdeck_testkit::{Desk, eventually, fake::FakeServer};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);
const MINUTE: Duration = Duration::from_secs(60);

/// Changes a session's record in its sandbox.
fn change_record(server: &FakeServer, id: &str, change: impl FnOnce(&mut Value)) {
    server.runtime.change_label(id, "helmdeck.session", |record| {
        let mut record: Value = serde_json::from_str(record).unwrap();
        change(&mut record);
        record.to_string()
    });
}

/// Moves the creation time of a session to another year.
fn created_in(record: &mut Value, year: &str) {
    let created_at = record["created_at"].as_str().unwrap();
    record["created_at"] = format!("{year}{}", &created_at[4..]).into();
}

#[tokio::test]
async fn a_clock_set_forward_ends_no_session() {
    let mut server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600",
        "timeout_seconds": 3600, "idle_timeout_s": 7200 });
    let id = Desk::create(&client, &spec).await.id;
    server.kill().await;
    change_record(&server, &id, |record| created_in(record, "2001"));
    server.restart().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
    // Its limit still counts from its creation.
    server.clock.advance(59 * MINUTE);
    desk.act("click", json!({ "x": 300, "y": 300 })).await;
    server.clock.advance(2 * MINUTE);
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    let session = eventually(SOON, over).await.expect("it ends");
    assert_eq!(session["end_reason"], "wall_clock", "{session}");
}

#[tokio::test]
async fn a_clock_set_back_gives_no_session_more_time() {
    let mut server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "timeout_seconds": 1200 });
    let id = Desk::create(&client, &spec).await.id;
    server.kill().await;
    // Half of its time passes without a server, while the clock is set back by centuries. Less if the
    // machine was started only now.
    let mut without_server = 600;
    change_record(&server, &id, |record| {
        created_in(record, "2999");
        let uptime = record["created_uptime_s"].as_u64().unwrap();
        without_server = without_server.min(uptime);
        record["created_uptime_s"] = (uptime - without_server).into();
    });
    server.restart().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk { client: &client, id };
    server.clock.advance(Duration::from_secs(1200 - without_server) - MINUTE);
    let session = desk.describe().await;
    assert_eq!(session["status"], "running", "{session}");
    server.clock.advance(2 * MINUTE);
    let over = async || Some(desk.describe().await).filter(|now| now["status"] != "running");
    let session = eventually(SOON, over).await.expect("it ends");
    assert_eq!(session["end_reason"], "wall_clock", "{session}");
}
