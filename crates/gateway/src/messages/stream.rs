//! Streamed replies: blocks that begin, grow and end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{stop, usage, write_stop, write_usage};
use crate::{
    conversation::{Delta, StreamFailure, Usage},
    family::{Decode, Encode},
    json::{field, owned, text},
    sse::{self, Event},
};

/// Reads events.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The counts so far: later events have only some of them.
    usage: serde_json::Map<String, Value>,
    /// Numbers of calls, by the index of their block.
    calls: BTreeMap<u64, usize>,
}

impl Decode for Decoder {
    fn read(&mut self, event: &Event, out: &mut Vec<Delta>) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
        let index = data.get("index").and_then(Value::as_u64).unwrap_or_default();
        match text(&data, "type").unwrap_or_default() {
            "message_start" => {
                let message = field(&data, "message").cloned().unwrap_or_default();
                let (id, model) = (owned(&message, "id"), owned(&message, "model"));
                out.push(Delta::Start { id, model });
                self.count(field(&message, "usage"), out);
            }
            "content_block_start" => {
                let block = field(&data, "content_block").cloned().unwrap_or_default();
                self.begin(index, &block, out);
            }
            "content_block_delta" => {
                let delta = field(&data, "delta").cloned().unwrap_or_default();
                self.grow(index, &delta, out);
            }
            "message_delta" => {
                self.count(field(&data, "usage"), out);
                if let Some(delta) = field(&data, "delta") {
                    out.push(Delta::Stop(stop(delta)));
                }
            }
            "message_stop" => out.push(Delta::End),
            "error" => {
                let error = field(&data, "error").cloned().unwrap_or_default();
                let (kind, message) = (owned(&error, "type"), owned(&error, "message"));
                out.push(Delta::Failed(StreamFailure { kind, message }));
            }
            _ => {}
        }
    }

    fn finish(&mut self, _: &mut Vec<Delta>) {}
}

impl Decoder {
    fn count(&mut self, counts: Option<&Value>, out: &mut Vec<Delta>) {
        let Some(Value::Object(counts)) = counts else { return };
        let known = counts.iter().filter(|(_, count)| !count.is_null());
        self.usage.extend(known.map(|(name, count)| (name.clone(), count.clone())));
        out.push(Delta::Usage(usage(&Value::Object(self.usage.clone()))));
    }

    fn begin(&mut self, index: u64, block: &Value, out: &mut Vec<Delta>) {
        match text(block, "type").unwrap_or_default() {
            "tool_use" => {
                let number = self.calls.len();
                self.calls.insert(index, number);
                let (id, name) = (owned(block, "id"), owned(block, "name"));
                out.push(Delta::Call { number, id, name, signature: None });
            }
            "text" => out.extend(some(text(block, "text")).map(Delta::Text)),
            "thinking" => out.extend(some(text(block, "thinking")).map(Delta::Reasoning)),
            _ => {}
        }
    }

    fn grow(&mut self, index: u64, delta: &Value, out: &mut Vec<Delta>) {
        match text(delta, "type").unwrap_or_default() {
            "text_delta" => out.extend(some(text(delta, "text")).map(Delta::Text)),
            "thinking_delta" => out.extend(some(text(delta, "thinking")).map(Delta::Reasoning)),
            "input_json_delta" => {
                let number = self.calls.get(&index).copied();
                let text = some(text(delta, "partial_json"));
                let piece = number.zip(text);
                out.extend(piece.map(|(number, text)| Delta::Arguments { number, text }));
            }
            _ => {}
        }
    }
}

fn some(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// What the open block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
}

/// Writes events. Calls stay open to the end, because their arguments may arrive in turns.
#[derive(Debug, Default)]
pub struct Encoder {
    /// How many blocks there are.
    blocks: usize,
    open: Option<(Open, usize)>,
    /// Blocks of calls, by their number.
    calls: BTreeMap<usize, usize>,
    usage: Usage,
    stop: Option<Value>,
}

impl Encoder {
    fn event(name: &str, mut data: Value, out: &mut String) {
        if let Value::Object(fields) = &mut data {
            fields.insert("type".to_owned(), json!(name));
        }
        sse::write(out, Some(name), &data.to_string());
    }

    fn begin(&mut self, block: Value, out: &mut String) -> usize {
        let index = self.blocks;
        self.blocks += 1;
        let data = json!({ "index": index, "content_block": block });
        Self::event("content_block_start", data, out);
        index
    }

    fn close(&mut self, out: &mut String) {
        if let Some((_, index)) = self.open.take() {
            Self::event("content_block_stop", json!({ "index": index }), out);
        }
    }

    /// The open block of this kind; begins one if another is open.
    fn ready(&mut self, kind: Open, out: &mut String) -> usize {
        match self.open {
            Some((open, index)) if open == kind => index,
            _ => {
                self.close(out);
                let index = self.begin(
                    match kind {
                        Open::Text => json!({ "type": "text", "text": "" }),
                        Open::Thinking => {
                            json!({ "type": "thinking", "thinking": "", "signature": "" })
                        }
                    },
                    out,
                );
                self.open = Some((kind, index));
                index
            }
        }
    }

    fn delta(index: usize, delta: Value, out: &mut String) {
        Self::event("content_block_delta", json!({ "index": index, "delta": delta }), out);
    }
}

impl Encode for Encoder {
    fn write(&mut self, delta: &Delta, out: &mut String) {
        match delta {
            Delta::Start { id, model } => {
                let message = json!({
                    "id": id, "type": "message", "role": "assistant", "model": model,
                    "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": write_usage(&self.usage),
                });
                Self::event("message_start", json!({ "message": message }), out);
            }
            Delta::Text(text) => {
                let index = self.ready(Open::Text, out);
                Self::delta(index, json!({ "type": "text_delta", "text": text }), out);
            }
            Delta::Reasoning(text) => {
                let index = self.ready(Open::Thinking, out);
                Self::delta(index, json!({ "type": "thinking_delta", "thinking": text }), out);
            }
            Delta::Call { number, id, name, .. } => {
                self.close(out);
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                let index = self.begin(block, out);
                self.calls.insert(*number, index);
            }
            Delta::Arguments { number, text } => {
                if let Some(index) = self.calls.get(number) {
                    let delta = json!({ "type": "input_json_delta", "partial_json": text });
                    Self::delta(*index, delta, out);
                }
            }
            Delta::Usage(usage) => self.usage = *usage,
            Delta::Stop(stop) => {
                let (reason, sequence) = write_stop(stop);
                self.stop = Some(json!({ "stop_reason": reason, "stop_sequence": sequence }));
            }
            Delta::Failed(StreamFailure { kind, message }) => {
                let error = json!({ "type": kind, "message": message });
                Self::event("error", json!({ "error": error }), out);
            }
            Delta::End => {
                self.close(out);
                for index in std::mem::take(&mut self.calls).into_values() {
                    Self::event("content_block_stop", json!({ "index": index }), out);
                }
                let delta = self
                    .stop
                    .take()
                    .unwrap_or_else(|| json!({ "stop_reason": "end_turn", "stop_sequence": null }));
                let data = json!({ "delta": delta, "usage": write_usage(&self.usage) });
                Self::event("message_delta", data, out);
                Self::event("message_stop", json!({}), out);
            }
        }
    }
}
