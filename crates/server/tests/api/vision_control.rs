//! Runs of vision that people watch: their state, stop, pause, and questions.

use std::time::Duration;

use helmdeck_testkit::{Client, Desk, FakeVendors, Listener, VendorFault, fake::FakeServer};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{models::server, vision::desktop};

const SAFETY: &str = "The page asks for a password.";
const SCOPES: &str = "sessions:*,models:use";

fn path(desk: &Desk<'_>, what: &str) -> String {
    format!("/api/v1/sessions/{}/vision{what}", desk.id)
}

fn goal(more: Value) -> Value {
    let mut body = json!({ "instruction": "Click Save", "model": "openai/gpt-5.4" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A click of OpenAI's model, with a safety check.
fn click() -> Value {
    json!({ "output": [{
        "type": "computer_call", "id": "cu", "call_id": "call_1", "status": "completed",
        "pending_safety_checks": [{ "id": "sc_1", "code": "sensitive_domain", "message": SAFETY }],
        "actions": [{ "type": "click", "button": "left", "x": 10, "y": 10 }],
    }] })
}

async fn shown(client: &Client, desk: &Desk<'_>) -> Value {
    client.get(&path(desk, "")).await.expect(200).json()["run"].clone()
}

/// Waits until the run is in this state.
async fn in_state(client: &Client, desk: &Desk<'_>, state: &str) -> Value {
    for _ in 0..200 {
        let run = shown(client, desk).await;
        if run["state"] == state {
            return run;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("the run never was {state}: {}", shown(client, desk).await);
}

async fn start(client: &Client, desk: &Desk<'_>, more: Value) -> Value {
    client.post(&path(desk, "/start"), &goal(more)).await.expect(202).json()
}

fn person(server: &FakeServer) -> Client {
    server.bearer(server.person_token("ann", SCOPES))
}

#[tokio::test]
async fn a_person_allows_what_the_model_may_not_decide() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let (ann, agent) = (person(&server), server.client("ann", SCOPES));
    let desk = desktop(&server, &ann).await;
    assert_eq!(shown(&ann, &desk).await, Value::Null);
    let token = server.token("ann", "sessions:*");
    let mut listener = Listener::open(&server, &token, None).await;
    vendors.say("openai", click());
    let run = start(&ann, &desk, json!({})).await;
    assert_eq!((&run["state"], &run["by"]["kind"]), (&json!("running"), &json!("human")));

    let run = in_state(&ann, &desk, "waiting").await;
    let question = &run["question"];
    assert_eq!(question["text"], SAFETY);
    assert!(question["expires_at"].as_str() > question["asked_at"].as_str(), "{run}");
    loop {
        let told = listener.until("vision").await.data;
        if told["state"] == "waiting" {
            assert_eq!((&told["session_id"], &told["question"]), (&json!(desk.id), question));
            break;
        }
    }
    let answer = json!({ "question_id": question["id"], "decision": "allow" });
    let refused = agent.post(&path(&desk, "/answer"), &answer).await;
    refused.expect_error(403, "person_required");
    let wrong = json!({ "question_id": "other", "decision": "allow" });
    ann.post(&path(&desk, "/answer"), &wrong).await.expect_error(404, "not_found");
    let answered = ann.post(&path(&desk, "/answer"), &answer).await.expect(200).json();
    assert_eq!(
        (&answered["decision"], &answered["by"]["subject"]),
        (&json!("allow"), &json!("ann"))
    );

    let run = in_state(&ann, &desk, "ended").await;
    assert_eq!(run["outcome"], "completed", "{run}");
    assert_eq!(
        (&run["question"], &run["decisions"][0]["question"]),
        (&Value::Null, &json!(SAFETY))
    );
    assert!(run["spent"]["output_tokens"].as_u64() > Some(0), "{run}");
    assert_eq!(run["steps"][0]["hit"]["name"], "Save", "{run}");
    let actions =
        ann.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.expect(200).json();
    let decided = actions["actions"].as_array().unwrap().iter();
    let decided = decided.clone().find(|action| action["action"] == "vision_answer").unwrap();
    assert_eq!(
        (&decided["by"]["kind"], &decided["detail"]["decision"]),
        (&json!("human"), &json!("allow"))
    );
}

#[tokio::test]
async fn a_question_is_denied_by_a_person_or_by_time() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    vendors.say("openai", click());
    start(&ann, &desk, json!({})).await;
    let run = in_state(&ann, &desk, "waiting").await;
    let answer = json!({ "question_id": run["question"]["id"], "decision": "deny" });
    ann.post(&path(&desk, "/answer"), &answer).await.expect(200);
    let run = in_state(&ann, &desk, "ended").await;
    assert_eq!(run["outcome"], "denied", "{run}");

    vendors.say("openai", click());
    let late = goal(json!({ "confirm_timeout_s": 1 }));
    let late = ann.post(&path(&desk, "/act"), &late).await.expect(200).json();
    assert_eq!(late["outcome"], "denied", "{late}");
    assert!(
        late["reason"].as_str().unwrap().starts_with("no person answered within 1 s"),
        "{late}"
    );
    assert_eq!(shown(&ann, &desk).await["decisions"][0]["by"], Value::Null);
    assert!(server.runtime.guest(&desk.id).bodies("click").is_empty());
}

#[tokio::test]
async fn without_a_person_a_question_ends_the_run() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let (ann, agent) = (person(&server), server.client("ann", SCOPES));
    let desk = desktop(&server, &ann).await;
    for (client, more) in [(&agent, json!({})), (&ann, json!({ "confirm_timeout_s": 0 }))] {
        vendors.say("openai", click());
        let run = client.post(&path(&desk, "/act"), &goal(more)).await.expect(200).json();
        assert_eq!(
            (&run["outcome"], &run["question"]),
            (&json!("needs_confirmation"), &json!(SAFETY))
        );
    }
}

#[tokio::test]
async fn a_stream_tells_its_question() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    vendors.say("openai", click());
    let body = goal(json!({ "confirm_timeout_s": 1 })).to_string().into();
    let answer =
        ann.send(Method::POST, &path(&desk, "/act?stream=true"), &[], body).await.expect(200);
    let text = answer.text();
    let asked = text.find("event: question").expect("a question");
    assert!(text.find("event: result").unwrap() > asked, "{text}");
}

#[tokio::test]
async fn a_session_has_one_run_at_a_time_which_can_be_stopped() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let agent = server.client("ann", SCOPES);
    let desk = desktop(&server, &agent).await;
    for what in ["/stop", "/pause", "/resume"] {
        agent.post(&path(&desk, what), &json!({})).await.expect_error(404, "not_found");
    }
    vendors.fail("openai", VendorFault::Stall, 1);
    start(&agent, &desk, json!({})).await;
    let second = agent.post(&path(&desk, "/act"), &goal(json!({}))).await;
    second.expect_error(409, "vision_running");
    let other = server.client("bob", SCOPES);
    other.get(&path(&desk, "")).await.expect_error(404, "not_found");
    other.post(&path(&desk, "/stop"), &json!({})).await.expect_error(404, "not_found");
    agent.post(&path(&desk, "/stop"), &json!({})).await.expect(200);
    let run = in_state(&agent, &desk, "ended").await;
    assert_eq!(
        (&run["outcome"], &run["reason"]),
        (&json!("cancelled"), &json!("the run was stopped"))
    );
    // The next one may begin.
    start(&agent, &desk, json!({})).await;
    agent.post(&path(&desk, "/stop"), &json!({})).await.expect(200);
    in_state(&agent, &desk, "ended").await;
}

#[tokio::test]
async fn a_paused_run_does_nothing_until_it_continues() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    vendors.say("openai", click());
    start(&ann, &desk, json!({})).await;
    let run = in_state(&ann, &desk, "waiting").await;
    ann.post(&path(&desk, "/pause"), &json!({})).await.expect(200);
    let answer = json!({ "question_id": run["question"]["id"], "decision": "allow" });
    ann.post(&path(&desk, "/answer"), &answer).await.expect(200);
    in_state(&ann, &desk, "paused").await;
    sleep(Duration::from_millis(300)).await;
    assert!(server.runtime.guest(&desk.id).bodies("click").is_empty());
    ann.post(&path(&desk, "/resume"), &json!({})).await.expect(200);
    let run = in_state(&ann, &desk, "ended").await;
    assert_eq!(run["outcome"], "completed", "{run}");
}

/// Starts a pack without waiting for its end. Returns the id of its job.
async fn start_pack(client: &Client, pack: &str, mut input: Value, session: &str) -> String {
    (input["_session_id"], input["wait_s"]) = (json!(session), json!(0));
    let job = client.post(&format!("/api/v1/packs/{pack}"), &input).await.expect(202).json();
    job["job_id"].as_str().unwrap().to_owned()
}

/// The output of a job.
async fn finished(client: &Client, job: &str) -> Value {
    for _ in 0..200 {
        let job = client.get(&format!("/api/v1/jobs/{job}")).await.expect(200).json();
        if job["state"] != "working" {
            return job;
        }
        sleep(Duration::from_millis(50)).await;
    }
    panic!("job {job} did not end");
}

#[tokio::test]
async fn a_run_of_a_pack_is_watched_paused_and_answered_like_any_other() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    let token = server.token("ann", "sessions:*");
    let mut listener = Listener::open(&server, &token, None).await;
    vendors.say("openai", click());
    let input = json!({ "goal": "Click Save", "model": "openai/gpt-5.4" });
    let job = start_pack(&ann, "vision.click_anywhere", input.clone(), &desk.id).await;
    let run = in_state(&ann, &desk, "waiting").await;
    assert_eq!((&run["question"]["text"], &run["mode"]), (&json!(SAFETY), &json!("vision")));
    assert_eq!((&run["job_id"], &run["by"]["kind"]), (&json!(job), &json!("human")), "{run}");

    let second = ann.post(&path(&desk, "/act"), &goal(json!({}))).await;
    second.expect_error(409, "vision_running");
    let second = start_pack(&ann, "vision.click_anywhere", input, &desk.id).await;
    let second = finished(&ann, &second).await;
    let error = &second["error"];
    assert_eq!(error["error"], "not_ready", "{second}");
    assert!(error["message"].as_str().unwrap().contains("is under way"), "{second}");

    ann.post(&path(&desk, "/pause"), &json!({})).await.expect(200);
    let answer = json!({ "question_id": run["question"]["id"], "decision": "allow" });
    ann.post(&path(&desk, "/answer"), &answer).await.expect(200);
    in_state(&ann, &desk, "paused").await;
    assert!(server.runtime.guest(&desk.id).bodies("click").is_empty());
    ann.post(&path(&desk, "/resume"), &json!({})).await.expect(200);
    let run = in_state(&ann, &desk, "ended").await;
    let hit = &run["steps"][0]["hit"]["name"];
    assert_eq!((&run["outcome"], hit), (&json!("completed"), &json!("Save")));
    let done = finished(&ann, &job).await;
    assert_eq!(done["output"]["outcome"], "completed", "{done}");
    // People see where it clicks before it does.
    while listener.until("vision").await.data["target"] == Value::Null {}
    let actions =
        ann.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.expect(200).text();
    assert!(actions.contains("openai/gpt-5.4 · step 1/6 · clicking"), "{actions}");
}

#[tokio::test]
async fn a_person_stops_a_run_of_a_pack() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    vendors.fail("openai", VendorFault::Stall, 1);
    let input = json!({ "goal": "Click Save", "model": "openai/gpt-5.4" });
    let job = start_pack(&ann, "vision.click_anywhere", input.clone(), &desk.id).await;
    in_state(&ann, &desk, "running").await;
    ann.post(&path(&desk, "/stop"), &json!({})).await.expect(200);
    let done = finished(&ann, &job).await;
    assert_eq!(done["output"]["outcome"], "cancelled", "{done}");
    assert_eq!(shown(&ann, &desk).await["reason"], "the run was stopped");

    vendors.fail("openai", VendorFault::Stall, 1);
    let job = start_pack(&ann, "vision.click_anywhere", input, &desk.id).await;
    in_state(&ann, &desk, "running").await;
    ann.delete(&format!("/api/v1/jobs/{job}")).await.expect(200);
    let run = in_state(&ann, &desk, "ended").await;
    assert_eq!(run["outcome"], "cancelled", "a cancelled job ends its run: {run}");
}

#[tokio::test]
async fn a_structured_run_is_registered_without_a_model() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    let input = json!({ "goal": "Click Delete", "_mode": "structured" });
    let job = start_pack(&ann, "vision.click_anywhere", input, &desk.id).await;
    finished(&ann, &job).await;
    let run = in_state(&ann, &desk, "ended").await;
    assert_eq!((&run["mode"], &run["model"]), (&json!("structured"), &Value::Null), "{run}");
    assert_eq!((&run["outcome"], &run["job_id"]), (&json!("stuck"), &json!(job)));
}

#[tokio::test]
async fn a_session_shows_how_it_is_used_and_people_choose() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = person(&server);
    let desk = desktop(&server, &ann).await;
    let mode = async || {
        let session = ann.get(&format!("/api/v1/sessions/{}", desk.id)).await.expect(200).json();
        let list = ann.get("/api/v1/sessions").await.expect(200).json();
        let all = list["sessions"].as_array().or(list.as_array()).unwrap();
        let listed = all.iter().find(|it| it["id"] == json!(desk.id)).unwrap();
        assert_eq!(listed["action_mode"], session["action_mode"]);
        session["action_mode"].clone()
    };
    assert_eq!(mode().await, "structured");
    let choose = format!("/api/v1/sessions/{}/action-mode", desk.id);
    let mut listener = Listener::open(&server, &server.token("ann", "sessions:*"), None).await;
    let put = async |path: &str, mode: &str| {
        let body = json!({ "mode": mode }).to_string();
        ann.send(Method::PUT, path, &[], body.into()).await
    };
    let chosen = put(&choose, "vision").await.expect(200).json();
    assert_eq!((&chosen["action_mode"], mode().await), (&json!("vision"), json!("vision")));
    while listener.until("session").await.data["action_mode"] != "vision" {}

    let input = json!({ "goal": "Click Delete", "_mode": "structured" });
    let job = start_pack(&ann, "vision.click_anywhere", input, &desk.id).await;
    finished(&ann, &job).await;
    assert_eq!(mode().await, "structured", "a run changes it");
    vendors.say("openai", click());
    start(&ann, &desk, json!({ "confirm_timeout_s": 0 })).await;
    in_state(&ann, &desk, "ended").await;
    assert_eq!(mode().await, "vision");

    let headless = crate::packs::headless(&ann).await;
    let path = format!("/api/v1/sessions/{headless}/action-mode");
    put(&path, "vision").await.expect_error(400, "not_desktop_mode");
    put(&path, "both").await.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn an_admin_erases_what_is_recorded_of_a_caller_and_of_no_other() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let admin = server.admin();
    let (ann, bob) = (person(&server), server.client("bob", SCOPES));
    let mut of = Vec::new();
    for client in [&ann, &bob] {
        let desk = desktop(&server, client).await;
        let input = json!({ "goal": "Click Delete", "_mode": "structured" });
        let job = start_pack(client, "vision.click_anywhere", input, &desk.id).await;
        let done = finished(client, &job).await;
        let picture = done["output"]["artifact_key"].as_str().unwrap().to_owned();
        in_state(client, &desk, "ended").await;
        of.push((client, desk, job, picture));
    }
    let erase = async |client: &Client, caller: &str| {
        client.delete(&format!("/api/v1/records?caller={caller}")).await
    };
    erase(&ann, "ann").await.expect_error(403, "forbidden");
    let erased = erase(&admin, "ann").await.expect(200).json();
    assert_eq!((&erased["jobs"], &erased["vision_runs"]), (&json!(1), &json!(1)), "{erased}");
    assert!(erased["actions"].as_u64() > Some(0), "{erased}");
    assert_eq!(erased["pictures"], 1, "{erased}");
    for (client, desk, job, picture) in of {
        let is_ann = std::ptr::eq(client, &ann);
        let job = client.get(&format!("/api/v1/jobs/{job}")).await;
        assert_eq!(job.status, if is_ann { 404 } else { 200 });
        let picture = client.get(&format!("/api/v1/artifacts/download/{picture}")).await;
        assert_eq!(picture.status, if is_ann { 404 } else { 200 });
        assert_eq!(shown(client, &desk).await.is_null(), is_ann);
        let path = format!("/api/v1/sessions/{}/actions", desk.id);
        let actions = client.get(&path).await.expect(200).json();
        let created = actions["actions"].as_array().unwrap().len();
        assert_eq!(created <= 1, is_ann, "{actions}");
    }
    let again = erase(&admin, "ann").await.expect(200).json();
    assert_eq!((&again["jobs"], &again["vision_runs"]), (&json!(0), &json!(0)), "{again}");
}
