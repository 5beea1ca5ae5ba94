//! Jobs: handles, results, cancellation and restarts, with fake guests.

use std::time::Duration;

use helmdeck_store::Store;
use helmdeck_testkit::{Listener, eventually, fake::FakeServer};
use helmdeck_wire::job::JobId;
use serde_json::json;
use sqlx::{Connection, SqliteConnection};

use crate::packs::{echo, headless, run, sleep};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_handle_is_returned_at_once_and_the_result_can_be_read_again() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut input = echo(&session);
    input["wait_s"] = json!(0);
    let job = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
    let path = format!("/api/v1/jobs/{}?wait_s=20", job["job_id"].as_str().unwrap());
    for _ in 0..2 {
        let job = ann.get(&path).await.expect(200).json();
        assert_eq!((&job["state"], &job["output"]["exit_code"]), (&json!("completed"), &json!(0)));
    }
    let bob = server.client("bob", "sessions:*");
    bob.get(&path).await.expect_error(404, "unknown_job");
    assert_eq!(bob.get("/api/v1/jobs").await.expect(200).json()["count"], 0);
    assert_eq!(server.admin().get("/api/v1/jobs").await.expect(200).json()["count"], 1);
}

#[tokio::test]
async fn a_call_waits_for_45_seconds_and_then_returns_a_handle() {
    let server = FakeServer::start().await;
    let (ann, watching) = (server.client("ann", "sessions:*"), server.client("ann", "sessions:*"));
    let session = headless(&ann).await;
    let input = sleep(&session);
    let mut call = Box::pin(ann.post("/api/v1/packs/cmd.run", &input));
    let began = async || {
        let list = watching.get("/api/v1/jobs?state=working").await.expect(200).json();
        list["jobs"][0]["started_at"].as_str().map(str::to_owned)
    };
    tokio::select! {
        _ = &mut call => panic!("the call waits"),
        began = eventually(SOON, began) => drop(began.expect("it begins")),
    }
    server.clock.advance(Duration::from_secs(40));
    tokio::select! {
        _ = &mut call => panic!("40 seconds are not enough"),
        () = tokio::time::sleep(Duration::from_millis(300)) => {}
    }
    server.clock.advance(Duration::from_secs(5));
    let job = call.await.expect(202).json();
    assert_eq!(job["state"], "working", "{job}");
    // The handle is that of the job, which goes on.
    let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
    assert_eq!(watching.get(&path).await.expect(200).json()["state"], "working");
    assert_eq!(watching.delete(&path).await.expect(200).json()["state"], "cancelled");
}

#[tokio::test]
async fn a_job_that_works_has_no_result_and_can_be_cancelled() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let start = json!({ "pack": "cmd.run", "input": sleep(&session) });
    let job = ann.post("/api/v1/tools/pack.start", &start).await.expect(202).json();
    let id = job["job_id"].as_str().unwrap();
    let which = json!({ "job_id": format!("pack_{id}") });
    ann.post("/api/v1/tools/pack.result", &which).await.expect_error(409, "not_ready");
    let which = json!({ "task_id": which["job_id"] });
    let status = ann.post("/api/v1/tools/pack.status", &which).await.expect(200).json();
    assert_eq!(status["state"], "working");
    let path = format!("/api/v1/jobs/{id}");
    assert_eq!(ann.delete(&path).await.expect(200).json()["state"], "cancelled");
    assert_eq!(ann.delete(&path).await.expect(200).json()["state"], "cancelled");
    ann.post("/api/v1/tools/pack.result", &which).await.expect_error(409, "cancelled");
}

#[tokio::test]
async fn a_cancelled_job_in_a_named_session_ends_after_its_programs_are_dead() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let guest = server.runtime.guest(&session);
    guest.hold("kill_exec");
    let mut input = sleep(&session);
    input["wait_s"] = json!(0);
    let job = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
    let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
    let runs = async || (!guest.started().is_empty()).then_some(());
    eventually(SOON, runs).await.expect("it runs");
    let watching = server.client("ann", "sessions:*");
    let mut cancelling = Box::pin(ann.delete(&path));
    tokio::select! {
        _ = &mut cancelling => panic!("its program is not dead"),
        () = tokio::time::sleep(Duration::from_millis(300)) => {}
    }
    assert_eq!(watching.get(&path).await.expect(200).json()["state"], "working");
    guest.release("kill_exec");
    assert_eq!(cancelling.await.expect(200).json()["state"], "cancelled");
}

#[tokio::test]
async fn a_job_that_runs_again_is_a_new_one_whose_input_is_checked_again() {
    let mut server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let job = run(&server.client("ann", "sessions:*"), "cmd.run", &echo(&session)).await;
    let id = job["job_id"].as_str().unwrap().to_owned();
    let rerun = format!("/api/v1/jobs/{id}/rerun");
    {
        let ann = server.client("ann", "sessions:*");
        let again = ann.post(&rerun, &json!({})).await.expect(202).json();
        assert_ne!(again["job_id"], job["job_id"]);
        let path = format!("/api/v1/jobs/{}?wait_s=20", again["job_id"].as_str().unwrap());
        assert_eq!(ann.get(&path).await.expect(200).json()["output"]["exit_code"], 0);
    }
    // An input that an earlier version of the pack accepted.
    server.kill().await;
    let store = Store::open(&server.data_dir()).await.unwrap();
    let mut stored = store.job(&JobId::new(id.as_str())).await.unwrap().unwrap();
    stored.id = JobId::from_random([7; 12]);
    stored.input["command"] = json!({ "wrong": [] });
    assert!(store.add_job(&stored, None).await.unwrap().is_none());
    store.close().await;
    server.restart().await;
    let ann = server.client("ann", "sessions:*");
    let answer = ann.post(&format!("/api/v1/jobs/{}/rerun", stored.id), &json!({})).await;
    assert_eq!(answer.json()["field"], "command");
    answer.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn an_idempotency_key_runs_a_call_once() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut input = echo(&session);
    input["idempotency_key"] = json!("k1");
    let first = run(&ann, "cmd.run", &input).await["job_id"].clone();
    assert_eq!(run(&ann, "cmd.run", &input).await["job_id"], first);
    input["command"] = json!(["echo", "y"]);
    let answer = ann.post("/api/v1/packs/cmd.run", &input).await;
    assert_eq!(answer.json()["field"], "idempotency_key");
    answer.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn after_a_kill_of_the_server_a_job_that_may_not_run_twice_fails_with_a_reason() {
    let mut server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let mut ids = Vec::new();
    {
        let ann = server.client("ann", "sessions:*");
        let mut input = sleep(&session);
        input["wait_s"] = json!(0);
        for _ in 0..2 {
            let job = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
            ids.push(job["job_id"].as_str().unwrap().to_owned());
        }
        for id in &ids {
            let began = async || {
                let job = ann.get(&format!("/api/v1/jobs/{id}")).await.expect(200).json();
                (!job["started_at"].is_null()).then_some(())
            };
            eventually(SOON, began).await.expect("it begins");
        }
    }
    server.kill().await;
    server.restart().await;
    let ann = server.client("ann", "sessions:*");
    for id in ids {
        let job = ann.get(&format!("/api/v1/jobs/{id}")).await.expect(200).json();
        assert_eq!(job["state"], "failed", "{job}");
        assert!(job["error"]["message"].as_str().unwrap().contains("the server stopped"), "{job}");
    }
}

#[tokio::test]
async fn a_file_is_not_written_again_after_a_kill_of_the_server() {
    let mut server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let guest = server.runtime.guest(&session);
    guest.hold("exec");
    let input = json!({
        "_session_id": session, "clone_path": "/workspace/app", "path": "a", "content": "x", "wait_s": 0,
    });
    let path = {
        let ann = server.client("ann", "sessions:*");
        let job = ann.post("/api/v1/packs/fs.write", &input).await.expect(202).json();
        let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
        let began = async || {
            let job = ann.get(&path).await.expect(200).json();
            (!job["started_at"].is_null()).then_some(())
        };
        eventually(SOON, began).await.expect("it begins");
        path
    };
    server.kill().await;
    server.restart().await;
    // The file may have been changed since by others.
    let job = server.client("ann", "sessions:*").get(&path).await.expect(200).json();
    assert_eq!(job["state"], "failed", "{job}");
    assert!(job["error"]["message"].as_str().unwrap().contains("the server stopped"), "{job}");
}

#[tokio::test]
async fn a_job_is_followed_as_events_until_it_ends() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let job = run(&ann, "cmd.run", &echo(&session)).await;
    let path = format!("/api/v1/jobs/{}/events", job["job_id"].as_str().unwrap());
    let events = ann.get(&path).await.expect(200);
    let text = String::from_utf8_lossy(&events.body).into_owned();
    assert!(text.starts_with("event: job\ndata: {"), "{text}");
    assert!(text.contains("\"state\":\"completed\""), "{text}");
}

#[tokio::test]
async fn a_waiting_job_does_not_begin_after_its_token_was_revoked() {
    let mut server = FakeServer::start().await;
    let hour = Duration::from_secs(3600);
    let (token, token_id) = server.listed_token("ann", false, "sessions:*", hour).await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let mut waiting = String::new();
    {
        let ann = server.bearer(token);
        let mut input = sleep(&session);
        input["wait_s"] = json!(0);
        // More than run at a time: the last one waits.
        for _ in 0..=8 {
            let job = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
            waiting = job["job_id"].as_str().unwrap().to_owned();
        }
    }
    server.kill().await;
    let store = helmdeck_store::Store::open(&server.data_dir()).await.unwrap();
    let now = time::OffsetDateTime::now_utc();
    store.revoke(&token_id, now, now + hour).await.unwrap();
    store.close().await;
    server.restart().await;
    let ann = server.client("ann", "sessions:*");
    let path = format!("/api/v1/jobs/{waiting}?wait_s=20");
    let job = ann.get(&path).await.expect(200).json();
    assert_eq!((&job["state"], &job["error"]["error"]), (&json!("failed"), &json!("forbidden")));
    assert!(job["error"]["message"].as_str().unwrap().contains("revoked"), "{job}");
    assert!(job["started_at"].is_null(), "{job}");
}

#[tokio::test]
async fn listeners_are_told_of_their_jobs_without_outputs() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut bobs = Listener::open(&server, &server.token("bob", "sessions:*"), None).await;
    let mut listener = Listener::open(&server, &server.token("ann", "sessions:*"), None).await;
    let job = run(&ann, "cmd.run", &echo(&session)).await;
    let first = listener.until("job").await.data;
    assert_eq!((&first["job_id"], &first["state"]), (&job["job_id"], &json!("working")));
    let last = loop {
        let told = listener.until("job").await.data;
        if told["state"] != "working" {
            break told;
        }
    };
    assert_eq!((&last["state"], &last["progress"]), (&json!("completed"), &json!(100)));
    assert!(last["output"].is_null() && !job["output"].is_null(), "{last}");
    // Events are ordered: the first one of bob belongs to bob.
    let own = headless(&server.client("bob", "sessions:*")).await;
    assert_eq!(bobs.next().await.data["id"], own);
}

#[tokio::test]
async fn the_input_of_a_job_is_shown_to_its_owner() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let input = echo(&session);
    let job = run(&ann, "cmd.run", &input).await;
    let path = format!("/api/v1/jobs/{}/input", job["job_id"].as_str().unwrap());
    let shown = ann.get(&path).await.expect(200).json();
    assert_eq!(shown["pack"], "cmd.run");
    for field in ["_session_id", "clone_path", "command"] {
        assert_eq!(shown["input"][field], input[field], "{shown}");
    }
    server.client("bob", "sessions:*").get(&path).await.expect_error(404, "unknown_job");
}

#[tokio::test]
async fn a_result_that_the_store_refuses_is_saved_later_and_until_then_the_job_works() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let file = format!("sqlite://{}", server.data_dir().join("helmdeck.db").display());
    let mut database = SqliteConnection::connect(&file).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON job WHEN NEW.state != 'working'
                  BEGIN SELECT RAISE(ABORT, 'refused'); END";
    sqlx::query(refuse).execute(&mut database).await.unwrap();
    let mut input = echo(&session);
    input["wait_s"] = json!(0);
    let job = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
    let path = format!("/api/v1/jobs/{}", job["job_id"].as_str().unwrap());
    let shown = async || ann.get(&path).await.expect(200).json();
    let waits = async || {
        let message = shown().await["message"].as_str().unwrap_or_default().to_owned();
        message.ends_with("saved as soon as possible").then_some(())
    };
    eventually(SOON, waits).await.expect("it says why it is not over");
    assert_eq!(shown().await["state"], "working");
    // Its turn is over, so that others run.
    let mut others = Vec::new();
    for _ in 0..20 {
        let other = ann.post("/api/v1/packs/cmd.run", &input).await.expect(202).json();
        others.push(other["job_id"].as_str().unwrap().to_owned());
    }
    sqlx::query("DROP TRIGGER refuse").execute(&mut database).await.unwrap();
    let job = ann.get(&format!("{path}?wait_s=20")).await.expect(200).json();
    assert_eq!((&job["state"], &job["output"]["exit_code"]), (&json!("completed"), &json!(0)));
    for id in others {
        let job = ann.get(&format!("/api/v1/jobs/{id}?wait_s=20")).await.expect(200).json();
        assert_eq!(job["state"], "completed", "{job}");
    }
}

#[tokio::test]
async fn a_job_that_may_run_twice_begins_at_most_three_times() {
    let mut server = FakeServer::start().await;
    let session = headless(&server.client("ann", "sessions:*")).await;
    let guest = server.runtime.guest(&session);
    guest.hold("exec");
    let input = json!({
        "_session_id": session, "clone_path": "/workspace/app", "path": "a", "wait_s": 0,
    });
    let ann = server.client("ann", "sessions:*");
    let job = ann.post("/api/v1/packs/fs.read", &input).await.expect(202).json();
    let id = job["job_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/jobs/{id}");
    let began = async |server: &FakeServer| {
        let ann = server.client("ann", "sessions:*");
        let began = async || {
            let job = ann.get(&path).await.expect(200).json();
            (!job["started_at"].is_null() && job["state"] == "working").then_some(())
        };
        eventually(SOON, began).await.expect("it begins");
    };
    began(&server).await;
    for (attempts, state) in [(2, "working"), (3, "failed")] {
        server.kill().await;
        let store = Store::open(&server.data_dir()).await.unwrap();
        let mut stored = store.job(&JobId::new(id.as_str())).await.unwrap().unwrap();
        assert!(stored.attempts >= 1, "it is counted");
        stored.attempts = attempts;
        store.save_job(&stored).await.unwrap();
        store.close().await;
        server.restart().await;
        let ann = server.client("ann", "sessions:*");
        let job = ann.get(&path).await.expect(200).json();
        assert_eq!(job["state"], state, "after {attempts} attempts: {job}");
        if state == "working" {
            began(&server).await;
        } else {
            let message = job["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("the server stopped 3 times"), "{message}");
        }
    }
}
