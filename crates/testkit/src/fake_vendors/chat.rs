//! OpenAI's Chat Completions.

use serde_json::{Value, json};

use super::{
    Answer, FakeVendors, Refusal, error, event,
    model::{ModelAnswer, Seen, data_size, pieces},
    refuse,
};

/// Pictures may have this many bytes.
const MAX_PICTURE: usize = 20 << 20;

/// Answers, or refuses what OpenAI refuses.
pub fn answer(vendor: &str, asked: &Value) -> Result<Answer, Refusal> {
    if asked["model"].as_str().is_none_or(|model| model.contains("missing")) {
        let message = format!("The model `{}` does not exist", asked["model"]);
        let mut body = error(vendor, "invalid_request_error", &message);
        body["error"]["code"] = json!("model_not_found");
        return Err((404, body));
    }
    if vendor == "openai" && asked["max_tokens"].is_u64() && asked["model"] == "gpt-5" {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                       'max_completion_tokens' instead.";
        return Err(refuse(vendor, message));
    }
    if vendor == "mistral" && asked.get("stream_options").is_some() {
        return Err((422, json!({ "detail": [{ "type": "extra_forbidden" }] })));
    }
    let seen = check(vendor, asked)?;
    let said = seen.answer(vendor);
    let usage = usage(vendor);
    let (model, id) = (&asked["model"], "chatcmpl-fake");
    if asked["stream"] != true {
        let (message, reason) = message(&said);
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        return Ok(Answer::Whole(
            200,
            json!({
                "id": id, "object": "chat.completion", "created": 1, "model": model,
                "choices": [choice], "usage": usage, "vendor_field": { "kept": true },
            }),
        ));
    }
    let chunk = |choices: Value, usage: Value| {
        event(
            None,
            &json!({
                "id": id, "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": choices, "usage": usage,
            }),
        )
    };
    let delta = |delta: Value, reason: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": reason }]), Value::Null)
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    let (_, reason) = message(&said);
    match said {
        ModelAnswer::Text(text) => events.extend(
            pieces(&text).into_iter().map(|it| delta(json!({ "content": it }), Value::Null)),
        ),
        ModelAnswer::Call(name, arguments) => {
            let call = json!({
                "index": 0, "id": "call_fake", "type": "function",
                "function": { "name": name, "arguments": "" },
            });
            events.push(delta(json!({ "tool_calls": [call] }), Value::Null));
            let text = arguments.to_string();
            for part in [&text[..5], &text[5..]] {
                let call = json!({ "index": 0, "function": { "arguments": part } });
                events.push(delta(json!({ "tool_calls": [call] }), Value::Null));
            }
        }
    }
    events.push(delta(json!({}), json!(reason)));
    if asked["stream_options"]["include_usage"] == true || vendor == "mistral" {
        events.push(chunk(json!([]), usage));
    }
    events.push("data: [DONE]\n\n".to_owned());
    Ok(Answer::Events(events))
}

fn message(said: &ModelAnswer) -> (Value, &'static str) {
    match said {
        ModelAnswer::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ModelAnswer::Call(name, arguments) => {
            let call = json!({
                "id": "call_fake", "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() },
            });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
            (message, "tool_calls")
        }
    }
}

fn usage(vendor: &str) -> Value {
    let (input, cached, output) = FakeVendors::USAGE;
    let mut usage = json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": cached },
    });
    if vendor == "openrouter" {
        usage["cost"] = json!(0.00125);
    }
    usage
}

/// What the model sees. Results of tools have to answer every call, right after it.
fn check(vendor: &str, asked: &Value) -> Result<Seen, Refusal> {
    let none = Vec::new();
    let messages = asked["messages"].as_array().unwrap_or(&none);
    if messages.is_empty() {
        return Err(refuse(vendor, "Invalid 'messages': empty array."));
    }
    let mut seen = Seen {
        tool: asked["tools"][0]["function"]["name"].as_str().map(str::to_owned),
        must: asked["tool_choice"].is_object() || asked["tool_choice"] == "required",
        schema: asked["response_format"]["type"] == "json_schema",
        ..Seen::default()
    };
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(at) = open.iter().position(|it| it == id) else {
                let message = "messages with role 'tool' must be a response to a preceeding message \
                               with 'tool_calls'.";
                return Err(refuse(vendor, message));
            };
            open.remove(at);
            seen.outcome = message["content"].as_str().map(str::to_owned);
            continue;
        }
        if !open.is_empty() {
            let message = format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding \
                 to each 'tool_call_id'. The following tool_call_ids did not have response messages: \
                 {}",
                open.join(", ")
            );
            return Err(refuse(vendor, message));
        }
        if role == "assistant" {
            let calls = message["tool_calls"].as_array().unwrap_or(&none);
            open = calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect();
        }
        if role == "user" {
            seen.outcome = None;
            read_user(vendor, &message["content"], &mut seen)?;
        }
    }
    match open.is_empty() {
        true => Ok(seen),
        false => Err(refuse(vendor, "An assistant message with 'tool_calls' must be followed…")),
    }
}

fn read_user(vendor: &str, content: &Value, seen: &mut Seen) -> Result<(), Refusal> {
    if let Some(text) = content.as_str() {
        seen.words = text.to_owned();
    }
    for part in content.as_array().unwrap_or(&Vec::new()) {
        match part["type"].as_str().unwrap_or_default() {
            "text" => seen.words = part["text"].as_str().unwrap().to_owned(),
            "image_url" => {
                let size = data_size(part["image_url"]["url"].as_str().unwrap_or_default());
                if size > MAX_PICTURE {
                    return Err(refuse(vendor, "Invalid image: the image is too large."));
                }
                seen.pictures += size;
            }
            other => return Err(refuse(vendor, format!("Invalid value: '{other}'."))),
        }
    }
    Ok(())
}

/// Embeddings of every text.
pub fn embeddings(asked: &Value) -> Value {
    let count = asked["input"].as_array().map_or(1, Vec::len);
    let one = |index| json!({ "object": "embedding", "index": index, "embedding": [0.5, -0.5] });
    json!({
        "object": "list", "model": asked["model"], "data": (0..count).map(one).collect::<Vec<_>>(),
        "usage": { "prompt_tokens": 8, "total_tokens": 8 },
    })
}
