//! Streamed replies: chunks of one JSON object each, then `[DONE]`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{request::signed, stop, usage, write_stop, write_usage};
use crate::{
    conversation::{Delta, Stop, StreamFailure},
    family::{Decode, Encode},
    json::{field, list, owned, text},
    sse::{self, Event},
};

/// Reads chunks.
#[derive(Debug, Default)]
pub struct Decoder {
    started: bool,
    stopped: bool,
    ended: bool,
    /// Numbers of calls, by the index of the provider.
    calls: BTreeMap<u64, usize>,
}

impl Decode for Decoder {
    fn read(&mut self, event: &Event, out: &mut Vec<Delta>) {
        if event.data.trim() == "[DONE]" {
            return self.end(out);
        }
        let Ok(chunk) = serde_json::from_str::<Value>(&event.data) else { return };
        if let Some(error) = field(&chunk, "error") {
            let kind = text(error, "type").or_else(|| text(error, "code")).unwrap_or("error");
            let message = text(error, "message").or(error.as_str()).unwrap_or_default();
            let (kind, message) = (kind.to_owned(), message.to_owned());
            out.push(Delta::Failed(StreamFailure { kind, message }));
            return;
        }
        if !self.started {
            self.started = true;
            out.push(Delta::Start { id: owned(&chunk, "id"), model: owned(&chunk, "model") });
        }
        let choice = list(&chunk, "choices").first();
        if let Some(delta) = choice.and_then(|choice| field(choice, "delta")) {
            self.read_delta(delta, out);
        }
        if let Some(reason) = choice.and_then(|choice| text(choice, "finish_reason")) {
            self.stopped = true;
            let stop = match stop(reason) {
                Stop::End if !self.calls.is_empty() => Stop::Calls,
                other => other,
            };
            out.push(Delta::Stop(stop));
        }
        // Groq has its own place for usage.
        let groq = field(&chunk, "x_groq").and_then(|it| field(it, "usage"));
        if let Some(found) = field(&chunk, "usage").or(groq) {
            out.push(Delta::Usage(usage(found)));
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        // Some servers leave out `[DONE]`.
        if self.stopped {
            self.end(out);
        }
    }
}

impl Decoder {
    fn end(&mut self, out: &mut Vec<Delta>) {
        if !std::mem::replace(&mut self.ended, true) {
            out.push(Delta::End);
        }
    }

    fn read_delta(&mut self, delta: &Value, out: &mut Vec<Delta>) {
        let reasoning = text(delta, "reasoning_content").or_else(|| text(delta, "reasoning"));
        if let Some(text) = reasoning.filter(|text| !text.is_empty()) {
            out.push(Delta::Reasoning(text.to_owned()));
        }
        let words = text(delta, "content").or_else(|| text(delta, "refusal"));
        if let Some(text) = words.filter(|text| !text.is_empty()) {
            out.push(Delta::Text(text.to_owned()));
        }
        for call in list(delta, "tool_calls") {
            let function = field(call, "function").cloned().unwrap_or_default();
            let next = self.calls.len();
            let index = call.get("index").and_then(Value::as_u64).unwrap_or(next as u64);
            let number = *self.calls.entry(index).or_insert(next);
            if number == next {
                let google = field(call, "extra_content").and_then(|it| field(it, "google"));
                let signature = google.and_then(|it| text(it, "thought_signature"));
                out.push(Delta::Call {
                    number,
                    id: owned(call, "id"),
                    name: owned(&function, "name"),
                    signature: signature.map(str::to_owned),
                });
            }
            let arguments = match field(&function, "arguments") {
                Some(Value::String(text)) => text.clone(),
                Some(object @ Value::Object(_)) => object.to_string(),
                _ => String::new(),
            };
            if !arguments.is_empty() {
                out.push(Delta::Arguments { number, text: arguments });
            }
        }
    }
}

/// Writes chunks.
#[derive(Debug)]
pub struct Encoder {
    id: String,
    model: String,
    created: i64,
    /// Whether the client asked for a chunk with the usage.
    with_usage: bool,
    usage: Option<Value>,
}

impl Encoder {
    /// For an answer that begins now.
    pub fn new(created: i64, with_usage: bool) -> Self {
        let (id, model) = (String::new(), String::new());
        Self { id, model, created, with_usage, usage: None }
    }

    fn chunk(&self, choices: Value, usage: Option<&Value>, out: &mut String) {
        let mut chunk = Map::from_iter([
            ("id".to_owned(), json!(self.id)),
            ("object".to_owned(), json!("chat.completion.chunk")),
            ("created".to_owned(), json!(self.created)),
            ("model".to_owned(), json!(self.model)),
            ("choices".to_owned(), choices),
        ]);
        if self.with_usage {
            chunk.insert("usage".to_owned(), usage.cloned().unwrap_or_default());
        }
        sse::write(out, None, &Value::Object(chunk).to_string());
    }

    fn delta(&self, delta: Value, finish: Option<&str>, out: &mut String) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        self.chunk(json!([choice]), None, out);
    }
}

impl Encode for Encoder {
    fn write(&mut self, delta: &Delta, out: &mut String) {
        match delta {
            Delta::Start { id, model } => {
                (self.id, self.model) = (id.clone(), model.clone());
                self.delta(json!({ "role": "assistant", "content": "" }), None, out);
            }
            Delta::Text(text) => self.delta(json!({ "content": text }), None, out),
            Delta::Reasoning(text) => self.delta(json!({ "reasoning_content": text }), None, out),
            Delta::Call { number, id, name, signature } => {
                let mut call = json!({
                    "index": number, "id": id, "type": "function",
                    "function": { "name": name, "arguments": "" },
                });
                if let (Some(signature), Value::Object(fields)) = (signature, &mut call) {
                    fields.insert("extra_content".to_owned(), signed(signature));
                }
                self.delta(json!({ "tool_calls": [call] }), None, out);
            }
            Delta::Arguments { number, text } => {
                let call = json!({ "index": number, "function": { "arguments": text } });
                self.delta(json!({ "tool_calls": [call] }), None, out);
            }
            Delta::Usage(usage) => self.usage = Some(write_usage(usage)),
            Delta::Stop(stop) => self.delta(json!({}), Some(write_stop(stop)), out),
            Delta::Failed(failure) => {
                let StreamFailure { kind, message } = failure;
                let error =
                    json!({ "message": message, "type": kind, "param": null, "code": kind });
                sse::write(out, None, &json!({ "error": error }).to_string());
            }
            Delta::End => {
                if self.with_usage {
                    self.chunk(json!([]), self.usage.as_ref(), out);
                }
                sse::write(out, None, "[DONE]");
            }
        }
    }
}
