//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{
    Answer, FakeVendors, Refusal, event,
    model::{ModelAnswer, Seen, data_size, pieces},
    refuse,
};

/// Bytes of pictures in a request.
const MAX_PICTURE: usize = 50 << 20;

/// Answers, or refuses what OpenAI refuses.
pub fn answer(vendor: &str, asked: &Value) -> Result<Answer, Refusal> {
    let seen = check(vendor, asked)?;
    let item = match seen.answer(vendor) {
        ModelAnswer::Text(text) => json!({
            "type": "message", "id": "msg_fake", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        ModelAnswer::Call(name, arguments) => json!({
            "type": "function_call", "id": "fc_fake", "call_id": "call_fake", "name": name,
            "arguments": arguments.to_string(), "status": "completed",
        }),
    };
    let (input, cached, output) = FakeVendors::USAGE;
    let whole = json!({
        "id": "resp_fake", "object": "response", "created_at": 1, "status": "completed",
        "model": asked["model"], "output": [item], "error": null, "incomplete_details": null,
        "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "instructions": null,
        "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        "usage": {
            "input_tokens": input,
            "input_tokens_details": { "cached_tokens": cached, "cache_write_tokens": 0 },
            "output_tokens": output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": input + output,
        },
    });
    if asked["stream"] != true {
        return Ok(Answer::Whole(200, whole));
    }
    Ok(Answer::Events(events(&whole)))
}

fn events(whole: &Value) -> Vec<String> {
    let mut sequence = 0;
    let mut write = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        data["sequence_number"] = json!(sequence);
        sequence += 1;
        event(Some(name), &data)
    };
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    let item = &whole["output"][0];
    let id = &item["id"];
    let mut added = item.clone();
    added["status"] = json!("in_progress");
    let mut events = vec![write("response.created", json!({ "response": begun }))];
    let place = |more: Value| {
        let mut data = json!({ "output_index": 0, "item_id": id, "content_index": 0 });
        for (name, value) in more.as_object().unwrap() {
            data[name] = value.clone();
        }
        data
    };
    match item["type"] == "message" {
        true => {
            let text = item["content"][0]["text"].as_str().unwrap();
            added["content"] = json!([]);
            let added = json!({ "output_index": 0, "item": added });
            events.push(write("response.output_item.added", added));
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            events.push(write("response.content_part.added", place(json!({ "part": part }))));
            for piece in pieces(text) {
                let data = place(json!({ "delta": piece, "logprobs": [] }));
                events.push(write("response.output_text.delta", data));
            }
            let data = place(json!({ "text": text, "logprobs": [] }));
            events.push(write("response.output_text.done", data));
            let data = place(json!({ "part": item["content"][0] }));
            events.push(write("response.content_part.done", data));
        }
        false => {
            added["arguments"] = json!("");
            let added = json!({ "output_index": 0, "item": added });
            events.push(write("response.output_item.added", added));
            let data = place(json!({ "delta": item["arguments"] }));
            events.push(write("response.function_call_arguments.delta", data));
            let data = place(json!({ "arguments": item["arguments"], "name": item["name"] }));
            events.push(write("response.function_call_arguments.done", data));
        }
    }
    let done = json!({ "output_index": 0, "item": item });
    events.push(write("response.output_item.done", done));
    events.push(write("response.completed", json!({ "response": whole })));
    events
}

/// What the model sees. Results of tools have to belong to calls.
fn check(vendor: &str, asked: &Value) -> Result<Seen, Refusal> {
    let mut seen = Seen {
        tool: asked["tools"][0]["name"].as_str().map(str::to_owned),
        must: asked["tool_choice"].is_object() || asked["tool_choice"] == "required",
        schema: asked["text"]["format"]["type"] == "json_schema",
        ..Seen::default()
    };
    if let Some(text) = asked["input"].as_str() {
        seen.words = text.to_owned();
        return Ok(seen);
    }
    let mut calls = Vec::new();
    // Uses of a computer without their output.
    let mut open: Vec<&Value> = Vec::new();
    for item in asked["input"].as_array().ok_or_else(|| refuse(vendor, "Missing 'input'."))? {
        match item["type"].as_str().unwrap_or("message") {
            "function_call" => calls.push(item["call_id"].clone()),
            "computer_call" => open.push(item),
            "computer_call_output" => {
                let own = open.iter().position(|call| call["call_id"] == item["call_id"]);
                let Some(own) = own else {
                    let message =
                        format!("No tool call found for computer call {}.", item["call_id"]);
                    return Err(refuse(vendor, message));
                };
                output(open.remove(own), item, &mut seen).map_err(|why| refuse(vendor, why))?;
            }
            "function_call_output" => {
                if !calls.contains(&item["call_id"]) {
                    let message = format!(
                        "No tool call found for function call output with call_id {}.",
                        item["call_id"]
                    );
                    return Err(refuse(vendor, message));
                }
                let text = item["output"].as_str().map_or("a picture", |text| text);
                seen.outcome = Some(text.to_owned());
            }
            _ if item["role"] == "user" => {
                seen.outcome = None;
                if let Some(text) = item["content"].as_str() {
                    seen.words = text.to_owned();
                }
                for part in item["content"].as_array().unwrap_or(&Vec::new()) {
                    if let Some(text) = part["text"].as_str() {
                        seen.words = text.to_owned();
                    }
                    seen.pictures += data_size(part["image_url"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    match open.first() {
        None => Ok(seen),
        Some(call) => {
            let message = format!("No tool output found for computer call {}.", call["call_id"]);
            Err(refuse(vendor, message))
        }
    }
}

/// What the output of a computer shows, or what is wrong with it.
fn output(call: &Value, item: &Value, seen: &mut Seen) -> Result<(), String> {
    let none = Vec::new();
    let acknowledged = item["acknowledged_safety_checks"].as_array().unwrap_or(&none);
    let pending = call["pending_safety_checks"].as_array().unwrap_or(&none);
    if let Some(check) =
        pending.iter().find(|check| !acknowledged.iter().any(|it| it["id"] == check["id"]))
    {
        let id = &check["id"];
        return Err(format!(
            "Computer call has a pending safety check that is not acknowledged: {id}"
        ));
    }
    if let Some(other) =
        acknowledged.iter().find(|it| !pending.iter().any(|check| check["id"] == it["id"]))
    {
        let id = &other["id"];
        return Err(format!(
            "Acknowledged safety check does not belong to this computer call: {id}"
        ));
    }
    let url = item["output"]["image_url"].as_str().unwrap_or_default();
    if item["output"]["type"] != "computer_screenshot" || !url.starts_with("data:image/") {
        return Err("The output of a computer call has to be a screenshot.".to_owned());
    }
    if url.len() > MAX_PICTURE {
        return Err(format!("The picture is larger than {MAX_PICTURE} bytes."));
    }
    seen.pictures += data_size(url);
    Ok(())
}
