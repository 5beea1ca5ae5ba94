//! Runs of vision whose provider fails in the middle, or whose browser would leave the scope.

use helmdeck_testkit::{Client, Desk, FakeVendors, VendorFault, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use http::Method;
use serde_json::{Value, json};

use crate::{models::server, vision::desktop};

const SHORT: [(&str, &str); 2] =
    [("HELMDECK_MODEL_TIMEOUT_S", "1"), ("HELMDECK_MODEL_IDLE_TIMEOUT_S", "1")];

fn ann(server: &FakeServer) -> Client {
    server.client("ann", "sessions:*,models:use")
}

/// A reply that moves the pointer, or clicks.
fn reply(action: &str) -> Value {
    let arguments = json!({ "action": action, "coordinate": [10, 10] }).to_string();
    let function = json!({ "name": "computer", "arguments": arguments });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
}

async fn click_save(client: &Client, desk: &Desk<'_>, more: Value) -> Value {
    let path = format!("/api/v1/sessions/{}/vision/act", desk.id);
    let mut body =
        json!({ "instruction": "Click Save", "model": "groq/llama-4-scout", "max_steps": 4 });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.send(Method::POST, &path, &[], body.to_string().into()).await.expect(200).json()
}

#[tokio::test]
async fn a_provider_that_fails_after_a_step_ends_the_run_and_its_steps_stay() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &SHORT).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    for fault in [
        VendorFault::Status(500, None),
        VendorFault::Stall,
        // It is left alone for that time.
        VendorFault::Status(429, Some("60")),
    ] {
        vendors.say("groq", reply("mouse_move"));
        vendors.fail_after("groq", 1, fault, 1);
        let before = vendors.count("groq");
        let run = click_save(&client, &desk, json!({})).await;
        assert_eq!(run["outcome"], "provider_error", "{fault:?} {run}");
        assert_eq!(vendors.count("groq") - before, 2, "{fault:?} {run}");
        assert_eq!(run["model_calls"], 2, "{fault:?} {run}");
        assert_eq!(run["steps"].as_array().unwrap().len(), 1, "{fault:?} {run}");
        assert!(run["spent"]["output_tokens"].as_u64().unwrap() > 0, "{fault:?} {run}");
        assert!(run["final_shot"]["data"].is_string(), "{fault:?} {run}");
    }
}

#[tokio::test]
async fn a_budget_that_is_used_up_after_a_step_ends_the_run_and_its_steps_stay() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let refused = click_save(&client, &desk, json!({ "budget": { "tokens": 1 } })).await;
    let reason = refused["reason"].as_str().unwrap();
    let first = reason.rsplit_once("this call could use ").unwrap().1;
    let digits: String = first.chars().take_while(char::is_ascii_digit).collect();
    let enough = digits.parse::<u64>().unwrap() + 50;
    vendors.say("groq", reply("mouse_move"));
    let run = click_save(&client, &desk, json!({ "budget": { "tokens": enough } })).await;
    assert_eq!((&run["outcome"], &run["model_calls"]), (&json!("budget"), &json!(2)), "{run}");
    assert_eq!(run["steps"].as_array().unwrap().len(), 1, "{run}");
    assert_eq!(vendors.count("groq"), 1);
}

#[tokio::test]
async fn what_the_browser_refused_to_open_is_a_question_to_people() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let guest = server.runtime.guest(&desk.id);
    guest.answer("sites", json!({ "urls": ["https://evil.test/login"] }));
    vendors.say("groq", reply("mouse_move"));
    let run = click_save(&client, &desk, json!({ "confirm_timeout_s": 0 })).await;
    assert_eq!(run["outcome"], "needs_confirmation", "{run}");
    assert!(run["question"].as_str().unwrap().contains("evil.test"), "{run}");
    let limits = guest.bodies("sites");
    let own = &limits[0]["sites"];
    assert!(limits[0]["owner"].as_str().is_some_and(|owner| !owner.is_empty()), "{limits:?}");
    assert!(own.to_string().contains("shop.test"), "{limits:?}");
    assert_eq!(limits.last().unwrap()["sites"], Value::Null, "the limit ends with the run");
}

#[tokio::test]
async fn a_download_that_began_between_steps_is_a_question_to_people() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let guest = server.runtime.guest(&desk.id);
    guest.answer("sites", json!({ "urls": [], "downloads": 1 }));
    // "Save" asks for a download.
    let asks = json!({ "confirm_timeout_s": 0, "instruction": "Click Close" });
    let run = click_save(&client, &desk, asks).await;
    assert_eq!(run["outcome"], "needs_confirmation", "{run}");
    assert!(run["question"].as_str().unwrap().contains("a download began"), "{run}");
}

#[tokio::test]
async fn a_fallback_that_answers_is_paid_at_its_own_price() {
    let vendors = FakeVendors::start().await;
    let rule = r#"[{"primary":"groq/llama-4-scout","fallbacks":["openai/gpt-4o-mini"],"triggers":["error"]}]"#;
    // A million tokens costs ten dollars with the one, and two hundred with the other.
    let prices = r#"{"groq/llama-4-scout":{"input":10,"output":10},"openai/gpt-4o-mini":{"input":200,"output":200}}"#;
    let more = [("HELMDECK_GATEWAY_FALLBACK_JSON", rule), ("HELMDECK_MODEL_PRICES_JSON", prices)];
    let server = server(&vendors, &["groq", "openai"], &more).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    vendors.fail("groq", VendorFault::Status(500, None), 10);
    vendors.say("openai", reply("mouse_move"));
    let run = click_save(&client, &desk, json!({ "max_steps": 1 })).await;
    assert_eq!(run["model_calls"], 1, "{run}");
    let spent = |name: &str| run["spent"][name].as_f64().unwrap();
    let tokens = spent("input_tokens") + spent("output_tokens");
    assert!(spent("cost_usd") > tokens * 50.0 / 1e6, "{run}");
}

#[tokio::test]
async fn a_run_whose_sites_cannot_be_limited_ends_before_it_acts() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let client = ann(&server);
    let desk = desktop(&server, &client).await;
    let guest = server.runtime.guest(&desk.id);
    guest.refuse("sites", ErrorBody::new(ErrorCode::Timeout, "the browser does not answer"));
    let run = click_save(&client, &desk, json!({})).await;
    assert_eq!(run["outcome"], "cancelled", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("cannot be limited"), "{run}");
    assert_eq!((vendors.requests().len(), guest.bodies("click").len()), (0, 0));
}
