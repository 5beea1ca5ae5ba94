//! Providers that fail: what is tried again, what is not, and what the client learns.

use helmdeck_testkit::{FakeVendors, VendorFault, eventually};
use http::Method;
use serde_json::{Value, json};

use super::{CHAT, MESSAGES, RESPONSES, SOON, ann, chat, said, server, used, with};

const SHORT: [(&str, &str); 2] =
    [("HELMDECK_MODEL_TIMEOUT_S", "1"), ("HELMDECK_MODEL_IDLE_TIMEOUT_S", "1")];
const FALLBACK: &str = r#"[{"primary":"openai/gpt-4o-mini","fallbacks":["anthropic/claude-haiku-4-5"],"triggers":["rate_limit","error"]}]"#;

fn streamed(model: &str) -> Value {
    with(chat(model, "a long answer"), "stream", json!(true))
}

#[tokio::test]
async fn a_provider_that_asks_to_wait_is_asked_again_after_that_time() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    for status in [429, 503, 529] {
        vendors.fail("openai", VendorFault::Status(status, Some("0.1")), 1);
        let before = vendors.count("openai");
        let answer = ann(&server).post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(200);
        assert_eq!(said(&answer), "Hello from openai.");
        assert_eq!(vendors.count("openai") - before, 2, "{status}");
    }
}

#[tokio::test]
async fn a_long_wait_is_told_to_the_client_and_kept() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = ann(&server);
    vendors.fail("openai", VendorFault::Status(429, Some("60")), 1);
    let refused = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(429);
    assert_eq!(refused.header("retry-after"), "60");
    assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
    // Until then, the provider is left alone.
    let refused = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(429);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 50);
    assert_eq!(vendors.count("openai"), 1);
    // Other models are not concerned.
    ann.post(CHAT, &chat("openai/gpt-4o", "hi")).await.expect(200);
}

#[tokio::test]
async fn another_model_answers_where_a_rule_says_so() {
    let vendors = FakeVendors::start().await;
    let rule = [("HELMDECK_GATEWAY_FALLBACK_JSON", FALLBACK)];
    let server = server(&vendors, &["openai", "anthropic"], &rule).await;
    let ann = ann(&server);
    for (number, fault) in [
        VendorFault::Status(500, None),
        VendorFault::Status(401, None),
        VendorFault::Status(429, Some("0.01")),
    ]
    .into_iter()
    .enumerate()
    {
        vendors.fail("openai", fault, 1);
        let answer = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(200);
        assert_eq!(said(&answer), "Hello from anthropic.", "{fault:?}");
        assert_eq!(answer.header("x-helmdeck-instead-of"), "openai/gpt-4o-mini");
        assert_eq!(vendors.count("openai"), number + 1, "asked once");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // A wrong request is wrong for every model.
    let before = vendors.count("anthropic");
    let wrong = json!({ "model": "openai/gpt-4o-mini", "messages": [] });
    ann.post(CHAT, &wrong).await.expect(400);
    assert_eq!(vendors.count("anthropic"), before);
    // A stream that begins with an error has not begun.
    vendors.fail("openai", VendorFault::ErrorAsStream, 1);
    let answer = ann.post(CHAT, &streamed("openai/gpt-4o-mini")).await.expect(200);
    assert_eq!(answer.header("x-helmdeck-model"), "anthropic/claude-haiku-4-5");
}

#[tokio::test]
async fn each_model_of_a_chain_answers_after_its_own_failures_only() {
    let vendors = FakeVendors::start().await;
    let chain = r#"[{"primary":"openai/gpt-4o-mini","fallbacks":[
        {"model":"anthropic/claude-haiku-4-5","triggers":["timeout"]},
        {"model":"groq/without-a-key","triggers":["rate_limit"]},
        {"model":"gemini/gemini-3.5-flash","triggers":["rate_limit"]}]}]"#;
    let settings = [SHORT[0], SHORT[1], ("HELMDECK_GATEWAY_FALLBACK_JSON", chain)];
    let server = server(&vendors, &["openai", "anthropic", "gemini"], &settings).await;
    let ann = ann(&server);
    for (fault, expected) in [
        (VendorFault::Status(429, Some("0.01")), "Hello from gemini."),
        (VendorFault::Stall, "Hello from anthropic."),
    ] {
        let before = vendors.count("openai");
        vendors.fail("openai", fault, 1);
        let answer = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(200);
        assert_eq!(said(&answer), expected, "{fault:?}");
        assert_eq!(vendors.count("openai") - before, 1, "asked once");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    // No model of the chain is for errors. One that says "later" is asked again instead.
    vendors.fail("openai", VendorFault::Status(500, None), 1);
    ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(500);
    vendors.fail("openai", VendorFault::Status(503, Some("0.01")), 1);
    let answer = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(200);
    assert_eq!(said(&answer), "Hello from openai.");
    let list = ann.get("/api/v1/models").await.expect(200).json();
    let first = &list["chains"][0]["fallbacks"][0];
    assert_eq!(first["model"], "anthropic/claude-haiku-4-5", "{list}");
    assert_eq!(first["triggers"], json!(["timeout"]));
}

#[tokio::test]
async fn a_call_that_may_have_been_paid_for_is_never_repeated() {
    let vendors = FakeVendors::start().await;
    let settings = [SHORT[0], SHORT[1], ("HELMDECK_GATEWAY_FALLBACK_JSON", FALLBACK)];
    let server = server(&vendors, &["openai", "anthropic"], &settings).await;
    let ann = ann(&server);
    vendors.fail("openai", VendorFault::Stall, 1);
    let late = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(504);
    assert_eq!(late.header("x-should-retry"), "false", "SDKs do not repeat it either");
    assert_eq!(late.json()["error"]["code"], "timeout");
    vendors.fail("openai", VendorFault::Garbage, 1);
    let garbage = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(502);
    assert_eq!(garbage.header("x-should-retry"), "false");
    let message = garbage.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("model returned no parseable JSON"), "{message}");
    vendors.fail("openai", VendorFault::Empty, 1);
    let empty = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(502).json();
    assert!(empty["error"]["message"].as_str().unwrap().contains("model returned no choices"));
    assert_eq!((vendors.count("openai"), vendors.count("anthropic")), (3, 0));
    // It counts as used, by our estimate.
    let row = used(&ann, "gpt-4o-mini", 3).await;
    assert_eq!(row["success"], 0);
    assert!(row["input_tokens"].as_u64().unwrap() > 0, "{row}");
}

#[tokio::test]
async fn a_server_error_is_not_repeated_and_a_rejected_key_is_not_the_clients() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let ann = ann(&server);
    vendors.fail("openai", VendorFault::Status(500, None), 1);
    let failed = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(500);
    assert_eq!(failed.json()["error"]["message"], "openai says 500");
    assert_eq!(failed.header("x-should-retry"), "false", "SDKs do not repeat it either");
    for status in [409, 502, 504] {
        vendors.fail("openai", VendorFault::Status(status, None), 1);
        let failed = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(status);
        assert_eq!(failed.header("x-should-retry"), "false", "{status}");
    }
    vendors.fail("openai", VendorFault::Status(401, None), 1);
    let refused = ann.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(400).json();
    assert_eq!(refused["error"]["code"], "credential_invalid", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("add-key openai"), "{refused}");
    assert_eq!(vendors.count("openai"), 5);
    assert_eq!(used(&ann, "gpt-4o-mini", 5).await["input_tokens"], 0);
}

#[tokio::test]
async fn a_stream_that_stops_early_ends_with_an_error_in_every_family() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai", "anthropic", "gemini"], &SHORT).await;
    let ann = ann(&server);
    for fault in [VendorFault::CutInStream, VendorFault::StallInStream, VendorFault::ErrorInStream]
    {
        for model in ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash"]
        {
            let vendor = model.split('/').next().unwrap();
            for (path, mark) in [
                (CHAT, "data: {\"error\":"),
                (MESSAGES, "event: error\n"),
                (RESPONSES, "event: response.failed\n"),
            ] {
                let body = with(streamed(model), "input", json!("a long answer"));
                let mut body = body;
                let unwanted = if path == RESPONSES { "messages" } else { "input" };
                body.as_object_mut().unwrap().remove(unwanted);
                if path == RESPONSES {
                    body.as_object_mut().unwrap().remove("max_tokens");
                }
                vendors.fail(vendor, fault, 1);
                let before = vendors.count(vendor);
                let events = ann.post(path, &body).await.expect(200).text();
                // An error of the vendor in the client's own family passes as it is.
                let marks = [mark, "data: {\"error\":"];
                assert!(
                    marks.iter().any(|mark| events.contains(mark)),
                    "{fault:?} {model} {path}: {events}"
                );
                assert!(!events.contains("[DONE]") && !events.contains("message_stop"), "{events}");
                assert!(!events.contains("response.completed"), "{events}");
                assert_eq!(vendors.count(vendor) - before, 1, "not repeated");
            }
        }
    }
    let row = used(&ann, "claude-haiku-4-5", 9).await;
    assert_eq!(row["success"], 0);
    assert!(row["output_tokens"].as_u64().unwrap() > 0, "what was seen is counted: {row}");
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_the_call() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai", "anthropic"], &[]).await;
    let ann = ann(&server);
    for (number, model) in ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5"].iter().enumerate() {
        let vendor = model.split('/').next().unwrap();
        vendors.fail(vendor, VendorFault::StallInStream, 1);
        let asked = async || (vendors.count(vendor) == 1).then_some(());
        let until_asked = async { assert!(eventually(SOON, asked).await.is_some()) };
        ann.abandon(CHAT, &streamed(model), until_asked).await;
        let gone = async || (vendors.abandoned() == number + 1).then_some(());
        assert!(eventually(SOON, gone).await.is_some(), "{model}");
        let row = used(&ann, model.split('/').nth(1).unwrap(), 1).await;
        assert_eq!(row["success"], 0);
    }
}

#[tokio::test]
async fn an_address_that_the_operator_chose_may_be_on_this_machine() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let body = chat("openai/gpt-4o-mini", "hi").to_string();
    ann(&server).send(Method::POST, CHAT, &[], body.into()).await.expect(200);
    let settings = [("HELMDECK_OLLAMA_BASE_URL", "http://127.0.0.1:9")];
    let other = helmdeck_testkit::fake::FakeServer::start_with(&settings).await;
    let refused = ann(&other).post(CHAT, &chat("ollama/llama3", "hi")).await.expect(502).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("cannot be reached") && message.contains("start Ollama"), "{message}");
}
