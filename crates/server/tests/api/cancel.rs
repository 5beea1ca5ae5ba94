//! Clients that disconnect during a request.

use std::time::Duration;

use helmdeck_testkit::{
    Desk, eventually,
    fake::{FakeServer, State},
};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn an_action_is_cancelled_in_the_guest_when_its_client_disconnects() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let guest = server.runtime.guest(&desk.id);
    guest.hold("hold_key");
    let hold = json!({ "session_id": desk.id, "keys": "shift", "seconds": 20 });
    let begun = guest.until("hold_key", State::UnderWay);
    client.abandon("/api/v1/desktop/hold_key", &hold, begun).await;
    guest.until("hold_key", State::Cancelled).await;
    // The session is not blocked.
    desk.act("key", json!({ "keys": "b" })).await;
}

#[tokio::test]
async fn a_session_is_ended_when_its_creator_disconnects_during_the_start() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    server.runtime.never_ready();
    let spec = json!({ "mode": "desktop", "geometry": "800x600" });
    let starting = async {
        let begun = async || server.runtime.guests().first()?.begun_with().map(drop);
        eventually(SOON, begun).await.expect("it starts");
    };
    client.abandon("/api/v1/sessions", &spec, starting).await;
    let none = async || {
        let list = client.get("/api/v1/sessions").await.expect(200).json();
        let sessions = list["sessions"].as_array().unwrap().clone();
        let alive = |status: &str| status == "starting" || status == "running";
        let over = !sessions.iter().any(|session| alive(session["status"].as_str().unwrap()));
        (over && server.runtime.guests().is_empty()).then_some(())
    };
    eventually(SOON, none).await.expect("the session is ended");
}
