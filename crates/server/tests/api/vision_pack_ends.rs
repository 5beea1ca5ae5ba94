//! Runs of packs that a person interrupts by taking control.

use std::time::Duration;

use helmdeck_testkit::{Client, FakeVendors, fake::FakeServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    models::server,
    vision_packs::{MODEL, SCOPES, ann, desktop, element, within},
    web_test::{page, says},
};

async fn run_of(client: &Client, session: &str) -> Value {
    let path = format!("/api/v1/sessions/{session}/vision");
    client.get(&path).await.expect(200).json()["run"].clone()
}

/// Calls a pack, lets a person take control once the guest was asked for `call`, and returns the output.
async fn interrupted(
    server: &FakeServer,
    client: &Client,
    session: &str,
    (pack, mut input): (&str, Value),
    call: &str,
) -> Value {
    let guest = server.runtime.guest(session);
    guest.hold(call);
    input["wait_s"] = json!(0);
    let job = client.post(&format!("/api/v1/packs/{pack}"), &input).await.expect(202).json();
    for _ in 0..200 {
        if !guest.bodies(call).is_empty() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    let person = server.bearer(server.person_token("ann", SCOPES));
    let take = format!("/api/v1/sessions/{session}/control/take");
    person.post(&take, &json!({})).await.expect(200);
    guest.release(call);
    let path = format!("/api/v1/jobs/{}?wait_s=20", job["job_id"].as_str().unwrap());
    let done = client.get(&path).await.expect(200).json();
    assert_eq!(done["error"], Value::Null, "{done}");
    done["output"].clone()
}

#[tokio::test]
async fn a_test_that_a_person_interrupts_keeps_its_outcome_and_its_steps() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    vendors.say("groq", says("browser_press", json!({ "key": "Tab" })));
    vendors.say("groq", says("browser_click", json!({ "ref": "e4", "element": "Buy" })));
    let input = json!({
        "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL,
        "assertions": ["Thank you"], "_session_id": session,
    });
    let done = interrupted(&server, &client, &session, ("web.test", input), "browser_click").await;
    assert_eq!(
        (&done["outcome"], &done["completed"]),
        (&json!("control_taken"), &json!(false)),
        "{done}"
    );
    assert_eq!(done["steps"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(done["steps"][1]["is_error"], true);
    let run = run_of(&client, &session).await;
    assert_eq!(run["outcome"], "control_taken", "{run}");
    assert_eq!(run["steps"].as_array().unwrap().len(), 2, "{run}");
}

#[tokio::test]
async fn a_form_that_a_person_interrupts_keeps_its_outcome_and_its_steps() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let found = [element("e1", "textbox", "Name", "Ann", 90)];
    let desk = desktop(&server, &client, "e1", &found).await;
    let input =
        within(&desk, json!({ "fields": { "Name": "Ann" }, "submit": "Send", "model": MODEL }));
    let called = ("vision.fill_form_by_label", input);
    let done = interrupted(&server, &client, &desk.id, called, "click").await;
    assert_eq!(done["outcome"], "control_taken", "{done}");
    assert_eq!(done["fields"][0]["filled"], false, "{done}");
    let run = run_of(&client, &desk.id).await;
    assert_eq!(run["outcome"], "control_taken", "{run}");
    assert_eq!(run["steps"].as_array().unwrap().len(), 1, "{run}");
    assert!(run["steps"][0]["problem"].is_string(), "{run}");
}
