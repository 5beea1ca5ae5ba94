//! Packs that use models, with fake guests and with vendors that check what they get.

use helmdeck_testkit::{Client, Desk, FakeVendors, VendorFault, fake::FakeServer};
use serde_json::{Value, json};

use crate::{
    models::server,
    outside::{ask, credential, output},
};

pub const MODEL: &str = "groq/llama-4-scout";
const SECRET: &str = "correct-horse-battery-staple";
pub const SCOPES: &str = "sessions:*,models:use,vault:*";

pub fn ann(server: &FakeServer) -> Client {
    server.client("ann", SCOPES)
}

fn rect(x: i32, y: i32) -> Value {
    json!({ "x": x, "y": y, "width": 200, "height": 20 })
}

pub fn element(reference: &str, role: &str, name: &str, value: &str, y: i32) -> Value {
    json!({
        "ref": reference, "role": role, "name": name, "value": value, "rect": rect(90, y),
        "confidence": 1.0, "source": "dom", "window": "1",
    })
}

/// A desktop with a page. `focus` has the keyboard focus.
pub async fn desktop<'a>(
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

pub fn within(desk: &Desk<'_>, mut input: Value) -> Value {
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
pub fn writes(text: &str, finish: &str) -> Value {
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
    let status = "groq/llama-4-scout · step 1/1 · reading the screen";
    assert!(actions.contains(status), "{actions}");

    let calls = vendors.requests().len();
    let input = within(&desk, json!({ "_mode": "structured" }));
    let read = output(&client, "vision.extract_visible_text", &input).await;
    assert_eq!((&read["text"], &read["source"]), (&json!("Shop\nTotal\n12"), &json!("elements")));
    assert_eq!(vendors.requests().len(), calls);

    // It is a run, and a session has one at a time.
    let path = format!("/api/v1/sessions/{}/vision", desk.id);
    let run = client.get(&path).await.expect(200).json()["run"].clone();
    assert_eq!((&run["outcome"], &run["mode"]), (&json!("completed"), &json!("structured")));
    assert_eq!(run["steps"][0]["action"]["action"], "read", "{run}");
    vendors.fail("groq", VendorFault::Stall, 1);
    let goal = json!({ "instruction": "Click Nothing", "model": MODEL });
    client.post(&format!("{path}/start"), &goal).await.expect(202);
    let refused = ask(&client, "vision.extract_visible_text", &input).await;
    refused.expect_error(409, "not_ready");
    client.post(&format!("{path}/stop"), &json!({})).await.expect(200);
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
    let steps = run["steps"].as_array().unwrap();
    let part = |name: &str| steps.iter().map(|step| step[name].clone()).collect::<Vec<_>>();
    assert_eq!(part("step"), [1, 2, 3], "two fields and the button: {run}");
    assert_eq!(part("said"), ["Name", "Password", "Sign in"]);
    assert_eq!(steps[0]["action"]["action"], "fill");
    assert_eq!(steps[0]["action"]["at"], json!({ "x": 190, "y": 100 }), "it is shown where");
    assert_eq!(steps[0]["hit"]["role"], "textbox", "{run}");
    assert_eq!(steps[2]["action"]["action"], "click");
    assert!(!run.to_string().contains(SECRET) && !run["steps"].to_string().contains("Ann"));

    let fields = json!({ "Password": "${vault:other-login}" });
    let input = within(&desk, json!({ "fields": fields, "model": MODEL, "submit": "Sign in" }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    let asks = json!("needs_confirmation");
    assert_eq!((&done["completed"], &done["outcome"]), (&json!(false), &asks), "{done}");
    assert!(done["reason"].as_str().unwrap().contains("it is for other.test"), "{done}");
    assert!(done["question"].as_str().unwrap().contains("shop.test"), "{done}");
    assert_eq!(guest.bodies("type").len(), 2, "a secret for another host is not typed");

    // The window shows a page of the host, but the field is in a frame of another site.
    guest.answer("conceal_field", json!({ "url": "https://frames.test/login" }));
    let fields = json!({ "Password": "${vault:shop-login}" });
    let input = within(&desk, json!({ "fields": fields, "model": MODEL }));
    let done = output(&client, "vision.fill_form_by_label", &input).await;
    assert_eq!(done["outcome"], "needs_confirmation", "{done}");
    assert!(done["question"].as_str().unwrap().contains("frames.test"), "{done}");
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
