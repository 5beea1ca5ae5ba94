//! Taking and releasing control.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn freeze_on_takeover_stops_the_agents_programs_while_a_person_has_control() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "freeze_on_takeover": true });
    let desk = Desk::create(&agent, &spec).await;
    let theirs = Desk { client: &person, id: desk.id.clone() };
    // A program that has left its parent and keeps starting others.
    let beats =
        "(setsid bash -c 'while :; do date +%s%N > ~/beat; sleep 0.05; done' >/dev/null 2>&1 &)";
    desk.shell(beats).await;
    // A service that the session bus starts, which resumes what is stopped.
    let service = "mkdir -p ~/.local/share/dbus-1/services
        printf '#!/bin/bash\\nwhile :; do date +%%s%%N >~/pulse; kill -CONT -1; sleep 0.05; done\\n' \
            >~/pulse.sh
        chmod +x ~/pulse.sh
        printf '[D-BUS Service]\\nName=org.helmdeck.Pulse\\nExec=/home/agent/pulse.sh\\n' \
            >~/.local/share/dbus-1/services/org.helmdeck.Pulse.service
        dbus-send --session --type=method_call --dest=org.freedesktop.DBus / \
            org.freedesktop.DBus.StartServiceByName string:org.helmdeck.Pulse uint32:0
        for i in $(seq 100); do [ -s ~/pulse ] && echo runs && break; sleep 0.05; done";
    assert!(desk.shell(service).await.contains("runs"), "the bus started no service");
    let beat = async |desk: &Desk<'_>| desk.shell("cat ~/beat ~/pulse").await;
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
    let states = theirs.shell("ps -eo stat=,args= | grep '[%]s[%]N'").await;
    assert!(!states.is_empty() && states.lines().all(|line| line.starts_with('T')), "{states}");
    assert_eq!(beat(&theirs).await, first, "the agent's programs are stopped");
    // The person's programs wait for these.
    let helpers = "ps -C dbus-daemon,xfconfd,at-spi-bus-laun,at-spi2-registr -o stat=,comm=";
    let helpers = theirs.shell(helpers).await;
    assert!(helpers.contains("dbus-daemon") && helpers.contains("xfconfd"), "{helpers}");
    assert!(!helpers.lines().any(|line| line.starts_with('T')), "{helpers}");
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    assert!(goes_on(&desk).await);
}

#[tokio::test]
async fn an_agents_token_cannot_force_control() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::create(&agent, &json!({ "mode": "headless" })).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    // Scopes make no difference: `helmdeck token` makes an agent's token without `--human`.
    for token in [&agent, &server.admin()] {
        let forced = token.post(&format!("{control}/take"), &json!({ "force": true })).await;
        forced.expect_error(403, "person_required");
    }
    assert_eq!(agent.get(&control).await.expect(200).json()["driver"], "human");
    let press = desk.browser("press", json!({ "keys": "a" })).await;
    press.expect_error(409, "control_held");
}

#[tokio::test]
async fn a_running_action_fails_and_releases_its_keys_when_control_is_taken() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    desk.open_key_field().await;
    desk.act("mouse_down", json!({ "x": 300, "y": 400 })).await;
    let take = async {
        desk.titled("down Shift").await;
        let path = format!("/api/v1/sessions/{}/control/take", desk.id);
        person.post(&path, &json!({})).await.expect(200);
    };
    let hold = desk.ask("hold_key", json!({ "keys": "shift", "seconds": 20 }));
    let ((), answer) = tokio::join!(take, hold);
    answer.clone().expect_error(409, "control_taken");
    assert!(answer.json()["holder"].is_string());
    // The person types lower case letters, because shift is released.
    let theirs = Desk { client: &person, id: desk.id.clone() };
    theirs.act("key", json!({ "keys": "a b c" })).await;
    theirs.copy_all().await;
    theirs.expect_clipboard("abc").await;
}
