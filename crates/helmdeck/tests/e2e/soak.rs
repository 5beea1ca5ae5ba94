//! Many sessions in sequence leave no trace on the machine. `cargo xtask soak` runs more.

use std::time::Duration;

use helmdeck_testkit::{Desk, Footprint, Server, eventually};
use serde_json::json;

#[tokio::test]
async fn a_dozen_sessions_leave_nothing_behind() {
    let server = Server::start();
    let client = server.admin();
    let cycle = async |number: usize| {
        let mode = if number.is_multiple_of(4) { "desktop" } else { "headless" };
        let desk = Desk::create(&client, &json!({ "mode": mode, "geometry": "640x480" })).await;
        if mode == "desktop" {
            desk.act("click", json!({ "x": 5, "y": 5 })).await;
        }
        desk.end().await;
    };
    // The first ones warm up caches and thread pools.
    for number in 0..4 {
        cycle(number).await;
    }
    let before = Footprint::of(&server);
    for number in 0..8 {
        cycle(number).await;
    }
    let flat = async || {
        let now = Footprint::of(&server);
        let same = now.processes == 0
            && now.files == before.files
            && now.descriptors <= before.descriptors + 3
            && now.memory_kb < before.memory_kb + 8 * 1024;
        same.then_some(())
    };
    let found = eventually(Duration::from_secs(10), flat).await;
    assert!(found.is_some(), "before {before:?}, after {:?}", Footprint::of(&server));
}
