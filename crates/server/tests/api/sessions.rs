//! Creating, listing and ending sessions.

use std::time::Duration;

use helmdeck_testkit::{Desk, eventually, fake::FakeServer};
use helmdeck_wire::guest::{Progress, Stage};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{client::TestServer, nowhere::Nowhere};

const SESSIONS: &str = "/api/v1/sessions";
const SOON: Duration = Duration::from_secs(20);

/// Names of the start stages of a session.
fn stages(session: &Value) -> Vec<&str> {
    let timings = session["timings"].as_array().expect("timings");
    timings.iter().map(|timing| timing["stage"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn there_are_no_sessions_at_first() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    assert_eq!(server.get(SESSIONS, &token).await.json(), json!({"sessions": []}));
    let message =
        server.get("/api/v1/sessions/sess-x", &token).await.assert_error(404, "not_found");
    assert!(message.contains("sess-x"), "{message}");
    server.get("/api/v1/sessions/sess-x/logs", &token).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn ending_an_unknown_session_is_a_404_and_an_ended_one_succeeds() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    server.delete("/api/v1/sessions/sess-x", &token).await.assert_error(404, "not_found");
    let made = server.post("/api/v1/sessions?wait=false", &token, "{}").await.json();
    let path = format!("/api/v1/sessions/{}", made["id"].as_str().unwrap());
    for _ in 0..3 {
        let answer = server.delete(&path, &token).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (204, ""));
    }
    server.delete(&path, &server.person(&["sessions:*"])).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn callers_are_limited_by_the_operator_and_admins_by_the_machine() {
    let env = [("HELMDECK_MAX_MEMORY_LIMIT", "1g"), ("HELMDECK_MAX_CPU_LIMIT", "0.5")];
    let server = TestServer::start_with(&env, Nowhere::default()).await;
    let (caller, admin) = (server.token(&["sessions:*"]), server.token(&["admin"]));
    let ask = async |token: &str, body: &str| {
        server.post(SESSIONS, token, body).await.assert_error(400, "invalid_input")
    };
    let message = ask(&caller, r#"{"memory_limit": "900g"}"#).await;
    assert!(message.starts_with("memory_limit: 900g is too much: at most 1g"), "{message}");
    assert!(ask(&caller, r#"{"cpu_limit": 0.6}"#).await.starts_with("cpu_limit: "));
    assert!(ask(&caller, r#"{"shm_size": "2g"}"#).await.starts_with("shm_size: "));
    let message = ask(&admin, r#"{"memory_limit": "900000g"}"#).await;
    assert!(message.contains("all that this machine has"), "{message}");
}

#[tokio::test]
async fn a_time_zone_or_language_that_does_not_exist_is_refused_at_creation() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    for (body, part) in [
        (r#"{"timezone": "Mars/Olympus"}"#, "timezone: \"Mars/Olympus\""),
        (r#"{"locale": "xx-YY"}"#, "locale: \"xx-YY\""),
    ] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(400, "invalid_input");
        assert!(message.starts_with(part), "{message}");
    }
}

#[tokio::test]
async fn a_bad_create_body_is_refused_by_name() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:write"]);
    for (body, code, part) in [
        ("{", "invalid_json", "not JSON"),
        ("[]", "invalid_json", "an array"),
        (r#"{"lable": "x"}"#, "invalid_input", "unknown field \"lable\""),
        (r#"{"spec": {"lable": "x"}}"#, "invalid_input", "unknown field \"lable\""),
        (r#"{"timeout_seconds": 9, "wallclock_timeout_s": 9}"#, "invalid_input", "choose one"),
        (r#"{"mode": "window"}"#, "invalid_input", "headless or desktop"),
        (r#"{"geometry": "9x9"}"#, "invalid_geometry", "320x200"),
        (r#"{"memory_limit": "lots"}"#, "invalid_input", "512m"),
        (r#"{"timeout_seconds": 0}"#, "invalid_input", "1 to 31536000"),
        (r#"{"wallclock_timeout_s": 0}"#, "invalid_input", "1 to 31536000"),
        (r#"{"cpu_limit": -1}"#, "invalid_input", "0.01 to 1024"),
        (r#"{"timeout_seconds": 31536001}"#, "invalid_input", "1 to 31536000"),
        (r#"{"label": "a\nb"}"#, "invalid_input", "200 printable characters"),
        (r#"{"env": {"A": 1}}"#, "invalid_input", "env.A"),
        (r#"{"env": {"a-b": "c"}}"#, "invalid_input", "expected names of variables"),
        (r#"{"env": {"A": "\u0000"}}"#, "invalid_input", "text without NUL"),
        (r#"{"extensions": ["a", "a"]}"#, "invalid_input", "each item once"),
    ] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(400, code);
        assert!(message.contains(part), "{body}: {message}");
    }
    for (body, field, part) in [
        (r#"{"spec": 5}"#, "spec", "spec is a number"),
        (r#"{"label": "a", "spec": {"label": "b"}}"#, "label", "label is given both"),
    ] {
        let answer = server.post(SESSIONS, &token, body).await;
        assert_eq!(answer.json()["field"], field, "{}", answer.text());
        assert!(answer.assert_error(400, "invalid_input").contains(part));
    }
}

#[tokio::test]
async fn a_bad_query_is_refused() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    let path = "/api/v1/sessions?wait=maybe";
    let message = server.post(path, &token, "{}").await.assert_error(400, "invalid_input");
    assert!(message.contains("wait"), "{message}");
    let path = "/api/v1/sessions?wiat=false";
    let message = server.post(path, &token, "{}").await.assert_error(400, "invalid_input");
    assert!(message.contains("wiat"), "{message}");
    let path = "/api/v1/sessions/s/logs?tail=all";
    server.get(path, &token).await.assert_error(400, "invalid_input");
    // The same for both kinds of live views.
    for (query, part) in [
        ("take=maybe", "true or false"),
        ("role=boss", "expected view or control"),
        ("tkae=1", "tkae"),
    ] {
        for what in ["vnc", "cdp-stream"] {
            let path = format!("/api/v1/sessions/s/{what}?{query}");
            let message = server.get(&path, &token).await.assert_error(400, "invalid_input");
            assert!(message.contains(part), "{path}: {message}");
        }
    }
    let path = "/api/v1/sessions/s/cdp-stream?role=view&take=false&quality=70&ack=true";
    server.get(path, &token).await.assert_error(404, "not_found");
}

#[tokio::test]
async fn an_ended_session_reports_why_and_when_even_after_it_is_gone() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    let created = server.post("/api/v1/sessions?wait=false", &token, "{}").await.json();
    let path = format!("{SESSIONS}/{}", created["id"].as_str().unwrap());
    let shown = loop {
        let shown = server.get(&path, &token).await.json();
        if shown["status"] == "error" {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(shown["end_reason"], "start_failed");
    assert!(shown["ended_at"].as_str() >= shown["created_at"].as_str(), "{shown}");
    let how = |body: serde_json::Value| {
        ["error", "end_reason", "ended_at"].map(|field| body[field].clone())
    };
    let action = json!({ "session_id": shown["id"], "url": "about:blank" });
    let refused = server.post("/api/v1/browser/navigate", &token, action).await.json();
    assert_eq!(
        how(refused),
        [json!("create_failed"), json!("start_failed"), shown["ended_at"].clone()]
    );

    server.delete(&path, &token).await;
    let gone = server.get(&path, &token).await;
    assert_eq!(gone.status, 404);
    assert_eq!(
        how(gone.json()),
        [json!("not_found"), json!("start_failed"), shown["ended_at"].clone()]
    );
    let unknown = server.get("/api/v1/sessions/sess-x", &token).await.json();
    assert_eq!(how(unknown), [json!("not_found"), json!(null), json!(null)]);
}

#[tokio::test]
async fn a_session_that_cannot_start_reports_why_and_leaves_nothing() {
    let server = TestServer::start().await;
    let token = server.token(&["sessions:*"]);
    for body in ["", "{}", r#"{"spec": {"env": {"HELMDECK_MODE": "desktop"}}}"#] {
        let message = server.post(SESSIONS, &token, body).await.assert_error(500, "create_failed");
        assert!(message.contains("there is nowhere to start it"), "{message}");
    }
    assert_eq!(server.get(SESSIONS, &token).await.json(), json!({"sessions": []}));
}

#[tokio::test]
async fn a_flat_body_works_too_and_headless_is_the_default() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let body = json!({ "label": "crawler", "timeout_seconds": 600, "idle_timeout_s": 0,
                       "memory_limit": "1g", "shm_size": "512m", "cpu_limit": 1.5 });
    let session = client.post(SESSIONS, &body).await.expect(201).json();
    assert_eq!(session["status"], "running");
    assert_eq!(session["mode"], "headless");
    assert_eq!(session["spec"]["label"], "crawler");
    assert_eq!(session["spec"]["memory_limit"], "1g");
    assert_eq!(session["spec"]["shm_size"], "512m");
    assert_eq!(stages(&session), ["sandbox", "browser"]);

    let empty = client.send("POST".parse().unwrap(), SESSIONS, &[], "".into()).await;
    assert_eq!(empty.expect(201).json()["mode"], "headless");
}

#[tokio::test]
async fn an_invalid_spec_is_refused_by_field() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let env = |name: &str, value: &str| json!({ "env": { name: value } });
    for (body, code, named) in [
        (json!({ "moed": "desktop" }), "invalid_input", "moed"),
        (json!({ "spec": { "geometri": "800x600" } }), "invalid_input", "geometri"),
        (json!({ "label": "a", "spec": { "label": "a" } }), "invalid_input", "label"),
        (json!({ "timeout_seconds": 5, "wallclock_timeout_s": 5 }), "invalid_input", "wallclock"),
        (json!({ "spec": "desktop" }), "invalid_input", "spec"),
        (json!({ "mode": "window" }), "invalid_input", "mode"),
        (env("HELMDECK_MODE", "window"), "invalid_input", "HELMDECK_MODE"),
        (json!({ "geometry": "100x100" }), "invalid_geometry", "320x200"),
        (json!({ "geometry": "wide" }), "invalid_geometry", "geometry"),
        (env("HELMDECK_DISPLAY_GEOMETRY", "9999x9999"), "invalid_input", "320x200"),
        (json!({ "memory_limit": "plenty" }), "invalid_input", "memory_limit"),
        (json!({ "cpu_limit": 0 }), "invalid_input", "cpu_limit"),
        (json!({ "timeout_seconds": 0 }), "invalid_input", "timeout_seconds"),
        (json!({ "timezone": "../etc" }), "invalid_input", "timezone"),
        (env("A=B", "x"), "invalid_input", "A=B"),
    ] {
        let message = client.post(SESSIONS, &body).await.expect_error(400, code);
        assert!(message.contains(named), "{body}: {message}");
    }
    let both = json!({ "mode": "headless", "env": { "HELMDECK_MODE": "desktop" } });
    client.post(SESSIONS, &both).await.expect_error(400, "invalid_input");
    assert_eq!(client.get(SESSIONS).await.expect(200).json()["sessions"], json!([]));
    assert!(server.runtime.guests().is_empty());
}

#[tokio::test]
async fn without_wait_the_reply_is_immediate_and_the_session_can_be_polled() {
    let server = FakeServer::start().await;
    server.runtime.never_ready();
    let client = server.client("agent", "sessions:*");
    let body = json!({ "mode": "desktop", "geometry": "800x600" });
    let session = client.post("/api/v1/sessions?wait=false", &body).await.expect(201).json();
    assert_eq!(session["status"], "starting");
    let desk = Desk { client: &client, id: session["id"].as_str().unwrap().to_owned() };
    desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.expect_error(409, "session_starting");

    let guest = eventually(SOON, async || server.runtime.guests().pop()).await.expect("a guest");
    let all = [Stage::Sandbox, Stage::Display, Stage::Desktop, Stage::Browser];
    all.into_iter().for_each(|stage| guest.report(Progress::Done(stage)));
    let shown = async || (stages(&desk.describe().await).len() == 4).then_some(());
    eventually(SOON, shown).await.expect("its stages are shown while it starts");
    assert_eq!(desk.describe().await["status"], "starting");
    guest.report(Progress::Ready);
    let running = async || Some(desk.describe().await).filter(|now| now["status"] != "starting");
    let session = eventually(SOON, running).await.expect("it starts");
    assert_eq!(session["status"], "running");
    assert_eq!(stages(&session), ["sandbox", "display", "desktop", "browser"]);
    desk.act("mouse_move", json!({ "x": 1, "y": 1 })).await;
}

#[tokio::test]
async fn sessions_are_listed_oldest_first_until_they_are_deleted() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let older = Desk::create(&client, &json!({ "label": "older" })).await;
    let newer = Desk::create(&client, &json!({ "label": "newer" })).await;
    let labels = async || {
        let list = client.get(SESSIONS).await.expect(200).json();
        let sessions = list["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|s| s["spec"]["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(labels().await, ["older", "newer"]);

    older.end().await;
    older.end().await;
    assert_eq!(labels().await, ["newer"]);
    client.get(&format!("{SESSIONS}/{}", older.id)).await.expect_error(404, "not_found");
    let guests = server.runtime.guests();
    assert_eq!(guests.iter().map(|guest| guest.id()).collect::<Vec<_>>(), [newer.id]);
}

#[tokio::test]
async fn a_full_server_refuses_sessions_until_one_ends() {
    let server = FakeServer::start_with(&[("HELMDECK_MAX_SESSIONS", "1")]).await;
    let client = server.client("agent", "sessions:*");
    let first = Desk::create(&client, &json!({})).await;
    let message = client.post(SESSIONS, &json!({})).await.expect_error(503, "capacity_reached");
    assert!(message.contains('1') && message.contains("end one"), "{message}");
    first.end().await;
    client.post(SESSIONS, &json!({})).await.expect(201);
}

#[tokio::test]
async fn one_caller_cannot_use_all_sessions() {
    let server = FakeServer::start_with(&[("HELMDECK_MAX_SESSIONS_PER_CALLER", "1")]).await;
    let (one, two) = (server.client("one", "sessions:*"), server.client("two", "sessions:*"));
    let desk = Desk::create(&one, &json!({})).await;
    let refused = one.post(SESSIONS, &json!({})).await;
    assert!(refused.expect_error(429, "quota_reached").contains("limit of 1 sessions"));
    Desk::create(&two, &json!({})).await;
    desk.end().await;
    Desk::create(&one, &json!({})).await;
}

#[tokio::test]
async fn one_caller_cannot_use_all_memory() {
    let server = FakeServer::start_with(&[("HELMDECK_MAX_MEMORY_PER_CALLER", "1g")]).await;
    let (one, two) = (server.client("one", "sessions:*"), server.client("two", "sessions:*"));
    let wanted = json!({ "memory_limit": "600m" });
    let desk = Desk::create(&one, &wanted).await;
    let message = one.post(SESSIONS, &wanted).await.expect_error(429, "quota_reached");
    assert!(message.contains("600m of at most 1g"), "{message}");
    // Others have their own limit, and an admin has none.
    Desk::create(&two, &wanted).await;
    let admin = server.admin();
    Desk::create(&admin, &wanted).await;
    Desk::create(&admin, &wanted).await;
    desk.end().await;
    Desk::create(&one, &wanted).await;
}

#[tokio::test]
async fn sessions_created_at_once_are_counted_once_each() {
    let server = FakeServer::start_with(&[("HELMDECK_MAX_SESSIONS", "2")]).await;
    let mut creations = JoinSet::new();
    for _ in 0..5 {
        let client = server.client("agent", "sessions:*");
        creations.spawn(async move { client.post(SESSIONS, &json!({})).await.status });
    }
    let mut statuses = creations.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 503, 503, 503]);
    let list = server.client("agent", "sessions:*").get(SESSIONS).await.json();
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(2), "{list}");
    let running = |session: &Value| session["status"] == "running";
    assert!(list["sessions"].as_array().unwrap().iter().all(running), "{list}");
}

#[tokio::test]
async fn environment_values_reach_the_guest_but_no_reply() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let secret = "correct horse; $(battery) 'staple'";
    let env = json!({ "HELMDECK_MODE": "desktop", "HELMDECK_DISPLAY_GEOMETRY": "800x600",
                      "NAME": secret, "HELMDECK_NOTE": "shown" });
    let created = client.post(SESSIONS, &json!({ "spec": { "env": env } })).await.expect(201);
    let session = created.json();
    let desk = Desk { client: &client, id: session["id"].as_str().unwrap().to_owned() };
    assert_eq!(session["spec"]["geometry"], "800x600");
    assert_eq!(session["spec"]["env"]["HELMDECK_NOTE"], "shown");
    assert!(session["spec"]["env"].get("NAME").is_some(), "the name is shown, its value is not");
    let list = client.get(SESSIONS).await.text();
    for reply in [created.text(), desk.describe().await.to_string(), list, desk.log().await] {
        assert!(!reply.contains("battery"), "{reply}");
    }
    let begin = server.runtime.guest(&desk.id).begun_with().unwrap();
    assert_eq!(begin.env.get("NAME").map(String::as_str), Some(secret));
}

#[tokio::test]
async fn the_end_of_a_log_can_be_asked_for() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    let guest = server.runtime.guest(&desk.id);
    ["one", "two", "three"].iter().for_each(|line| guest.log(line));
    let path = format!("{SESSIONS}/{}/logs?tail=2", desk.id);
    assert_eq!(client.get(&path).await.expect(200).text().trim_end(), "two\nthree");
    client.get(&path.replace("tail", "tale")).await.expect_error(400, "invalid_input");
}
