//! Clients of every family with models of every family: words, tools, pictures, schemas, streams.

use helmdeck_testkit::{Client, FakeVendors};
use serde_json::{Value, json};

use super::{CHAT, MESSAGES, RESPONSES, ann, chat, said, server, used, with};

const KEYS: [&str; 5] = ["openai", "anthropic", "gemini", "openrouter", "mistral"];
const MODELS: [&str; 7] = [
    "openai/gpt-4o-mini",
    "openai/gpt-5-pro",
    "anthropic/claude-haiku-4-5",
    "gemini/gemini-2.5-flash",
    "gemini/gemini-3.5-flash",
    "mistral/mistral-small-latest",
    "ollama/llama3",
];

/// A client of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Speaks {
    Chat,
    Responses,
    Messages,
}

const ALL: [Speaks; 3] = [Speaks::Chat, Speaks::Responses, Speaks::Messages];

/// What a model answered, whatever the family.
#[derive(Debug, PartialEq)]
struct Heard {
    words: String,
    /// Id, name and arguments.
    call: Option<(String, String, Value)>,
    stopped_for_call: bool,
    input_tokens: u64,
}

impl Speaks {
    fn path(self) -> &'static str {
        match self {
            Self::Chat => CHAT,
            Self::Responses => RESPONSES,
            Self::Messages => MESSAGES,
        }
    }

    /// A question with a tool, and what came of it if it was called.
    fn ask(self, model: &str, words: &str, called: Option<(&str, &str)>) -> Value {
        let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
        let arguments = r#"{"city":"Paris"}"#;
        match self {
            Self::Chat => {
                let mut messages = vec![json!({ "role": "user", "content": words })];
                if let Some((id, outcome)) = called {
                    let function = json!({ "name": "weather", "arguments": arguments });
                    let call = json!({ "id": id, "type": "function", "function": function });
                    messages.push(json!({ "role": "assistant", "tool_calls": [call] }));
                    messages
                        .push(json!({ "role": "tool", "tool_call_id": id, "content": outcome }));
                }
                let tool = json!({ "name": "weather", "parameters": schema });
                json!({
                    "model": model, "messages": messages,
                    "tools": [{ "type": "function", "function": tool }],
                })
            }
            Self::Responses => {
                let mut input = vec![json!({ "role": "user", "content": words })];
                if let Some((id, outcome)) = called {
                    input.push(json!({
                        "type": "function_call", "call_id": id, "name": "weather",
                        "arguments": arguments,
                    }));
                    input.push(json!({
                        "type": "function_call_output", "call_id": id, "output": outcome,
                    }));
                }
                json!({
                    "model": model, "input": input,
                    "tools": [{ "type": "function", "name": "weather", "parameters": schema }],
                })
            }
            Self::Messages => {
                let mut messages = vec![json!({ "role": "user", "content": words })];
                if let Some((id, outcome)) = called {
                    let input = json!({ "city": "Paris" });
                    messages.push(json!({ "role": "assistant", "content": [
                        { "type": "tool_use", "id": id, "name": "weather", "input": input },
                    ] }));
                    messages.push(json!({ "role": "user", "content": [
                        { "type": "tool_result", "tool_use_id": id, "content": outcome },
                    ] }));
                }
                json!({
                    "model": model, "max_tokens": 100, "messages": messages,
                    "tools": [{ "name": "weather", "input_schema": schema }],
                })
            }
        }
    }

    fn hear(self, answer: &Value) -> Heard {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self {
            Self::Chat => {
                let choice = &answer["choices"][0];
                let call = &choice["message"]["tool_calls"][0];
                let arguments = call["function"]["arguments"].as_str();
                Heard {
                    words: text(&choice["message"]["content"]),
                    call: arguments.map(|arguments| {
                        let name = text(&call["function"]["name"]);
                        (text(&call["id"]), name, serde_json::from_str(arguments).unwrap())
                    }),
                    stopped_for_call: choice["finish_reason"] == "tool_calls",
                    input_tokens: answer["usage"]["prompt_tokens"].as_u64().unwrap(),
                }
            }
            Self::Responses => {
                let items = answer["output"].as_array().unwrap();
                let of = |kind: &str| items.iter().find(|item| item["type"] == kind);
                let call = of("function_call").map(|item| {
                    let arguments = item["arguments"].as_str().unwrap();
                    let arguments = serde_json::from_str(arguments).unwrap();
                    (text(&item["call_id"]), text(&item["name"]), arguments)
                });
                let message = of("message").map(|item| text(&item["content"][0]["text"]));
                Heard {
                    words: message.unwrap_or_default(),
                    stopped_for_call: call.is_some() && answer["status"] == "completed",
                    call,
                    input_tokens: answer["usage"]["input_tokens"].as_u64().unwrap(),
                }
            }
            Self::Messages => {
                let blocks = answer["content"].as_array().unwrap();
                let of = |kind: &str| blocks.iter().find(|block| block["type"] == kind);
                let count = |name: &str| answer["usage"][name].as_u64().unwrap_or_default();
                Heard {
                    words: of("text").map(|block| text(&block["text"])).unwrap_or_default(),
                    call: of("tool_use").map(|block| {
                        (text(&block["id"]), text(&block["name"]), block["input"].clone())
                    }),
                    stopped_for_call: answer["stop_reason"] == "tool_use",
                    input_tokens: count("input_tokens") + count("cache_read_input_tokens"),
                }
            }
        }
    }

    /// The whole answer that the events of a stream make, as an SDK assembles it.
    fn assemble(self, events: &str) -> Value {
        let events = events.split("\n\n").filter_map(|event| {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
            serde_json::from_str::<Value>(data).ok()
        });
        let events: Vec<_> = events.collect();
        match self {
            Self::Responses => {
                let last = events.last().unwrap();
                assert_eq!(last["type"], "response.completed", "{last}");
                let numbers: Vec<_> =
                    events.iter().map(|it| it["sequence_number"].clone()).collect();
                let expected: Vec<_> = (0..events.len()).map(|it| json!(it)).collect();
                assert_eq!(numbers, expected);
                last["response"].clone()
            }
            Self::Chat => assemble_chat(&events),
            Self::Messages => assemble_messages(&events),
        }
    }
}

fn assemble_chat(events: &[Value]) -> Value {
    let (mut words, mut call, mut arguments) = (String::new(), Value::Null, String::new());
    let (mut reason, mut usage) = (Value::Null, Value::Null);
    for chunk in events {
        let choice = &chunk["choices"][0];
        words += choice["delta"]["content"].as_str().unwrap_or_default();
        let piece = &choice["delta"]["tool_calls"][0];
        if piece["id"].is_string() {
            call = piece.clone();
        }
        arguments += piece["function"]["arguments"].as_str().unwrap_or_default();
        if choice["finish_reason"].is_string() {
            reason = choice["finish_reason"].clone();
        }
        if chunk["usage"].is_object() {
            usage = chunk["usage"].clone();
        }
    }
    let mut message = json!({ "content": words });
    if call.is_object() {
        call["function"]["arguments"] = json!(arguments);
        message["tool_calls"] = json!([call]);
    }
    json!({ "choices": [{ "message": message, "finish_reason": reason }], "usage": usage })
}

fn assemble_messages(events: &[Value]) -> Value {
    let mut whole = Value::Null;
    let mut texts: Vec<String> = Vec::new();
    for event in events {
        let at = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap() {
            "message_start" => whole = event["message"].clone(),
            "content_block_start" => {
                let blocks = whole["content"].as_array_mut().unwrap();
                assert_eq!(blocks.len(), at, "blocks begin in order");
                blocks.push(event["content_block"].clone());
                texts.push(String::new());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let piece = delta["text"].as_str().or(delta["partial_json"].as_str());
                texts[at] += piece.unwrap_or_default();
            }
            "content_block_stop" => {
                let block = &mut whole["content"][at];
                match block["type"] == "tool_use" {
                    true => block["input"] = serde_json::from_str(&texts[at]).unwrap(),
                    false => block["text"] = json!(texts[at]),
                }
            }
            "message_delta" => {
                whole["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (name, count) in event["usage"].as_object().unwrap() {
                    whole["usage"][name] = count.clone();
                }
            }
            _ => {}
        }
    }
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    whole
}

/// Asks for a whole answer and for a streamed one, which have to be the same.
async fn ask(client: &Client, speaks: Speaks, body: Value) -> Heard {
    let whole = client.post(speaks.path(), &body).await.expect(200).json();
    let whole = speaks.hear(&whole);
    let mut body = with(body, "stream", json!(true));
    if speaks == Speaks::Chat {
        body["stream_options"] = json!({ "include_usage": true });
    }
    let answer = client.post(speaks.path(), &body).await.expect(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let streamed = speaks.hear(&speaks.assemble(&answer.text()));
    let same_but_for_ids = |heard: &Heard| {
        let call =
            heard.call.as_ref().map(|(_, name, arguments)| (name.clone(), arguments.clone()));
        (heard.words.clone(), call, heard.stopped_for_call, heard.input_tokens)
    };
    assert_eq!(same_but_for_ids(&whole), same_but_for_ids(&streamed), "{speaks:?} {body}");
    whole
}

#[tokio::test]
async fn every_client_can_talk_and_use_tools_with_every_model() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &KEYS, &[]).await;
    let ann = ann(&server);
    for model in MODELS {
        let vendor = model.split('/').next().unwrap();
        for speaks in ALL {
            let heard = ask(&ann, speaks, speaks.ask(model, "hello", None)).await;
            assert_eq!(heard.words, format!("Hello from {vendor}."), "{speaks:?} {model}");
            assert_eq!((heard.call, heard.stopped_for_call), (None, false), "{speaks:?} {model}");
            assert_eq!(heard.input_tokens, FakeVendors::USAGE.0, "{speaks:?} {model}");

            let heard = ask(&ann, speaks, speaks.ask(model, "the weather?", None)).await;
            assert!(heard.stopped_for_call, "{speaks:?} {model}: {heard:?}");
            let (id, name, arguments) = heard.call.unwrap();
            assert_eq!(name, "weather");
            assert_eq!(arguments, json!({ "city": "Paris", "days": 2 }));

            let body = speaks.ask(model, "the weather?", Some((&id, "rain")));
            let heard = ask(&ann, speaks, body).await;
            assert_eq!(heard.words, "The tool said: rain", "{speaks:?} {model}");
        }
    }
}

#[tokio::test]
async fn pictures_schemas_and_choices_reach_every_model() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &KEYS, &[]).await;
    let ann = ann(&server);
    let url = format!("data:image/png;base64,{}", "AAAA".repeat(25));
    for model in MODELS {
        let image = json!({ "type": "image_url", "image_url": { "url": url } });
        let content = json!([{ "type": "text", "text": "look" }, image]);
        let message = json!([{ "role": "user", "content": content }]);
        let body = with(chat(model, ""), "messages", message);
        let body = if model.contains("gpt-5") { limit(body) } else { body };
        let answer = ann.post(CHAT, &body).await.expect(200);
        assert_eq!(said(&answer), "I see a picture of 75 bytes.", "{model}");

        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["why", "answer"],
            "properties": { "why": { "type": "string" }, "answer": { "type": "string" } },
        });
        let format = json!({ "name": "a", "strict": true, "schema": schema });
        let format = json!({ "type": "json_schema", "json_schema": format });
        let body = with(limit(chat(model, "decide")), "response_format", format);
        let answer: Value =
            serde_json::from_str(&said(&ann.post(CHAT, &body).await.expect(200))).unwrap();
        assert_eq!(answer["answer"], "42", "{model}");

        let tool = json!({ "name": "f", "parameters": { "type": "object", "properties": {} } });
        let body = with(
            limit(chat(model, "go")),
            "tools",
            json!([{ "type": "function", "function": tool }]),
        );
        let body = with(body, "tool_choice", json!("required"));
        let answer = ann.post(CHAT, &body).await.expect(200).json();
        let call = &answer["choices"][0]["message"]["tool_calls"][0];
        assert_eq!(call["function"]["name"], "f", "{model}");
    }
}

/// The same with the name of the limit that newer models want.
fn limit(mut body: Value) -> Value {
    let most = body.as_object_mut().unwrap().remove("max_tokens").unwrap();
    with(body, "max_completion_tokens", most)
}

#[tokio::test]
async fn what_was_ignored_is_named_and_usage_is_hidden_from_clients_that_did_not_ask() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &KEYS, &[]).await;
    let ann = ann(&server);
    let body = with(chat("anthropic/claude-haiku-4-5", "hi"), "seed", json!(1));
    let answer = ann.post(CHAT, &with(body, "user", json!("u"))).await.expect(200);
    assert_eq!(answer.header("x-helmdeck-ignored"), "seed, user");

    let body = with(chat("openai/gpt-4o-mini", "hi"), "stream", json!(true));
    let events = ann.post(CHAT, &body).await.expect(200).text();
    assert!(!events.contains("prompt_tokens") && events.ends_with("data: [DONE]\n\n"), "{events}");
    // We asked for it all the same.
    let row = used(&ann, "gpt-4o-mini", 1).await;
    assert_eq!((&row["input_tokens"], &row["cached_tokens"]), (&json!(100), &json!(40)));
    assert_eq!((&row["output_tokens"], &row["success_rate"]), (&json!(20), &json!(1.0)));
    // 60 at 0.15, 40 at 0.075 and 20 at 0.6 dollars for a million.
    assert!((row["cost_usd"].as_f64().unwrap() - 24e-6).abs() < 1e-12, "{row}");
    // OpenRouter says itself what it costs.
    ann.post(CHAT, &chat("openrouter/auto", "hi")).await.expect(200);
    assert_eq!(used(&ann, "auto", 1).await["cost_usd"], 0.00125);
}
