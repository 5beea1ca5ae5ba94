//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{
    Answer, FakeVendors, Refusal, error, event,
    model::{ModelAnswer, Seen, pieces, sides},
    refuse,
};

/// Pictures may have this many bytes of base64.
const MAX_PICTURE: usize = 5 << 20;
/// And this many pixels on a side.
const MAX_SIDE: u32 = 8000;
/// What tools for computers take without scaling it down, with the newest models.
const MAX_TOOL_SIDE: u32 = 2576;

/// Answers, or refuses what Anthropic refuses.
pub fn answer(vendor: &str, asked: &Value, has_version: bool) -> Result<Answer, Refusal> {
    if vendor == "anthropic" && !has_version {
        return Err(refuse(vendor, "anthropic-version: header is required"));
    }
    if asked["model"].as_str().is_none_or(|model| model.contains("missing")) {
        let message = format!("model: {}", asked["model"].as_str().unwrap_or_default());
        return Err((404, error(vendor, "not_found_error", &message)));
    }
    if !asked["max_tokens"].is_u64() {
        return Err(refuse(vendor, "max_tokens: Field required"));
    }
    let said = check(vendor, asked)?.answer(vendor);
    let (input, cached, output) = FakeVendors::USAGE;
    let usage = json!({
        "input_tokens": input - cached, "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0, "output_tokens": output,
    });
    let (block, reason) = match &said {
        ModelAnswer::Text(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        ModelAnswer::Call(name, arguments) => {
            let id = "toolu_fake";
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": arguments });
            (block, "tool_use")
        }
    };
    let whole = json!({
        "id": "msg_fake", "type": "message", "role": "assistant", "model": asked["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if asked["stream"] != true {
        return Ok(Answer::Whole(200, whole));
    }
    let mut events = Vec::new();
    let mut write = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        events.push(event(Some(name), &data));
    };
    let mut begun = whole.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    write("message_start", json!({ "message": begun }));
    write("ping", json!({}));
    let deltas: Vec<_> = match &said {
        ModelAnswer::Text(text) => {
            let block = json!({ "type": "text", "text": "" });
            write("content_block_start", json!({ "index": 0, "content_block": block }));
            pieces(text).into_iter().map(|it| json!({ "type": "text_delta", "text": it })).collect()
        }
        ModelAnswer::Call(name, arguments) => {
            let block =
                json!({ "type": "tool_use", "id": "toolu_fake", "name": name, "input": {} });
            write("content_block_start", json!({ "index": 0, "content_block": block }));
            let text = arguments.to_string();
            let pieces = [text[..5].to_owned(), text[5..].to_owned()];
            let delta = |it| json!({ "type": "input_json_delta", "partial_json": it });
            pieces.into_iter().map(delta).collect()
        }
    };
    for delta in deltas {
        write("content_block_delta", json!({ "index": 0, "delta": delta }));
    }
    write("content_block_stop", json!({ "index": 0 }));
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    write("message_delta", json!({ "delta": delta, "usage": { "output_tokens": output } }));
    write("message_stop", json!({}));
    Ok(Answer::Events(events))
}

/// What the model sees. Every call is answered first thing in the next message.
fn check(vendor: &str, asked: &Value) -> Result<Seen, Refusal> {
    let none = Vec::new();
    let messages = asked["messages"].as_array().unwrap_or(&none);
    if messages.is_empty() {
        return Err(refuse(vendor, "messages: at least one message is required"));
    }
    let mut seen = Seen {
        tool: asked["tools"][0]["name"].as_str().map(str::to_owned),
        must: matches!(asked["tool_choice"]["type"].as_str(), Some("any" | "tool")),
        schema: asked["output_config"]["format"]["type"] == "json_schema",
        ..Seen::default()
    };
    let mut open: Vec<&Value> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let text = message["content"].as_str().map(|text| json!({ "type": "text", "text": text }));
        let blocks: Vec<_> = match &text {
            Some(block) => vec![block],
            None => message["content"].as_array().unwrap_or(&none).iter().collect(),
        };
        if blocks.is_empty() {
            return Err(refuse(vendor, format!("messages.{at}: content must not be empty")));
        }
        let results = blocks.iter().take_while(|it| it["type"] == "tool_result");
        let results: Vec<_> = results.copied().collect();
        let missing = open
            .iter()
            .find(|call| !results.iter().any(|result| result["tool_use_id"] == call["id"]));
        if let Some(call) = missing {
            let message = format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately \
                 after: {}",
                call["id"].as_str().unwrap_or_default()
            );
            return Err(refuse(vendor, message));
        }
        for result in &results {
            let call = open.iter().find(|call| call["id"] == result["tool_use_id"]);
            let Some(call) = call else {
                let message = format!("messages.{at}: unexpected `tool_use_id` in `tool_result`");
                return Err(refuse(vendor, message));
            };
            if call.get("toolset_name") != result.get("toolset_name") {
                let message = format!("messages.{at}: `toolset_name` must match the `tool_use`");
                return Err(refuse(vendor, message));
            }
            let text = result["content"].as_str().or(result["content"][0]["text"].as_str());
            seen.outcome = Some(text.unwrap_or("a picture").to_owned());
            for block in result["content"].as_array().unwrap_or(&none) {
                let most =
                    if call.get("toolset_name").is_some() { MAX_TOOL_SIDE } else { MAX_SIDE };
                picture(block, most, &mut seen)
                    .map_err(|why| refuse(vendor, format!("messages.{at}{why}")))?;
            }
        }
        open = Vec::new();
        for block in blocks.into_iter().skip(results.len()) {
            see(block, message["role"] == "user", &mut seen)
                .map_err(|why| refuse(vendor, format!("messages.{at}{why}")))?;
        }
        if message["role"] == "assistant" {
            let blocks = message["content"].as_array().unwrap_or(&none);
            let unknown = blocks.iter().find_map(|block| {
                let set = block["toolset_name"].as_str()?;
                (!declares(asked, set)).then_some(set)
            });
            if let Some(set) = unknown {
                let message = format!("messages.{at}: `tools` has no toolset {set}");
                return Err(refuse(vendor, message));
            }
            open = blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        }
    }
    match open.is_empty() {
        true => Ok(seen),
        false => Err(refuse(vendor, "messages: `tool_use` ids were found without `tool_result`")),
    }
}

/// Whether the tools have a set of this name.
fn declares(asked: &Value, set: &str) -> bool {
    let tools = asked["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let prefix = format!("{set}_toolset_");
    tools.iter().any(|tool| tool["type"].as_str().is_some_and(|kind| kind.starts_with(&prefix)))
}

/// What a picture adds, or what is wrong with it. Other blocks add nothing.
fn picture(block: &Value, most: u32, seen: &mut Seen) -> Result<(), String> {
    let data = block["source"]["data"].as_str().unwrap_or_default();
    let size = data.len();
    seen.pictures += size / 4 * 3;
    if size > MAX_PICTURE {
        return Err(format!(
            ".content: image exceeds 5 MB maximum: {size} bytes > {MAX_PICTURE} bytes"
        ));
    }
    match sides(data) {
        Some((width, height)) if width.max(height) > most => {
            Err(format!(".content: image dimensions exceed max allowed size: {most} pixels"))
        }
        _ => Ok(()),
    }
}

/// What a block other than a leading result adds, or what is wrong with it.
fn see(block: &Value, user: bool, seen: &mut Seen) -> Result<(), String> {
    match block["type"].as_str().unwrap_or_default() {
        "text" if block["text"] == "" => Err(": text content blocks must be non-empty".to_owned()),
        "text" if user => {
            seen.words = block["text"].as_str().unwrap_or_default().to_owned();
            seen.outcome = None;
            Ok(())
        }
        "image" => picture(block, MAX_SIDE, seen),
        "tool_result" => Err(": `tool_result` blocks must come first".to_owned()),
        _ => Ok(()),
    }
}
