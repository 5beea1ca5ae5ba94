//! Parts of a session are lost: it reports which, and waiting callers are notified at once.

use std::time::Duration;

use helmdeck_testkit::{
    Desk, eventually,
    fake::{FakeServer, State},
};
use helmdeck_wire::{
    ErrorBody, ErrorCode,
    guest::{Part, Progress, Stage},
};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);

async fn ended(desk: &Desk<'_>) -> Value {
    let over = async || Some(desk.describe().await).filter(|now| now["status"] == "error");
    eventually(SOON, over).await.expect("the session reports its end")
}

#[tokio::test]
async fn a_session_reports_that_its_guest_died() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    server.runtime.guest(&desk.id).die();
    let session = ended(&desk).await;
    assert_eq!(session["end_reason"], "guest_lost", "{session}");
    let gone = async || server.runtime.guests().is_empty().then_some(());
    eventually(SOON, gone).await.expect("nothing is left");
}

#[tokio::test]
async fn a_session_that_loses_a_part_ends_with_that_reason_and_keeps_its_log() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    for (part, reason) in [
        (Part::Display, "display_lost"),
        (Part::Browser, "browser_lost"),
        (Part::Nest, "guest_lost"),
    ] {
        let desk = Desk::desktop(&client).await;
        let guest = server.runtime.guest(&desk.id);
        guest.log("its last words");
        guest.lose(part);
        let session = ended(&desk).await;
        assert_eq!(session["end_reason"], reason, "{session}");
        desk.ask("click", json!({ "x": 1, "y": 1 })).await.expect_error(502, reason);
        assert!(desk.log().await.contains("its last words"));
        assert!(!guest.is_alive(), "its sandbox is stopped");
    }
}

#[tokio::test]
async fn a_running_call_fails_when_the_guest_dies() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let guest = server.runtime.guest(&desk.id);
    guest.hold("wait");
    let dying = async {
        guest.until("wait", State::UnderWay).await;
        guest.die();
    };
    let (_, answer) = tokio::join!(dying, desk.ask("wait", json!({ "seconds": 20 })));
    answer.expect_error(502, "guest_lost");
}

#[tokio::test]
async fn a_refusal_of_the_guest_is_passed_on_with_code_and_message() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let guest = server.runtime.guest(&desk.id);
    let refusal = ErrorBody::new(ErrorCode::CommandNotFound, "\"true\" does not exist");
    guest.refuse("launch", refusal);
    let answer = desk.ask("launch", json!({ "command": "true" })).await;
    assert_eq!(answer.expect_error(404, "command_not_found"), "\"true\" does not exist");
    assert_eq!(desk.describe().await["status"], "running");
}

#[tokio::test]
async fn the_description_shows_a_restarting_browser() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let guest = server.runtime.guest(&desk.id);
    let becomes = async |status: &str| {
        let view = async || Some(desk.describe().await["browser_view"].clone());
        let view = async || view().await.filter(|view| view["status"] == status);
        eventually(SOON, view).await.unwrap_or_else(|| panic!("not {status}"))
    };
    becomes("ready").await;
    guest.report(Progress::BrowserEnded("it crashed".to_owned()));
    let view = becomes("no_browser").await;
    assert!(view["reason"].as_str().unwrap().contains("it crashed"), "{view}");
    guest.report(Progress::BrowserBack);
    becomes("ready").await;
}

#[tokio::test]
async fn a_start_that_fails_names_the_stage_and_leaves_nothing() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    server.runtime.fail_stage(Stage::Desktop, "no window manager");
    let desktop = json!({ "mode": "desktop" });
    let message = client.post("/api/v1/sessions", &desktop).await;
    let message = message.expect_error(500, "create_failed");
    assert!(
        message.contains("stage desktop") && message.contains("no window manager"),
        "{message}"
    );
    assert_eq!(client.get("/api/v1/sessions").await.json()["sessions"], json!([]));
    assert!(server.runtime.guests().is_empty());
}
