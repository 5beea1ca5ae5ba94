//! Whole replies.

use serde_json::{Value, json};

use super::{request::write_call, stop, usage, write_stop, write_usage};
use crate::{
    Malformed,
    conversation::{Call, Part, Reply},
    json::{field, owned, text},
};

/// Reads a reply.
pub fn read(body: &Value) -> Result<Reply, Malformed> {
    let content = body.get("content").and_then(Value::as_array).ok_or(Malformed::NO_MESSAGE)?;
    Ok(Reply {
        id: owned(body, "id"),
        model: owned(body, "model"),
        parts: content.iter().filter_map(read_block).collect(),
        stop: stop(body),
        usage: field(body, "usage").map(usage).unwrap_or_default(),
    })
}

/// A block; `None` for those of tools that only Anthropic runs.
fn read_block(block: &Value) -> Option<Part> {
    match text(block, "type")? {
        "text" => Some(Part::Text(owned(block, "text"))),
        "thinking" => Some(Part::Reasoning(owned(block, "thinking"))),
        "tool_use" => Some(Part::Call(Call {
            id: owned(block, "id"),
            name: owned(block, "name"),
            arguments: field(block, "input").cloned().unwrap_or_else(|| json!({})),
            signature: None,
        })),
        _ => None,
    }
}

/// Writes a reply.
pub fn write(reply: &Reply) -> Value {
    let content: Vec<_> = reply.parts.iter().filter_map(write_block).collect();
    let (reason, sequence) = write_stop(&reply.stop);
    json!({
        "id": reply.id, "type": "message", "role": "assistant", "model": reply.model,
        "content": content, "stop_reason": reason, "stop_sequence": sequence,
        "usage": write_usage(&reply.usage),
    })
}

fn write_block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({ "type": "text", "text": text, "citations": null })),
        Part::Reasoning(text) => {
            Some(json!({ "type": "thinking", "thinking": text, "signature": "" }))
        }
        Part::Call(call) => Some(write_call(call)),
        Part::Media(_) | Part::Outcome(_) => None,
    }
}
