//! Goals on a desktop, with fake guests and with vendors that check what they get.

use helmdeck_testkit::{Answer, Client, Desk, FakeVendors, VendorFault, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use http::Method;
use serde_json::{Value, json};

use crate::models::server;

/// A desktop with a page and one button, which the guest tells only after a click.
pub async fn desktop<'a>(server: &FakeServer, client: &'a Client) -> Desk<'a> {
    let desk = Desk::desktop(client).await;
    let guest = server.runtime.guest(&desk.id);
    let rect = json!({ "x": 0, "y": 0, "width": 1280, "height": 700 });
    let window = json!({
        "id": "1", "name": "Shop", "class": "Chromium", "url": "https://shop.test/", "rect": rect,
        "focused": true,
    });
    guest.answer(
        "tree",
        json!({
            "id": 1, "delta": false, "windows": [window], "nodes": [], "truncated": false,
        }),
    );
    guest.answer("find", json!({ "candidates": [], "count": 0 }));
    guest.answer(
        "click",
        json!({
            "ok": true, "x": 100, "y": 100, "button": "1", "changed": true, "effect": "confirmed",
            "effects": ["confirmed"], "acted_at": { "x": 100, "y": 100 },
            "trace": { "before": "crop-7-before", "after": "crop-7-after" },
            "hit": { "role": "button", "name": "Save", "source": "dom" },
        }),
    );
    guest.answer(
        "mouse_move",
        json!({
            "ok": true, "x": 1, "y": 1, "changed": false, "effect": "no_visible_change",
        }),
    );
    desk
}

async fn act(client: &Client, desk: &Desk<'_>, body: Value) -> Answer {
    let path = format!("/api/v1/sessions/{}/vision/act", desk.id);
    client.send(Method::POST, &path, &[], body.to_string().into()).await
}

fn ann(server: &FakeServer) -> Client {
    server.client("ann", "sessions:*,models:use")
}

#[tokio::test]
async fn one_element_with_the_name_is_clicked_without_a_model() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let rect = json!({ "x": 90, "y": 90, "width": 20, "height": 20 });
    let save = json!({
        "role": "button", "name": "Save", "rect": rect, "confidence": 1.0, "source": "dom",
    });
    server.runtime.guest(&desk.id).answer("find", json!({ "candidates": [save], "count": 1 }));
    let run = act(&client, &desk, json!({ "goal": "Click Save" })).await.expect(200).json();
    assert_eq!((&run["outcome"], &run["model_calls"]), (&json!("completed"), &json!(0)), "{run}");
    assert_eq!(run["steps"][0]["without_model"], true);
    let pictures = json!({ "before": "crop-7-before", "after": "crop-7-after" });
    assert_eq!(run["steps"][0]["pictures"], pictures);
    assert!(run["final_shot"]["data"].as_str().is_some_and(|data| !data.is_empty()));
    assert_eq!(vendors.requests().len(), 0);
    let asked = server.runtime.guest(&desk.id).bodies("click").last().cloned().unwrap();
    assert_eq!((&asked["x"], &asked["y"], &asked["hit"]), (&json!(100), &json!(100), &json!(true)));
}

/// What a model of each vendor says: first it points, then it clicks.
fn replies(vendor: &str) -> [Value; 2] {
    let one = |name: &str, at: [i32; 2]| match vendor {
        "anthropic" => json!({ "stop_reason": "tool_use", "content": [
            { "type": "text", "text": "I see it." },
            { "type": "tool_use", "id": format!("toolu_{name}"), "name": name, "toolset_name": "computer",
              "input": { "coordinate": at } },
        ] }),
        "openai" => {
            let kind = if name == "left_click" { "click" } else { "move" };
            json!({ "output": [{
                "type": "computer_call", "id": "cu", "call_id": format!("call_{name}"), "status": "completed",
                "pending_safety_checks": [],
                "actions": [{ "type": kind, "button": "left", "x": at[0], "y": at[1] }],
            }] })
        }
        "gemini" => {
            let kind = if name == "left_click" { "click" } else { "move" };
            let call = json!({ "name": kind, "args": { "x": at[0], "y": at[1] } });
            let part = json!({ "functionCall": call, "thoughtSignature": "c2ln" });
            let content = json!({ "role": "model", "parts": [part] });
            json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] })
        }
        _ => {
            let arguments = json!({ "action": name, "coordinate": at }).to_string();
            let function = json!({ "name": "computer", "arguments": arguments });
            let call =
                json!({ "id": format!("call_{name}"), "type": "function", "function": function });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
            json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
        }
    };
    [one("mouse_move", [1, 1]), one("left_click", [10, 10])]
}

#[tokio::test]
async fn vendors_get_their_own_tools_and_results_as_they_demand_them() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["anthropic", "openai", "gemini", "groq"], &[]).await;
    let client = ann(&server);
    for (vendor, model, dialect) in [
        ("anthropic", "anthropic/claude-opus-5", "computer_toolset_20260801"),
        ("openai", "openai/gpt-5.4", "computer"),
        ("gemini", "gemini/gemini-3.5-flash", "computer_use"),
        ("groq", "groq/llama-4-scout", "function"),
    ] {
        let desk = desktop(&server, &client).await;
        for reply in replies(vendor) {
            vendors.say(vendor, reply);
        }
        let body = json!({ "instruction": "Click Save", "model": model, "max_steps": 4 });
        let run = act(&client, &desk, body).await.expect(200).json();
        assert_eq!(
            (&run["outcome"], &run["dialect"]),
            (&json!("completed"), &json!(dialect)),
            "{run}"
        );
        assert_eq!((&run["model_calls"], vendors.count(vendor)), (&json!(2), 2), "{vendor}");
        let (input, _, output) = FakeVendors::USAGE;
        assert_eq!(run["spent"]["output_tokens"], output * 2, "{vendor} {run}");
        assert!(run["spent"]["input_tokens"].as_u64().unwrap() >= input);
        assert_eq!(run["steps"][1]["hit"]["name"], "Save");
        assert!(run["evidence"][0].as_str().unwrap().contains("Save"));
        // The picture is a tenth of the screen, and positions are those of the screen.
        let clicked = server.runtime.guest(&desk.id).bodies("click").last().cloned().unwrap();
        assert!(clicked["x"].as_i64().unwrap() > 0, "{clicked}");
    }
}

#[tokio::test]
async fn people_see_every_step() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    for reply in replies("groq") {
        vendors.say("groq", reply);
    }
    let body =
        json!({ "instruction": "Click Save", "model": "groq/llama-4-scout", "max_steps": 7 });
    let path = format!("/api/v1/sessions/{}/vision/act?stream=true", desk.id);
    let answer = client.send(Method::POST, &path, &[], body.to_string().into()).await.expect(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let text = answer.text();
    assert_eq!(text.matches("event: step").count(), 2, "{text}");
    let last = text.rsplit("event: result").next().unwrap();
    assert!(last.contains("\"outcome\":\"completed\""), "{text}");
    let path = format!("/api/v1/sessions/{}/actions", desk.id);
    let actions = client.get(&path).await.expect(200).text();
    assert!(actions.contains("groq/llama-4-scout · step 2/7 · clicking at"), "{actions}");
}

#[tokio::test]
async fn failures_end_a_run_with_their_name_and_the_trace_stays() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let goal = |more: Value| {
        let mut body = json!({ "instruction": "Click Save", "model": "groq/llama-4-scout" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    vendors.fail("groq", VendorFault::Status(500, None), 1);
    let run = act(&client, &desk, goal(json!({}))).await.expect(200).json();
    assert_eq!(run["outcome"], "provider_error", "{run}");
    let run =
        act(&client, &desk, goal(json!({ "budget": { "tokens": 1 } }))).await.expect(200).json();
    assert_eq!(run["outcome"], "budget", "{run}");
    let run =
        act(&client, &desk, goal(json!({ "model": "mistral/some" }))).await.expect(200).json();
    assert_eq!(run["outcome"], "provider_error", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("key"), "{run}");
    vendors.say("groq", replies("groq")[1].clone());
    let held = ErrorBody::new(ErrorCode::ControlTaken, "bob took control");
    server.runtime.guest(&desk.id).refuse("click", held);
    let run = act(&client, &desk, goal(json!({}))).await.expect(200).json();
    assert_eq!(
        (&run["outcome"], run["steps"].as_array().unwrap().len()),
        (&json!("control_taken"), 1)
    );
}

#[tokio::test]
async fn a_run_needs_an_instruction_a_desktop_and_the_right_to_use_models() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let refused = act(&client, &desk, json!({})).await;
    assert_eq!((refused.status, &refused.json()["field"]), (400, &json!("instruction")));
    let unknown = act(&client, &desk, json!({ "instruction": "x", "model": "nobody/x" })).await;
    assert_eq!(unknown.json()["error"], "model_not_found");
    let without = server.client("ann", "sessions:*");
    let refused = act(&without, &desk, json!({ "instruction": "Click Save" })).await;
    assert_eq!(refused.json()["error"], "forbidden");
    let other = server.client("bob", "sessions:*,models:use");
    let hidden = act(&other, &desk, json!({ "instruction": "Click Save" })).await;
    assert_eq!(hidden.json()["error"], "not_found");
}
