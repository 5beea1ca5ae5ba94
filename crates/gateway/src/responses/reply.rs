//! Whole replies.

use serde_json::{Value, json};

use super::{stop, usage, write_stop, write_usage};
use crate::{
    Malformed,
    conversation::{Call, Part, Reply, Stop, arguments, stop_of},
    json::{field, list, owned, text},
};

/// Reads a reply.
pub fn read(body: &Value) -> Result<Reply, Malformed> {
    if let Some(error) = field(body, "error") {
        return Err(Malformed::new(format!("the response failed: {}", owned(error, "message"))));
    }
    let output = body.get("output").and_then(Value::as_array).ok_or(Malformed::NO_MESSAGE)?;
    let mut parts = Vec::new();
    let mut refused = false;
    for item in output {
        match text(item, "type").unwrap_or_default() {
            "message" => {
                for part in list(item, "content") {
                    refused |= text(part, "type") == Some("refusal");
                    let words = text(part, "text").or_else(|| text(part, "refusal"));
                    parts.extend(words.map(|words| Part::Text(words.to_owned())));
                }
            }
            "reasoning" => parts.extend(
                list(item, "summary").iter().map(|part| Part::Reasoning(owned(part, "text"))),
            ),
            "function_call" => parts.push(Part::Call(Call {
                id: owned(item, "call_id"),
                name: owned(item, "name"),
                arguments: arguments(text(item, "arguments").unwrap_or_default()),
                signature: None,
            })),
            // Tools that only OpenAI runs.
            _ => {}
        }
    }
    Ok(Reply {
        id: owned(body, "id"),
        model: owned(body, "model"),
        stop: if refused { Stop::Refused } else { stop_of(stop(body), &parts) },
        usage: field(body, "usage").map(usage).unwrap_or_default(),
        parts,
    })
}

/// Writes a reply.
pub fn write(reply: &Reply, created: i64) -> Value {
    let output = write_items(&reply.id, &reply.parts);
    let (status, details) = write_stop(&reply.stop);
    response(Head { id: &reply.id, model: &reply.model, created }, status, details, output)
        .with("usage", write_usage(&reply.usage))
        .0
}

/// What every version of a response has.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Its id.
    pub id: &'a str,
    /// The model.
    pub model: &'a str,
    /// When it began, in seconds since 1970.
    pub created: i64,
}

/// A response under construction.
pub struct Response(pub Value);

impl Response {
    /// Sets a field.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(fields) = &mut self.0 {
            fields.insert(name.to_owned(), value);
        }
        self
    }
}

/// A response with these items.
pub fn response(head: Head<'_>, status: &str, details: Value, output: Vec<Value>) -> Response {
    let Head { id, model, created } = head;
    Response(json!({
        "id": id, "object": "response", "created_at": created, "status": status, "model": model,
        "output": output, "error": null, "incomplete_details": details, "instructions": null,
        "metadata": {}, "parallel_tool_calls": true, "temperature": null, "top_p": null,
        "tool_choice": "auto", "tools": [], "usage": null,
    }))
}

/// The items of a reply. Text is one message.
fn write_items(id: &str, parts: &[Part]) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut words = String::new();
    let mut message_at = None;
    for part in parts {
        let at = items.len();
        match part {
            Part::Text(text) => {
                words.push_str(text);
                message_at.get_or_insert(at);
            }
            Part::Reasoning(text) => items.push(reasoning(&item_id("rs", id, at), text)),
            Part::Call(call) => {
                let arguments = call.arguments.to_string();
                let (item, status) = (item_id("fc", id, at), "completed");
                items.push(function_call(&item, &call.id, &call.name, &arguments, status));
            }
            Part::Media(_) | Part::Outcome(_) => {}
        }
    }
    if let Some(at) = message_at {
        items.insert(at, message(&item_id("msg", id, items.len()), &words, "completed"));
    }
    items
}

/// The id of an item: unique, and the same in every event.
pub fn item_id(kind: &str, response: &str, at: usize) -> String {
    let tail = response.rsplit('_').next().unwrap_or_default();
    format!("{kind}_{tail}_{at}")
}

/// A message of the model.
pub fn message(id: &str, words: &str, status: &str) -> Value {
    let content = match words.is_empty() && status != "completed" {
        true => json!([]),
        false => json!([output_text(words)]),
    };
    let role = "assistant";
    json!({ "type": "message", "id": id, "role": role, "status": status, "content": content })
}

/// Text in a message.
pub fn output_text(words: &str) -> Value {
    json!({ "type": "output_text", "text": words, "annotations": [], "logprobs": [] })
}

/// A summary of what the model thought.
pub fn reasoning(id: &str, words: &str) -> Value {
    let summary = match words.is_empty() {
        true => json!([]),
        false => json!([{ "type": "summary_text", "text": words }]),
    };
    json!({ "type": "reasoning", "id": id, "summary": summary })
}

/// A call of a function.
pub fn function_call(id: &str, call: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({
        "type": "function_call", "id": id, "call_id": call, "name": name,
        "arguments": arguments, "status": status,
    })
}
