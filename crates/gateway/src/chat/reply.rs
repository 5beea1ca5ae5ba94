//! Whole replies.

use serde_json::{Map, Value, json};

use super::{request::write_call, stop, usage, write_stop, write_usage};
use crate::{
    Malformed,
    conversation::{Call, Part, Reply, Stop, arguments, stop_of},
    json::{field, list, owned, text},
};

/// Reads a reply.
pub fn read(body: &Value) -> Result<Reply, Malformed> {
    let choice = list(body, "choices").first().ok_or(Malformed::NO_CHOICES)?;
    let message = field(choice, "message").ok_or(Malformed::NO_MESSAGE)?;
    let mut parts = Vec::new();
    let reasoning = text(message, "reasoning_content").or_else(|| text(message, "reasoning"));
    if let Some(reasoning) = reasoning.filter(|text| !text.is_empty()) {
        parts.push(Part::Reasoning(reasoning.to_owned()));
    }
    let mut refused = false;
    match field(message, "content") {
        Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text.clone())),
        // Mistral answers in parts when it reasons.
        Some(Value::Array(pieces)) => parts.extend(
            pieces
                .iter()
                .filter_map(|piece| text(piece, "text").map(|text| Part::Text(text.to_owned()))),
        ),
        _ => {}
    }
    if let Some(refusal) = text(message, "refusal") {
        parts.push(Part::Text(refusal.to_owned()));
        refused = true;
    }
    for call in list(message, "tool_calls") {
        let function = field(call, "function").ok_or(Malformed::NO_MESSAGE)?;
        // Ollama used to send arguments as an object.
        let arguments = match field(function, "arguments") {
            Some(Value::String(text)) => arguments(text),
            Some(object @ Value::Object(_)) => object.clone(),
            _ => json!({}),
        };
        let google = field(call, "extra_content").and_then(|extra| field(extra, "google"));
        let signature = google.and_then(|it| text(it, "thought_signature")).map(str::to_owned);
        let (id, name) = (owned(call, "id"), owned(function, "name"));
        parts.push(Part::Call(Call { id, name, arguments, signature }));
    }
    let reason = text(choice, "finish_reason").map_or(Stop::End, stop);
    Ok(Reply {
        id: owned(body, "id"),
        model: owned(body, "model"),
        stop: if refused { Stop::Refused } else { stop_of(reason, &parts) },
        usage: field(body, "usage").map(usage).unwrap_or_default(),
        parts,
    })
}

/// Writes a reply.
pub fn write(reply: &Reply, created: i64) -> Value {
    let (mut words, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Text(text) => words.push_str(text),
            Part::Reasoning(text) => reasoning.push_str(text),
            Part::Call(call) => calls.push(write_call(call)),
            Part::Media(_) | Part::Outcome(_) => {}
        }
    }
    let said = if words.is_empty() { Value::Null } else { json!(words) };
    let refused = reply.stop == Stop::Refused;
    let (content, refusal) = if refused { (Value::Null, said) } else { (said, Value::Null) };
    let mut message = Map::from_iter([
        ("role".to_owned(), json!("assistant")),
        ("content".to_owned(), content),
        ("refusal".to_owned(), refusal),
    ]);
    if !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let choice = json!({
        "index": 0, "message": message, "finish_reason": write_stop(&reply.stop), "logprobs": null,
    });
    json!({
        "id": reply.id, "object": "chat.completion", "created": created, "model": reply.model,
        "choices": [choice], "usage": write_usage(&reply.usage),
    })
}
