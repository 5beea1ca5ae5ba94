//! Who may take control from whom, and its effect on others.

use std::time::Duration;

use helmdeck_testkit::{
    Desk, Watcher, eventually,
    fake::{FakeServer, State},
};
use http::Method;
use serde_json::{Value, json};
use tokio::join;

use crate::{client::TestServer, nowhere::Nowhere};

const SOON: Duration = Duration::from_secs(20);
const HOUR: Duration = Duration::from_secs(3600);

/// A session of the agent, and its path.
async fn session(server: &TestServer) -> String {
    let token = server.token(&["sessions:*"]);
    let made = server.post("/api/v1/sessions?wait=false", &token, "{}").await;
    format!("/api/v1/sessions/{}", made.json()["id"].as_str().unwrap())
}

async fn start() -> TestServer {
    TestServer::start_with(&[], Nowhere { slow: true, ..Nowhere::default() }).await
}

async fn take(
    server: &TestServer,
    session: &str,
    token: &str,
    body: Value,
) -> crate::client::Answer {
    server.post(&format!("{session}/control/take"), token, body).await
}

#[tokio::test]
async fn an_agents_token_cannot_force_control() {
    let server = start().await;
    let session = session(&server).await;
    let (agent, person) = (server.token(&["sessions:*"]), server.person(&["admin"]));
    let taken = take(&server, &session, &person, json!({})).await.json();
    assert_eq!(taken["by"], json!({ "kind": "human", "subject": "ann" }));
    assert_eq!(taken["holder"], "ann");
    for token in [&agent, &server.token(&["admin"])] {
        let refused = take(&server, &session, token, json!({ "force": true })).await;
        let message = refused.assert_error(403, "person_required");
        assert!(message.contains("helmdeck token --human"), "{message}");
        take(&server, &session, token, json!({})).await.assert_error(409, "control_held");
    }
    // The page's cookie makes no difference: only the signed claim counts.
    let cookie = format!("helmdeck-{}={agent}", server.addr.port());
    let path = format!("{session}/control/take");
    let by_cookie = server.request(Method::POST, &path, "").header("cookie", cookie);
    let by_cookie = by_cookie.header("x-helmdeck-csrf", "1");
    let refused = server.send(by_cookie, r#"{"force": true}"#).await;
    refused.assert_error(403, "person_required");
    assert_eq!(server.get(&format!("{session}/control"), &agent).await.json()["holder"], "ann");

    let other = server.person(&["admin"]);
    take(&server, &session, &other, json!({})).await.assert_error(409, "control_held");
    let forced = take(&server, &session, &other, json!({ "force": true })).await;
    assert_eq!(forced.status, 200);
}

#[tokio::test]
async fn a_person_takes_control_from_an_agent_without_force() {
    let server = start().await;
    let session = session(&server).await;
    let agent = server.token(&["sessions:*"]);
    let taken = take(&server, &session, &agent, json!({})).await.json();
    assert_eq!((&taken["by"]["kind"], &taken["yours"]), (&json!("agent"), &json!(true)));
    let taken = take(&server, &session, &server.person(&["admin"]), json!({})).await;
    assert_eq!(taken.json()["by"]["kind"], "human");
    let actions = server.get(&format!("{session}/actions"), &agent).await.json();
    let kinds: Vec<_> =
        actions["actions"].as_array().unwrap().iter().map(|a| a["by"]["kind"].clone()).collect();
    assert_eq!(kinds, ["agent", "human"]);
}

#[tokio::test]
async fn while_a_person_drives_agents_can_only_look() {
    let server = FakeServer::start().await;
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    assert_eq!(agent.get(&control).await.expect(200).json()["driver"], "agent");

    let taken = person.post(&format!("{control}/take"), &json!({})).await.expect(200).json();
    assert_eq!((&taken["driver"], &taken["yours"]), (&json!("human"), &json!(true)));
    let tasks = desk.describe().await["tasks"].clone();
    let held = desk.ask("click", json!({ "x": 5, "y": 5 })).await;
    assert_eq!(desk.describe().await["tasks"], tasks, "refused actions are not tasks");
    held.clone().expect_error(409, "control_held");
    let held = held.json();
    assert_eq!(held["holder"], taken["holder"]);
    assert!(held["hint"].is_string() && held["retry_after_s"].is_u64(), "{held}");
    assert_eq!((&held["retryable"], &held["retry_after"]), (&json!(true), &held["retry_after_s"]));
    desk.ask("clipboard", json!({ "text": "no" })).await.expect_error(409, "control_held");
    let command = format!("/api/v1/sessions/{}/exec/exec-fake", desk.id);
    agent.delete(&command).await.expect_error(409, "control_held");
    person.delete(&command).await.expect(204);
    // Reading is allowed, and so are the person's own calls.
    desk.ask("screenshot", json!({})).await.expect(200);
    desk.ask("cursor_position", json!({})).await.expect(200);
    let theirs = Desk { client: &person, id: desk.id.clone() };
    theirs.act("click", json!({ "x": 5, "y": 5 })).await;
    let asked = server.runtime.guest(&desk.id).asked();
    let hands = |call: &str| {
        let all = asked.iter().filter(|asked| asked.call == call);
        all.map(|asked| asked.hands.clone()).collect::<Vec<_>>()
    };
    assert_eq!((hands("clipboard"), hands("screenshot")), (vec![], vec!["off".to_owned()]));
    assert_eq!(hands("click"), ["person"]);
    // Only the holder can release control. Another person needs force to take it.
    agent.post(&format!("{control}/release"), &json!({})).await.expect(200);
    assert_eq!(agent.get(&control).await.json()["driver"], "human");
    let other = server.person();
    other.post(&format!("{control}/take"), &json!({})).await.expect_error(409, "control_held");

    let message = json!({ "message": "logged in for you" });
    person.post(&format!("{control}/release"), &message).await.expect(200);
    let back = agent.get(&control).await.expect(200).json();
    assert_eq!((&back["driver"], &back["message"]), (&json!("agent"), &message["message"]));
    assert_eq!(back["epoch"], 2);
    desk.act("click", json!({ "x": 5, "y": 5 })).await;
}

#[tokio::test]
async fn a_running_action_fails_when_control_is_taken_and_the_guest_releases_keys() {
    let server = FakeServer::start().await;
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let guest = server.runtime.guest(&desk.id);
    guest.hold("hold_key");
    let take = async {
        guest.until("hold_key", State::UnderWay).await;
        let path = format!("/api/v1/sessions/{}/control/take", desk.id);
        person.post(&path, &json!({})).await.expect(200);
    };
    let hold = desk.ask("hold_key", json!({ "keys": "shift", "seconds": 20 }));
    let ((), answer) = join!(take, hold);
    answer.clone().expect_error(409, "control_taken");
    assert!(answer.json()["holder"].is_string());
    guest.until("hold_key", State::Cancelled).await;
    let told = guest.bodies("release_all");
    assert_eq!(told.iter().map(|told| &told["to_person"]).collect::<Vec<_>>(), [&json!(true)]);
}

#[tokio::test]
async fn actions_and_changes_of_control_are_recorded_without_typed_text() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.act("click", json!({ "x": 11, "y": 22 })).await;
    desk.act("type", json!({ "text": "hunter2" })).await;
    desk.act("key", json!({ "keys": "q" })).await;
    desk.ask("click", json!({ "x": 9000, "y": 1 })).await.expect_error(400, "invalid_coordinates");
    let path = format!("/api/v1/sessions/{}/actions", desk.id);
    let history = client.get(&path).await.expect(200).json();
    let actions = history["actions"].as_array().unwrap();
    let outcomes: Vec<_> = actions.iter().map(|a| (&a["action"], &a["outcome"])).collect();
    assert_eq!(outcomes[0], (&json!("click"), &json!("ok")));
    assert_eq!(outcomes[3], (&json!("click"), &json!("invalid_coordinates")));
    assert_eq!(actions[0]["detail"], json!({ "x": 11, "y": 22, "button": "left" }));
    assert_eq!(actions[1]["detail"], json!({ "characters": 7 }));
    assert_eq!(actions[0]["by"], json!({ "kind": "agent", "subject": "agent" }));
    assert!(!history.to_string().contains("hunter2") && !history.to_string().contains("\"q\""));

    // Also if the caller did not wait.
    let guest = server.runtime.guest(&desk.id);
    guest.hold("wait");
    let body = json!({ "session_id": desk.id, "seconds": 20 });
    let begun = guest.until("wait", State::UnderWay);
    client.abandon("/api/v1/desktop/wait", &body, begun).await;
    let left = async || {
        let last = client.get(&path).await.json()["actions"][4].clone();
        (last["outcome"] == "cancelled").then_some(())
    };
    eventually(SOON, left).await.expect("it is recorded");

    // The record outlives the session, and others cannot see it.
    desk.end().await;
    assert_eq!(client.get(&path).await.json()["actions"].as_array().unwrap().len(), 5);
    let other = server.client("other", "sessions:*");
    other.get(&path).await.expect_error(404, "not_found");
    let two = client.get(&format!("{path}?limit=2&before={}", actions[3]["seq"])).await.json();
    assert_eq!(two["actions"], json!([actions[1], actions[2]]));
}

#[tokio::test]
async fn control_is_released_when_its_holder_is_gone() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 0 });
    let desk = Desk::create(&client, &spec).await;
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let wanted = json!({ "role": "control", "label": "for Ann" });
    let ticket = client.post(&tickets, &wanted).await.expect(201).json();
    let vnc = format!("/api/v1/sessions/{}/vnc?take=true", desk.id);
    let path = format!("{vnc}&ticket={}", ticket["ticket"].as_str().unwrap());
    // A link holder takes control from an agent, and is shown as a link holder.
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    client.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let viewer = Watcher::open(&server, &path, &[]).await.unwrap();
    let link = json!({ "kind": "link", "subject": "admin", "label": "for Ann" });
    let held = client.get(&control).await.json();
    assert_eq!((&held["driver"], &held["by"]), (&json!("human"), &link));
    let actions = client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.json();
    let last = actions["actions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["action"], &last["by"]), (&json!("take_control"), &link));
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    // The same ticket can release and take control by how it connects.
    drop(viewer);
    let connect = async |path: &str| {
        let open = async || Watcher::open(&server, path, &[]).await.ok();
        eventually(SOON, open).await.expect("the ticket is free again")
    };
    let viewer = connect(&path.replace("take=true", "take=false")).await;
    desk.act("click", json!({ "x": 5, "y": 5 })).await;
    drop(viewer);
    let viewer = connect(&path).await;
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    // While it is watched, time does not matter.
    server.clock.advance(HOUR);
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    drop(viewer);
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    let back = async || {
        server.clock.advance(HOUR);
        let clicked = desk.ask("click", json!({ "x": 5, "y": 5 })).await;
        (clicked.status == 200).then_some(())
    };
    eventually(SOON, back).await.expect("control is back");
}

#[tokio::test]
async fn a_private_sign_in_ends_unseen_when_control_is_forced_away_or_expires() {
    let server = FakeServer::start().await;
    let (agent, person, other) =
        (server.client("agent", "sessions:*"), server.person(), server.person());
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 0 });
    let desk = Desk::create(&agent, &spec).await;
    let session = format!("/api/v1/sessions/{}", desk.id);
    let take = format!("{session}/control/take");
    let private = format!("{session}/private-sign-in");
    let is_private = async || desk.describe().await["private_sign_in"].is_object();

    person.post(&take, &json!({})).await.expect(200);
    person.post(&private, &json!({})).await.expect(200);
    assert!(is_private().await);
    other.post(&take, &json!({})).await.expect_error(409, "control_held");
    assert!(is_private().await, "a refused take changes nothing");
    other.post(&take, &json!({ "force": true })).await.expect(200);
    assert!(!is_private().await);

    other.post(&private, &json!({})).await.expect(200);
    let click = json!({ "selector": "button" });
    desk.browser("click", click.clone()).await.expect_error(409, "private");
    let expired = async || {
        server.clock.advance(HOUR);
        (!is_private().await).then_some(())
    };
    eventually(SOON, expired).await.expect("it ends with the lease");
    desk.browser("click", click).await.expect(200);
    // The agent gets the page in neither case.
    let ended = server.runtime.guest(&desk.id).bodies("private/end");
    assert_eq!(ended, [json!({ "keep": false }), json!({ "keep": false })]);
}

#[tokio::test]
async fn while_a_private_sign_in_ends_nobody_else_uses_its_browser() {
    let server = FakeServer::start().await;
    let agent = server.client("agent", "sessions:*");
    let (person, other) = (server.person(), server.person());
    let desk = Desk::create(&agent, &json!({ "idle_timeout_s": 0 })).await;
    let guest = server.runtime.guest(&desk.id);
    let session = format!("/api/v1/sessions/{}", desk.id);
    let control = format!("{session}/control");
    let by_other = Desk { client: &other, id: desk.id.clone() };
    let refused = async || {
        for (action, body) in [
            ("screenshot", json!({})),
            ("snapshot", json!({})),
            ("execute", json!({ "script": "document.title" })),
            ("click", json!({ "selector": "button" })),
        ] {
            for desk in [&desk, &by_other] {
                desk.browser(action, body.clone()).await.expect_error(409, "private");
            }
        }
    };
    let begin = async || {
        person.post(&format!("{control}/take"), &json!({})).await.expect(200);
        person.post(&format!("{session}/private-sign-in"), &json!({})).await.expect(200);
        guest.hold("private/end");
    };
    let release = format!("{control}/release");
    let force = (format!("{control}/take"), json!({ "force": true }));
    for (by, path, body) in [(&person, &release, &json!({})), (&other, &force.0, &force.1)] {
        begin().await;
        let ends = async {
            guest.until("private/end", State::UnderWay).await;
            // Control has changed, and the private browser is still there.
            refused().await;
            guest.release("private/end");
        };
        let (changed, ()) = join!(by.post(path, body), ends);
        changed.expect(200);
        by_other.browser("snapshot", json!({})).await.expect(200);
    }
    let snapshots = guest.asked().into_iter().filter(|asked| asked.call == "browser_snapshot");
    assert_eq!(snapshots.count(), 2, "refused calls do not reach the guest");
}

#[tokio::test]
async fn actions_of_an_unknown_session_are_not_found() {
    let server = FakeServer::start().await;
    let client = server.admin();
    client.get("/api/v1/sessions/sess-none/actions").await.expect_error(404, "not_found");
    let desk = Desk::desktop(&client).await;
    let path = format!("/api/v1/sessions/{}/actions", desk.id);
    assert_eq!(client.get(&path).await.expect(200).json()["actions"], json!([]));
    desk.end().await;
    assert_eq!(client.get(&path).await.expect(200).json()["actions"], json!([]));
}
