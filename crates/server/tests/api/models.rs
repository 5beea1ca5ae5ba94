//! Models through the APIs of OpenAI and Anthropic, against fakes that enforce what vendors document.

mod budgets;
mod faults;
mod logs;
mod translation;

use std::time::Duration;

use helmdeck_testkit::{Answer, Client, FakeVendors, eventually, fake::FakeServer};
use http::Method;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(10);
pub const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";

/// A server with keys for these providers, and more settings.
pub async fn server(vendors: &FakeVendors, keys: &[&str], more: &[(&str, &str)]) -> FakeServer {
    let env = vendors.environment(keys);
    let env = env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<_> = env.chain(more.iter().copied()).collect();
    FakeServer::start_with(&env).await
}

pub fn ann(server: &FakeServer) -> Client {
    server.client("ann", "models:use")
}

/// A request of Chat.
pub fn chat(model: &str, words: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": words }], "max_tokens": 50 })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

fn said(answer: &Answer) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
}

/// What was used of a model in the last day, once there are as many calls.
async fn used(client: &Client, model: &str, calls: u64) -> Value {
    let row = async || {
        let usage = client.get("/api/v1/models/usage").await.expect(200).json();
        let rows = usage["rows"].as_array().unwrap().clone();
        rows.into_iter().find(|row| row["model"] == model && row["total"] == calls)
    };
    eventually(SOON, row).await.expect("the calls are recorded")
}

#[tokio::test]
async fn a_request_in_the_family_of_its_provider_passes_through_unchanged() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai", "anthropic"], &[]).await;
    let ann = ann(&server);
    // Its spelling, order and unknown fields stay.
    let body = r#"{"zeta": 1.50, "model":"openai/gpt-4o-mini","messages":[ {"role":"user","content":"hi"}],"new_field":{"b":1,"a":2}}"#;
    let answer = ann.send(Method::POST, CHAT, &[], body.into()).await.expect(200);
    assert_eq!(said(&answer), "Hello from openai.");
    assert_eq!(answer.json()["vendor_field"], json!({ "kept": true }));
    assert_eq!(answer.header("x-helmdeck-model"), "openai/gpt-4o-mini");
    let sent = vendors.last("openai");
    let expected = r#"{"zeta":1.50,"model":"gpt-4o-mini","messages":[ {"role":"user","content":"hi"}],"new_field":{"b":1,"a":2}}"#;
    assert_eq!(String::from_utf8_lossy(&sent.body), expected);
    assert_eq!(sent.headers["authorization"], format!("Bearer {}", FakeVendors::KEY));

    let body = json!({
        "model": "anthropic/claude-haiku-4-5", "max_tokens": 9, "thinking": { "type": "disabled" },
        "messages": [{ "role": "user", "content": "hi" }],
    });
    let beta = [("anthropic-version", "2023-06-01"), ("anthropic-beta", "some-beta")];
    let answer = ann.send(Method::POST, MESSAGES, &beta, body.to_string().into()).await.expect(200);
    assert_eq!(answer.json()["content"][0]["text"], "Hello from anthropic.");
    let sent = vendors.last("anthropic");
    assert_eq!(sent.json(), with(body, "model", json!("claude-haiku-4-5")));
    assert_eq!(sent.headers["anthropic-beta"], "some-beta");
    assert!(sent.headers.get("authorization").is_none(), "our own token stays here");
}

#[tokio::test]
async fn a_token_is_accepted_as_each_sdk_sends_it_and_refused_in_its_words() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let stranger = server.stranger();
    let body = chat("openai/gpt-4o-mini", "hi");
    let token = server.token("ann", "models:use");
    let key = [("x-api-key", token.as_str())];
    stranger.send(Method::POST, CHAT, &key, body.to_string().into()).await.expect(200);

    let refused = stranger.post(CHAT, &body).await.expect(401).json();
    assert_eq!(refused["error"]["type"], "authentication_error", "{refused}");
    assert_eq!(refused["error"]["code"], "missing_bearer");
    let refused = stranger.post(MESSAGES, &body).await.expect(401).json();
    assert_eq!(
        (&refused["type"], &refused["error"]["type"]),
        (&json!("error"), &json!("authentication_error"))
    );
    let bad = [("x-api-key", "sk-ant-nonsense")];
    stranger.send(Method::POST, MESSAGES, &bad, body.to_string().into()).await.expect(401);
    let bob = server.client("bob", "sessions:*");
    let refused = bob.post(CHAT, &body).await.expect(403).json();
    assert_eq!(refused["error"]["type"], "permission_error", "{refused}");
    assert_eq!(vendors.count("openai"), 1);
    // Elsewhere, the header means nothing.
    stranger.send(Method::GET, "/api/v1/models", &key, Default::default()).await.expect(401);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_before_it_is_sent() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["anthropic"], &[]).await;
    let ann = ann(&server);
    for (path, body, status, code, word) in [
        (CHAT, chat("gpt-4o-mini", "x"), 400, "invalid_input", "names no provider"),
        (CHAT, chat("nobody/x", "x"), 404, "model_not_found", "no provider is called nobody"),
        (CHAT, chat("openai/x", "x"), 503, "no_model_key", "helmdeck models add-key openai"),
        (
            CHAT,
            with(chat("anthropic/claude-haiku-4-5", "x"), "n", json!(2)),
            400,
            "invalid_input",
            "n: the provider of this model has no equivalent",
        ),
        (
            RESPONSES,
            json!({ "model": "anthropic/c", "input": "x", "previous_response_id": "resp_1" }),
            400,
            "invalid_input",
            "previous_response_id",
        ),
    ] {
        let refused = ann.post(path, &body).await.expect(status);
        let error = refused.json()["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
    let not_json = ann.send(Method::POST, CHAT, &[], "[1]".into()).await.expect(400).json();
    assert_eq!(not_json["error"]["code"], "invalid_json");
    assert!(vendors.requests().is_empty());
}

#[tokio::test]
async fn an_error_of_the_vendor_reaches_the_client_in_its_own_words() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["anthropic", "openai"], &[]).await;
    let ann = ann(&server);
    // In the same family, as it is.
    let body = json!({ "model": "anthropic/c", "messages": [{ "role": "user", "content": "x" }] });
    let refused = ann.post(MESSAGES, &body).await.expect(400).json();
    assert_eq!(refused["error"]["message"], "max_tokens: Field required", "{refused}");
    let order = json!({ "model": "openai/gpt-4o-mini", "messages": [
        { "role": "user", "content": "x" },
        { "role": "tool", "tool_call_id": "c", "content": "y" },
    ] });
    let refused = ann.post(CHAT, &order).await.expect(400).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("preceeding"), "{refused}");
    let missing = ann.post(CHAT, &chat("openai/missing", "x")).await.expect(404).json();
    assert_eq!(missing["error"]["code"], "model_not_found");
    // In another family, in that family's shape.
    let large = format!("data:image/png;base64,{}", "A".repeat(6 << 20));
    let image = json!([{ "type": "image_url", "image_url": { "url": large } }]);
    let body =
        with(chat("anthropic/c", ""), "messages", json!([{ "role": "user", "content": image }]));
    let refused = ann.post(CHAT, &body).await.expect(400).json();
    assert_eq!(refused["error"]["type"], "invalid_request_error");
    assert!(refused["error"]["message"].as_str().unwrap().contains("exceeds 5 MB"), "{refused}");
    let toolset = json!({ "model": "anthropic/c", "max_tokens": 9, "messages": [
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t", "name": "left_click", "toolset_name": "computer",
              "input": {} },
        ] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t" }] },
    ] });
    let refused = ann.post(MESSAGES, &toolset).await.expect(400).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("no toolset computer"), "{refused}");
    let toolset = with(toolset, "tools", json!([{ "type": "computer_toolset_20260801" }]));
    let refused = ann.post(MESSAGES, &toolset).await.expect(400).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("toolset_name"), "{refused}");
    // A computer's output is demanded, with what a person agreed to.
    let call = json!({
        "type": "computer_call", "call_id": "c", "action": { "type": "screenshot" },
        "pending_safety_checks": [{ "id": "s1", "code": "x", "message": "A bank." }],
    });
    let shown = json!({
        "type": "computer_call_output", "call_id": "c", "acknowledged_safety_checks": [],
        "output": { "type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA" },
    });
    let mut foreign = shown.clone();
    foreign["acknowledged_safety_checks"] = json!([{ "id": "s1" }, { "id": "s2" }]);
    for (input, expected) in [
        (json!([call, foreign]), "does not belong to this computer call"),
        (json!([call]), "No tool output found"),
        (json!([call, shown]), "safety check that is not acknowledged"),
        (json!([shown]), "No tool call found"),
    ] {
        let body = json!({ "model": "openai/gpt-5.4", "input": input });
        let refused = ann.post(RESPONSES, &body).await.expect(400).json();
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{refused}");
    }
}

#[tokio::test]
async fn a_request_without_a_model_gets_the_default_one_or_its_fallback() {
    let vendors = FakeVendors::start().await;
    let first = server(&vendors, &["openrouter", "openai"], &[]).await;
    let body = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let answer = ann(&first).post(CHAT, &body).await.expect(200);
    assert_eq!(said(&answer), "Hello from openrouter.");
    assert_eq!(vendors.last("openrouter").json()["model"], "openrouter/auto");
    // Without a key for it, the next one answers.
    let second = server(&vendors, &["openai"], &[]).await;
    let answer = ann(&second).post(CHAT, &body).await.expect(200);
    assert_eq!(answer.header("x-helmdeck-model"), "openai/gpt-4o-mini");
    assert_eq!(answer.header("x-helmdeck-instead-of"), "openrouter/auto");
    // Without any, the error says what to do.
    let third = server(&vendors, &[], &[]).await;
    let refused = ann(&third).post(CHAT, &body).await.expect(503);
    assert_eq!(refused.header("x-should-retry"), "false");
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`helmdeck models add-key openrouter`"), "{message}");
}

#[tokio::test]
async fn models_are_listed_for_both_sdks_and_a_provider_that_fails_hides_no_other() {
    let vendors = FakeVendors::start().await;
    let settings = [("HELMDECK_MODEL_PROVIDERS", "broken=http://127.0.0.1:9/v1")];
    let server =
        server(&vendors, &["openai", "anthropic", "gemini", "openrouter"], &settings).await;
    let ann = ann(&server);
    let list = ann.get("/v1/models").await.expect(200).json();
    let ids = list["data"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|model| model["id"].as_str().unwrap()).collect();
    for id in [
        "openai/gpt-4o-mini",
        "anthropic/claude-haiku-4-5",
        "gemini/gemini-2.5-flash",
        "openrouter/auto",
        "openrouter/vendor/unlisted",
        "ollama/gpt-4o-mini",
    ] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    assert_eq!(list["object"], "list");
    let anthropic = [("anthropic-version", "2023-06-01")];
    let list = ann.send(Method::GET, "/v1/models", &anthropic, Default::default()).await.json();
    assert_eq!((&list["has_more"], &list["data"][0]["type"]), (&json!(false), &json!("model")));
    let one = ann.get("/v1/models/openrouter/vendor/unlisted").await.expect(200).json();
    assert_eq!(one["owned_by"], "openrouter");
    ann.get("/v1/models/openai/none").await.expect(404);

    let list = ann.get("/api/v1/models").await.expect(200).json();
    assert_eq!(list["problems"][0]["provider"], "broken", "{list}");
    assert_eq!(list["default_model"], "openrouter/auto");
    assert_eq!(list["fallbacks"], json!(["openai/gpt-4o-mini"]));
    let priced = |id: &str| {
        let models = list["models"].as_array().unwrap();
        models.iter().find(|model| model["id"] == id).unwrap()["input_usd_per_mtok"].clone()
    };
    assert_eq!(priced("openai/gpt-4o-mini"), 0.15);
    assert_eq!(priced("openrouter/vendor/unlisted"), 2.0);
    assert_eq!(priced("openai/unpriced"), Value::Null);
    assert_eq!(priced("ollama/gpt-4o-mini"), 0.0);
}

#[tokio::test]
async fn without_any_model_the_list_says_which_command_adds_a_key() {
    let settings = [("HELMDECK_OLLAMA_BASE_URL", "http://127.0.0.1:9")];
    let server = FakeServer::start_with(&settings).await;
    let list = ann(&server).get("/api/v1/models").await.expect(200).json();
    assert_eq!(list["count"], 0);
    assert!(list["hint"].as_str().unwrap().contains("helmdeck models add-key"), "{list}");
    let providers = ann(&server).get("/api/v1/providers").await.expect(200).json();
    let openai =
        providers["providers"].as_array().unwrap().iter().find(|it| it["name"] == "openai");
    let openai = openai.unwrap();
    assert_eq!((&openai["available"], &openai["needs_key"]), (&json!(false), &json!(true)));
    assert!(openai["hint"].as_str().unwrap().contains("add-key openai"));
}

#[tokio::test]
async fn embeddings_and_counts_are_passed_on_translated_or_estimated() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai", "gemini", "anthropic"], &[]).await;
    let ann = ann(&server);
    let ask = |model: &str| json!({ "model": model, "input": ["one", "two"] });
    let answer = ann.post("/v1/embeddings", &ask("openai/text-embedding-3-small")).await;
    assert_eq!(answer.expect(200).json()["data"].as_array().unwrap().len(), 2);
    let answer = ann.post("/v1/embeddings", &ask("gemini/gemini-embedding-001")).await;
    let answer = answer.expect(200).json();
    assert_eq!(
        answer["data"][1],
        json!({ "object": "embedding", "index": 1, "embedding": [0.25, 0.75] })
    );
    let refused = ann.post("/v1/embeddings", &ask("anthropic/claude-haiku-4-5")).await;
    refused.expect(400);
    used(&ann, "text-embedding-3-small", 1).await;

    let body =
        |model: &str| json!({ "model": model, "messages": [{ "role": "user", "content": "hi" }] });
    let count = async |model| {
        let answer = ann.post("/v1/messages/count_tokens", &body(model)).await;
        answer.expect(200).json()["input_tokens"].as_u64().unwrap()
    };
    assert_eq!(count("anthropic/claude-haiku-4-5").await, 17);
    assert!(count("openai/gpt-4o-mini").await > 0);
}
