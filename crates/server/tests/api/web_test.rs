//! `web.test`, with fake guests and a model that says what it is told to.

use helmdeck_testkit::{Client, FakeVendors, VendorFault, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::{
    models::server,
    outside::{ask, output},
    vision_packs::{MODEL, SCOPES, ann, writes},
};

pub fn says(tool: &str, arguments: Value) -> Value {
    writes(&json!({ "tool": tool, "arguments": arguments, "reasoning": "why" }).to_string(), "stop")
}

/// A page of a test, whose assertions hold or not.
pub async fn page(server: &FakeServer, client: &Client, holds: bool) -> String {
    let session = crate::packs::headless(client).await;
    let guest = server.runtime.guest(&session);
    let acted = json!({ "ok": true, "url": "https://shop.test/", "tab": "t1" });
    let mut snapshot = acted.clone();
    snapshot["id"] = json!(1);
    snapshot["title"] = json!("Shop");
    snapshot["snapshot"] = json!("- button \"Buy\" [ref=e4]");
    (snapshot["delta"], snapshot["truncated"]) = (json!(false), json!(false));
    guest.answer("browser_snapshot", snapshot);
    guest.answer("browser_verify", json!({
        "holds": holds, "duration_ms": 1, "failed": [], "evidence": [
            { "condition": "all[0]", "check": "text_visible", "holds": holds, "found": "the page shows: Shop" }],
    }));
    session
}

#[tokio::test]
async fn a_test_passes_only_if_its_assertions_hold() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    for (holds, outcome, result) in [(true, "completed", "pass"), (false, "unverified", "fail")] {
        let session = page(&server, &client, holds).await;
        vendors.say("groq", writes("I think I am done.", "stop"));
        vendors.say("groq", says("browser_click", json!({ "ref": "e4", "element": "Buy" })));
        for _ in 0..if holds { 1 } else { 3 } {
            vendors.say("groq", says("done", json!({})));
        }
        let input = json!({
            "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL,
            "assertions": ["Thank you"], "_session_id": session,
        });
        let done = output(&client, "web.test", &input).await;
        assert_eq!(
            (&done["outcome"], &done["result"]),
            (&json!(outcome), &json!(result)),
            "{done}"
        );
        assert_eq!(
            (&done["completed"], &done["assertions_passed"]),
            (&json!(holds), &json!(holds))
        );
        assert_eq!(
            (&done["steps"][0]["is_error"], &done["steps"][0]["tool"]),
            (&json!(true), &json!("none"))
        );
        assert_eq!(
            (&done["steps"][1]["tool"], &done["steps"][1]["is_error"]),
            (&json!("browser_click"), &json!(false)),
            "{done}"
        );
        assert!(done["final_snapshot"].as_str().unwrap().contains("Buy"));
        assert!(done["spent"]["output_tokens"].as_u64().unwrap() > 0);
        // People see each action before it happens, and what each reply used.
        let path = format!("/api/v1/sessions/{session}/actions");
        let actions = client.get(&path).await.expect(200).text();
        assert!(actions.contains("groq/llama-4-scout · step 2/8 · clicking Buy"), "{actions}");
        let path = format!("/api/v1/sessions/{session}/vision");
        let run = client.get(&path).await.expect(200).json()["run"].clone();
        for step in run["steps"].as_array().unwrap() {
            assert!(step["spent"]["output_tokens"].as_u64() > Some(0), "{run}");
        }
    }
}

#[tokio::test]
async fn a_model_that_says_done_never_passes_a_test_without_assertions_and_leaves_no_site() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    let input = json!({
        "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL, "_session_id": session,
    });
    vendors.say("groq", says("done", json!({})));
    let done = output(&client, "web.test", &input).await;
    assert_eq!(
        (&done["outcome"], &done["result"]),
        (&json!("unverified"), &json!("fail")),
        "{done}"
    );

    vendors.say("groq", says("browser_navigate", json!({ "url": "https://evil.test/" })));
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "needs_confirmation", "{done}");
    assert!(done["question"].as_str().unwrap().contains("evil.test"));
    let opened = server.runtime.guest(&session).bodies("browser_navigate");
    assert!(opened.iter().all(|it| it["url"] == "https://shop.test/"), "{opened:?}");

    // A person who called it is asked first.
    let person = server.bearer(server.person_token("ann", SCOPES));
    for (decision, outcome) in [("deny", "denied"), ("allow", "unverified")] {
        vendors.say("groq", says("browser_navigate", json!({ "url": "https://evil.test/" })));
        if decision == "allow" {
            vendors.say("groq", says("done", json!({})));
        }
        let mut later = input.clone();
        later["wait_s"] = json!(0);
        let job = ask(&person, "web.test", &later).await.expect(202).json();
        let vision = format!("/api/v1/sessions/{session}/vision");
        let asked = loop {
            let run = person.get(&vision).await.expect(200).json()["run"].clone();
            if run["job_id"] == job["job_id"] && run["state"] == "waiting" {
                break run;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert!(asked["question"]["text"].as_str().unwrap().contains("evil.test"), "{asked}");
        let answer = json!({ "question_id": asked["question"]["id"], "decision": decision });
        person.post(&format!("{vision}/answer"), &answer).await.expect(200);
        let path = format!("/api/v1/jobs/{}?wait_s=20", job["job_id"].as_str().unwrap());
        let done = person.get(&path).await.expect(200).json();
        assert_eq!(done["output"]["outcome"], outcome, "{done}");
        let run = person.get(&vision).await.expect(200).json()["run"].clone();
        assert_eq!((&run["outcome"], &run["mode"]), (&json!(outcome), &json!("structured")));
    }

    vendors.say("groq", says("fail", json!({ "reason": "there is no button" })));
    let done = output(&client, "web.test", &input).await;
    assert_eq!((&done["outcome"], &done["completed"]), (&json!("stuck"), &json!(false)), "{done}");
    vendors.fail("groq", VendorFault::Status(500, None), 10);
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "provider_error", "{done}");
}

#[tokio::test]
async fn the_browser_of_a_test_opens_no_other_site_and_the_limit_ends_with_the_test() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    let guest = server.runtime.guest(&session);
    let input = json!({
        "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL,
        "assertions": ["Thank you"], "allow": ["pay.test"], "_session_id": session,
    });
    vendors.say("groq", says("browser_click", json!({ "ref": "e4", "element": "Buy" })));
    vendors.say("groq", says("done", json!({})));
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "completed", "{done}");
    let limits = guest.bodies("sites");
    let (last, during) = limits.split_last().unwrap();
    assert!(during.len() > 2, "it is renewed before each step: {limits:?}");
    for limit in during {
        let sites = limit["sites"].to_string();
        assert!(sites.contains("shop.test") && sites.contains("pay.test"), "{limits:?}");
        assert!(!sites.contains("evil.test") && limit["owner"] == last["owner"], "{limits:?}");
    }
    assert_eq!(last["sites"], Value::Null, "the limit ends with the test");

    // A click tried to open another site.
    guest.answer("sites", json!({ "urls": ["https://evil.test/login"] }));
    let asked = vendors.count("groq");
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "needs_confirmation", "{done}");
    assert!(done["question"].as_str().unwrap().contains("evil.test"), "{done}");
    assert_eq!(vendors.count("groq"), asked);
    assert_eq!(guest.bodies("sites").last().unwrap()["sites"], Value::Null);
}

#[tokio::test]
async fn a_test_whose_sites_cannot_be_limited_ends_before_it_acts() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    let guest = server.runtime.guest(&session);
    guest.refuse("sites", ErrorBody::new(ErrorCode::Timeout, "the browser does not answer"));
    let input = json!({
        "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL,
        "assertions": ["Thank you"], "_session_id": session,
    });
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "cancelled", "{done}");
    assert!(done["reason"].as_str().unwrap().contains("cannot be limited"), "{done}");
    assert_eq!(vendors.requests().len(), 0);
}

#[tokio::test]
async fn a_test_whose_session_is_over_is_cancelled_and_keeps_its_steps() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    let gone = ErrorBody::new(ErrorCode::SessionUnavailable, "the session is over");
    server.runtime.guest(&session).refuse("browser_click", gone);
    vendors.say("groq", says("browser_click", json!({ "ref": "e4", "element": "Buy" })));
    let input = json!({
        "url": "https://shop.test/", "instruction": "Buy it", "model": MODEL, "_session_id": session,
    });
    let done = output(&client, "web.test", &input).await;
    assert_eq!(done["outcome"], "cancelled", "{done}");
    assert_eq!(done["steps"][0]["tool"], "browser_click", "{done}");
}

#[tokio::test]
async fn a_download_that_a_test_did_not_ask_for_is_a_question_to_people() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let session = page(&server, &client, true).await;
    let guest = server.runtime.guest(&session);
    guest.answer("sites", json!({ "urls": [], "downloads": 1 }));
    for (instruction, outcome) in
        [("Buy it", "needs_confirmation"), ("Buy it, and download the receipt", "completed")]
    {
        let input = json!({
            "url": "https://shop.test/", "instruction": instruction, "model": MODEL,
            "assertions": ["Thank you"], "_session_id": session,
        });
        if outcome == "completed" {
            vendors.say("groq", says("done", json!({})));
        }
        let done = output(&client, "web.test", &input).await;
        assert_eq!(done["outcome"], outcome, "{done}");
        let asks = done["question"].as_str().unwrap_or_default().contains("a download began");
        assert_eq!(asks, outcome == "needs_confirmation", "{done}");
    }
}
