//! People take control, and hand it back.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn while_a_person_drives_agents_look_on() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    assert_eq!(agent.get(&control).await.expect(200).json()["driver"], "agent");

    let taken = person.post(&format!("{control}/take"), &json!({})).await.expect(200).json();
    assert_eq!((&taken["driver"], &taken["yours"]), (&json!("human"), &json!(true)));
    let tasks = desk.describe().await["tasks"].clone();
    let held = desk.ask("click", json!({ "x": 5, "y": 5 })).await;
    assert_eq!(desk.describe().await["tasks"], tasks, "what is refused is no task");
    held.clone().expect_error(409, "control_held");
    let held = held.json();
    assert_eq!(held["holder"], taken["holder"]);
    assert!(held["hint"].is_string() && held["retry_after"].is_u64(), "{held}");
    desk.ask("clipboard", json!({ "text": "no" })).await.expect_error(409, "control_held");
    // Looking is allowed, and so is what the person does by calls.
    desk.ask("screenshot", json!({})).await.expect(200);
    desk.ask("cursor_position", json!({})).await.expect(200);
    let theirs = Desk { client: &person, id: desk.id.clone() };
    theirs.act("click", json!({ "x": 5, "y": 5 })).await;
    // Only who drives can hand back; another person needs force to take it.
    agent.post(&format!("{control}/release"), &json!({})).await.expect(200);
    assert_eq!(agent.get(&control).await.json()["driver"], "human");
    let other = server.person();
    other.post(&format!("{control}/take"), &json!({})).await.expect_error(409, "control_held");
    // An agent cannot, not even with every scope.
    let force = json!({ "force": true });
    for agent in [&agent, &server.admin()] {
        let refused = agent.post(&format!("{control}/take"), &force).await;
        refused.expect_error(403, "person_required");
    }
    assert_eq!(agent.get(&control).await.json()["by"]["kind"], "human");

    let message = json!({ "message": "logged in for you" });
    person.post(&format!("{control}/release"), &message).await.expect(200);
    let back = agent.get(&control).await.expect(200).json();
    assert_eq!((&back["driver"], &back["message"]), (&json!("agent"), &message["message"]));
    assert_eq!(back["epoch"], 2);
    desk.act("click", json!({ "x": 5, "y": 5 })).await;
}

#[tokio::test]
async fn the_agents_programs_stop_while_a_person_has_control_if_the_session_asks_for_it() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "freeze_on_takeover": true });
    let desk = Desk::create(&agent, &spec).await;
    let theirs = Desk { client: &person, id: desk.id.clone() };
    // One that has left its parent, and starts others all the time.
    let beats =
        "(setsid bash -c 'while :; do date +%s%N > ~/beat; sleep 0.05; done' >/dev/null 2>&1 &)";
    desk.shell(beats).await;
    let beat = async |desk: &Desk<'_>| desk.shell("cat ~/beat").await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    let goes_on = async |desk: &Desk<'_>| {
        let first = beat(desk).await;
        eventually(SOON, async || (beat(desk).await != first).then_some(())).await.is_some()
    };
    assert!(goes_on(&desk).await);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    // The person's own programs run, and windows are managed.
    let first = beat(&theirs).await;
    theirs.act("launch", json!({ "command": "xterm" })).await;
    theirs.focused("XTerm").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(beat(&theirs).await, first, "the agent's program is stopped");
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    assert!(goes_on(&desk).await);
}

#[tokio::test]
async fn an_action_under_way_fails_when_control_is_taken_and_lets_its_keys_go() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    desk.open_field().await;
    desk.act("mouse_down", json!({ "x": 300, "y": 400 })).await;
    let take = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let path = format!("/api/v1/sessions/{}/control/take", desk.id);
        person.post(&path, &json!({})).await.expect(200);
    };
    let hold = desk.ask("hold_key", json!({ "keys": "shift", "seconds": 20 }));
    let ((), answer) = tokio::join!(take, hold);
    answer.clone().expect_error(409, "control_taken");
    assert!(answer.json()["holder"].is_string());
    // Typed by the person: small letters, because shift is up.
    let theirs = Desk { client: &person, id: desk.id.clone() };
    theirs.act("key", json!({ "keys": "a b c" })).await;
    theirs.copy_all().await;
    theirs.expect_clipboard("abc").await;
}

#[tokio::test]
async fn who_drives_and_what_was_done_is_written_down_without_what_was_typed() {
    let server = Server::start();
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

    // Also what a caller did not wait for.
    let body = json!({ "session_id": desk.id, "seconds": 20 });
    client.abandon("/api/v1/desktop/wait", &body, Duration::from_millis(300)).await;
    let left = async || {
        let last = client.get(&path).await.json()["actions"][4].clone();
        (last["outcome"] == "cancelled").then_some(())
    };
    eventually(Duration::from_secs(10), left).await.expect("it is written down");

    // It outlives the session, and others do not see it.
    desk.end().await;
    assert_eq!(client.get(&path).await.json()["actions"].as_array().unwrap().len(), 5);
    let other = server.client("other", "sessions:*");
    assert_eq!(other.get(&path).await.json()["actions"], json!([]));
    let two = client.get(&format!("{path}?limit=2&before={}", actions[3]["seq"])).await.json();
    assert_eq!(two["actions"], json!([actions[1], actions[2]]));
}

#[tokio::test]
async fn control_of_somebody_who_is_gone_comes_back_by_itself() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let tickets = format!("/api/v1/sessions/{}/tickets", desk.id);
    let wanted = json!({ "role": "control", "label": "for Ann" });
    let ticket = client.post(&tickets, &wanted).await.expect(201).json();
    let vnc = format!("/api/v1/sessions/{}/vnc?take=true", desk.id);
    let path = format!("{vnc}&ticket={}", ticket["ticket"].as_str().unwrap());
    // A link holder takes control from an agent, and is known as a link holder.
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    client.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let viewer = helmdeck_testkit::Watcher::open(&server, &path, &[]).await.unwrap();
    let link = json!({ "kind": "link", "subject": "admin", "label": "for Ann" });
    let held = client.get(&control).await.json();
    assert_eq!((&held["driver"], &held["by"]), (&json!("human"), &link));
    let actions = client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.json();
    let last = actions["actions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["action"], &last["by"]), (&json!("take_control"), &link));
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    // The same ticket hands back by how it connects, and takes control again.
    drop(viewer);
    let connect = async |path: &str| {
        let open = async || helmdeck_testkit::Watcher::open(&server, path, &[]).await.ok();
        eventually(Duration::from_secs(10), open).await.expect("the ticket is free again")
    };
    let viewer = connect(&path.replace("take=true", "take=false")).await;
    desk.act("click", json!({ "x": 5, "y": 5 })).await;
    drop(viewer);
    let viewer = connect(&path).await;
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    drop(viewer);
    desk.ask("click", json!({ "x": 5, "y": 5 })).await.expect_error(409, "control_held");
    let back = async || {
        let clicked = desk.ask("click", json!({ "x": 5, "y": 5 })).await;
        (clicked.status == 200).then_some(())
    };
    eventually(Duration::from_secs(30), back).await.expect("control is back");
}
