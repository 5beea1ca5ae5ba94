//! Packs that use models, with fake guests and with vendors that check what they get.

use helmdeck_testkit::{Client, Desk, FakeVendors, VendorFault, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::{
    models::server,
    outside::{ask, credential, output},
};

const MODEL: &str = "groq/llama-4-scout";
const SECRET: &str = "correct-horse-battery-staple";
const SCOPES: &str = "sessions:*,models:use,vault:*";

fn ann(server: &FakeServer) -> Client {
    server.client("ann", SCOPES)
}

fn rect(x: i32, y: i32) -> Value {
    json!({ "x": x, "y": y, "width": 200, "height": 20 })
}

fn element(reference: &str, role: &str, name: &str, value: &str, y: i32) -> Value {
    json!({
        "ref": reference, "role": role, "name": name, "value": value, "rect": rect(90, y),
        "confidence": 1.0, "source": "dom", "window": "1",
    })
}

/// A desktop with a page. `focus` has the keyboard focus.
async fn desktop<'a>(
    server: &FakeServer,
    client: &'a Client,
    focus: &str,
    found: &[Value],
) -> Desk<'a> {
    let desk = Desk::desktop(client).await;
    let guest = server.runtime.guest(&desk.id);
    let window = json!({
        "id": "1", "name": "Shop", "class": "Chromium", "url": "https://shop.test/login",
        "rect": { "x": 0, "y": 0, "width": 1280, "height": 700 }, "focused": true, "browser": true,
    });
    let node = json!({
        "ref": focus, "window": "1", "role": "textbox", "name": "Total", "value": "12", "rect": rect(90, 90),
    });
    guest.answer("tree", json!({
        "id": 1, "delta": false, "windows": [window], "nodes": [node], "truncated": false, "focus": focus,
    }));
    guest.answer("find", json!({ "candidates": found, "count": found.len() }));
    guest.answer(
        "click",
        json!({
            "ok": true, "x": 100, "y": 100, "button": "1", "changed": true, "effect": "confirmed",
            "effects": ["confirmed"], "acted_at": { "x": 100, "y": 100 },
            "hit": { "role": "textbox", "name": "", "source": "dom" },
        }),
    );
    desk
}

fn within(desk: &Desk<'_>, mut input: Value) -> Value {
    input["_session_id"] = json!(desk.id);
    input
}

/// What a model with a function says.
fn clicks() -> Value {
    let arguments = json!({ "action": "left_click", "coordinate": [10, 10] }).to_string();
    let call = json!({ "id": "call_1", "type": "function",
        "function": { "name": "computer", "arguments": arguments } });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
}

/// A model that writes this.
fn writes(text: &str, finish: &str) -> Value {
    let message = json!({ "role": "assistant", "content": text });
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }] })
}

#[tokio::test]
async fn without_a_key_model_packs_are_unavailable_and_name_the_command_that_adds_one() {
    let vendors = FakeVendors::start().await;
    vendors.fail("ollama", VendorFault::Status(500, None), 1000);
    let server = server(&vendors, &[], &[("HELMDECK_OLLAMA_BASE_URL", "http://127.0.0.1:9")]).await;
    let client = ann(&server);
    let list = client.get("/api/v1/packs").await.expect(200).json();
    let listed = |name: &str| {
        let packs = list["packs"].as_array().unwrap();
        packs.iter().find(|pack| pack["name"] == name).unwrap().clone()
    };
    for name in [
        "vision.click_anywhere",
        "vision.extract_visible_text",
        "vision.fill_form_by_label",
        "desktop.legacy_app_action",
        "web.test",
    ] {
        let reason = listed(name)["unavailable"].as_str().unwrap_or_default().to_owned();
        assert!(reason.contains("helmdeck models add-key"), "{name}: {reason}");
        let shown = client.get(&format!("/api/v1/packs/{name}")).await.expect(200).json();
        assert_eq!(shown["unavailable"], reason);
        let mode = if name == "web.test" { "structured" } else { "vision" };
        assert_eq!((&shown["action_mode"], &shown["needs_model"]), (&json!(mode), &json!(true)));
        assert_eq!(shown["input_schema"]["properties"]["_mode"]["default"], mode, "{name}");
    }
    assert_eq!(listed("web.scrape")["unavailable"], Value::Null);
    let input = json!({ "url": "https://shop.test/", "instruction": "Buy it" });
    let refused = ask(&client, "web.test", &input).await;
    assert!(refused.json()["message"].as_str().unwrap().contains("helmdeck models add-key"));
    assert_eq!(refused.json()["error"], "no_model_key");
}

#[tokio::test]
async fn packs_need_the_right_to_use_models() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = server.client("bob", "sessions:*");
    let refused = ask(&client, "vision.click_anywhere", &json!({ "goal": "Click Save" })).await;
    assert!(refused.expect_error(403, "forbidden").contains("models:use"));
    let ann = ann(&server);
    let input = json!({ "goal": "Click Save", "model": "nobody/x" });
    let refused = ask(&ann, "vision.click_anywhere", &input).await;
    assert!(refused.expect_error(400, "invalid_input").contains("no provider is called nobody"));
}

#[tokio::test]
async fn a_click_needs_no_model_if_one_element_has_the_name_and_structured_mode_never_asks_one() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client, "e9", &[element("e1", "button", "Save", "", 90)]).await;
    let hit = json!({ "role": "button", "name": "Save", "source": "dom" });
    server.runtime.guest(&desk.id).answer(
        "click",
        json!({
            "ok": true, "x": 100, "y": 100, "button": "1", "changed": true, "effect": "confirmed",
            "effects": ["confirmed"], "acted_at": { "x": 100, "y": 100 }, "hit": hit,
        }),
    );
    let input = within(&desk, json!({ "goal": "Click Save", "model": MODEL }));
    let done = output(&client, "vision.click_anywhere", &input).await;
    assert_eq!(
        (&done["completed"], &done["outcome"]),
        (&json!(true), &json!("completed")),
        "{done}"
    );
    assert_eq!((&done["model_calls"], &done["steps_used"]), (&json!(0), &json!(1)));
    assert!(done["final_action"].as_str().unwrap().starts_with("clicking"), "{done}");
    let key = done["artifact_key"].as_str().unwrap();
    client.get(&format!("/api/v1/artifacts/download/{key}")).await.expect(200);

    let input = within(&desk, json!({ "goal": "Click Delete", "_mode": "structured" }));
    let done = output(&client, "vision.click_anywhere", &input).await;
    assert_eq!((&done["completed"], &done["outcome"]), (&json!(false), &json!("stuck")), "{done}");
    assert!(done["reason"].as_str().unwrap().contains("_mode: vision"), "{done}");
    assert_eq!(vendors.requests().len(), 0);

    let input = within(&desk, json!({ "goal": "Click Delete", "_mode": "both" }));
    ask(&client, "vision.click_anywhere", &input).await.expect_error(400, "invalid_input");
}

#[tokio::test]
async fn the_text_of_the_screen_is_read_by_a_model_or_from_elements_and_bad_replies_are_told() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client, "e9", &[]).await;
    let input = within(&desk, json!({ "model": MODEL }));
    vendors.say("groq", writes("Total\n12 €", "length"));
    let read = output(&client, "vision.extract_visible_text", &input).await;
    assert_eq!(
        (&read["text"], &read["source"]),
        (&json!("Total\n12 €"), &json!("model")),
        "{read}"
    );
    assert_eq!((&read["truncated"], &read["model"]), (&json!(true), &json!(MODEL)));
    let sent = vendors.last("groq").json().to_string();
    assert!(sent.contains("data:image/png;base64,") && sent.contains("never follow"), "no picture");

    vendors.say("groq", writes("  ", "stop"));
    let failed = ask(&client, "vision.extract_visible_text", &input).await;
    assert_eq!(failed.json()["error"], "invalid_output", "{}", failed.text());
    assert!(failed.text().contains("the reply is empty"), "{}", failed.text());

    let path = format!("/api/v1/sessions/{}/actions", desk.id);
    let actions = client.get(&path).await.expect(200).text();
    assert!(actions.contains("groq/llama-4-scout · reading the screen"), "{actions}");

    let calls = vendors.requests().len();
    let input = within(&desk, json!({ "_mode": "structured" }));
    let read = output(&client, "vision.extract_visible_text", &input).await;
    assert_eq!((&read["text"], &read["source"]), (&json!("Shop\nTotal\n12"), &json!("elements")));
    assert_eq!(vendors.requests().len(), calls);
}

#[tokio::test]
async fn a_form_is_filled_by_label_and_a_secret_reaches_the_guest_only() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    credential(&client, "shop-login", "shop.test", SECRET).await;
    credential(&client, "other-login", "other.test", SECRET).await;
    let found = [
        element("e1", "textbox", "Name:", "Ann", 90),
        element("e2", "textbox", "Password", "", 190),
        element("e3", "button", "Sign in", "", 290),
    ];
    let desk = desktop(&server, &client, "e2", &found).await;
    let guest = server.runtime.guest(&desk.id);
    guest.answer("conceal_field", json!({ "url": "https://shop.test/login" }));
    let fields = json!({ "Name": "Ann", "Password": "${vault:shop-login}" });
    let input = within(&desk, json!({ "fields": fields, "submit": "Sign in", "model": MODEL }));
    let reply = ask(&client, "vision.fill_form_by_label", &input).await.expect(200);
    let done = reply.json()["output"].clone();
    assert_eq!(
        (&done["completed"], &done["outcome"]),
        (&json!(true), &json!("completed")),
        "{done}"
    );
    assert_eq!(done["fields_filled"], json!(["Name", "Password"]));
    assert_eq!(
        (&done["fields"][0]["check"], &done["fields"][1]["check"]),
        (&json!("value"), &json!("focus"))
    );
    assert!(!reply.text().contains(SECRET));
    assert_eq!(vendors.requests().len(), 0, "every label is a name");
    // Plain text is observed, and the secret is not: the guest keeps no picture of it.
    let typed = guest.bodies("type");
    assert_eq!((&typed[0]["text"], &typed[1]["text"]), (&json!("Ann"), &json!(SECRET)));
    assert!(typed[0]["observe"].is_string() && typed[1]["observe"].is_null(), "{typed:?}");
    // The field is painted over in the last picture.
    let shot = guest.bodies("screenshot").last().cloned().unwrap();
    assert_eq!(shot["hide"][0], json!({ "x": 84, "y": 184, "width": 212, "height": 32 }), "{shot}");
    let actions =
        client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.expect(200).text();
    assert!(actions.contains("\"type\"") && !actions.contains(SECRET), "{actions}");
    let job = reply.json()["job_id"].as_str().unwrap().to_owned();
    for path in [format!("/api/v1/jobs/{job}"), format!("/api/v1/jobs/{job}/input")] {
        assert!(!client.get(&path).await.expect(200).text().contains(SECRET));
    }

    // The form is one run, which people can watch.
    let path = format!("/api/v1/sessions/{}/vision", desk.id);
    let run = client.get(&path).await.expect(200).json()["run"].clone();
    assert_eq!(run["instruction"], "Fill in \"Name\", \"Password\"", "{run}");
    assert_eq!((&run["outcome"], &run["state"]), (&json!("completed"), &json!("ended")));

    let fields = json!({ "Password": "${vault:other-login}" });
    let input = within(&desk, json!({ "fields": fields, "model": MODEL }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    assert_eq!((&done["completed"], &done["outcome"]), (&json!(false), &json!("stuck")), "{done}");
    assert!(done["reason"].as_str().unwrap().contains("shop.test"), "{done}");
    assert_eq!(guest.bodies("type").len(), 2, "a secret for another host is not typed");

    // The window shows a page of the host, but the field is in a frame of another site.
    guest.answer("conceal_field", json!({ "url": "https://frames.test/login" }));
    let fields = json!({ "Password": "${vault:shop-login}" });
    let input = within(&desk, json!({ "fields": fields, "model": MODEL }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    assert_eq!(done["outcome"], "stuck", "{done}");
    assert!(done["reason"].as_str().unwrap().contains("frames.test"), "{done}");
    assert_eq!(guest.bodies("type").len(), 2, "a secret is not typed into a frame of another site");
    assert_eq!(guest.bodies("conceal_field").last().unwrap()["selector"], "ref=e2");
}

#[tokio::test]
async fn a_model_finds_a_field_without_a_name_and_sees_no_values() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    credential(&client, "shop-login", "shop.test", SECRET).await;
    let desk = desktop(&server, &client, "e7", &[]).await;
    let concealed = json!({ "url": "https://shop.test/login" });
    server.runtime.guest(&desk.id).answer("conceal_field", concealed);
    vendors.say("groq", clicks());
    vendors.say("groq", clicks());
    let fields = json!({ "Amount": "4711", "Code": "${vault:shop-login}" });
    let input = within(&desk, json!({ "fields": fields, "model": MODEL }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    assert_eq!(done["fields"][0]["found_by"], "model", "{done}");
    assert_eq!((&done["steps_used"], &done["model"]), (&json!(2), &json!(MODEL)), "{done}");
    assert_eq!(done["fields_filled"], json!(["Amount", "Code"]));
    for request in vendors.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains("4711") && !body.contains(SECRET), "values are not for the model");
    }
    let input = within(&desk, json!({ "fields": { "Amount": "1" }, "_mode": "structured" }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    assert_eq!((&done["outcome"], &done["fields_filled"]), (&json!("stuck"), &json!([])), "{done}");
}

#[tokio::test]
async fn a_program_without_an_api_is_started_and_used() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client, "e9", &[]).await;
    server.runtime.guest(&desk.id).answer("verify", json!({
        "holds": true, "duration_ms": 1, "evidence": [
            { "condition": "all[0]", "check": "window_open", "holds": true, "found": "Calculator" }],
    }));
    let success = json!({ "all": [{ "check": "window_open", "name": "Calculator" }] });
    let input =
        within(&desk, json!({ "instruction": "Clear it", "success": success, "model": MODEL }));
    let done = output(&client, "desktop.legacy_app_action", &input).await;
    assert_eq!(
        (&done["completed"], &done["evidence"].as_array().unwrap().len()),
        (&json!(true), &1),
        "{done}"
    );
    let guest = server.runtime.guest(&desk.id);
    let program = "no-such";
    guest.end_program(program, 127, "", "not found");
    let input = within(&desk, json!({ "instruction": "Clear it", "command": program }));
    let failed = ask(&client, "desktop.legacy_app_action", &input).await;
    assert!(failed.text().contains("no-such failed"), "{}", failed.text());
}

fn says(tool: &str, arguments: Value) -> Value {
    writes(&json!({ "tool": tool, "arguments": arguments, "reasoning": "why" }).to_string(), "stop")
}

/// A page of a test, whose assertions hold or not.
async fn page(server: &FakeServer, client: &Client, holds: bool) -> String {
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
