//! Streamed replies: items that begin, grow and end, then the whole response.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    reply::{Head, function_call, item_id, message, output_text, reasoning, response},
    stop, usage, write_stop, write_usage,
};
use crate::{
    conversation::{Delta, Stop, StreamFailure, Usage},
    family::{Decode, Encode},
    json::{field, owned, text},
    sse::{self, Event},
};

/// Reads events.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Numbers of calls, by the index of their item.
    calls: BTreeMap<u64, usize>,
}

impl Decode for Decoder {
    fn read(&mut self, event: &Event, out: &mut Vec<Delta>) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
        let index = data.get("output_index").and_then(Value::as_u64).unwrap_or_default();
        let piece = || owned(&data, "delta");
        match text(&data, "type").unwrap_or_default() {
            "response.created" => {
                let response = field(&data, "response").cloned().unwrap_or_default();
                let (id, model) = (owned(&response, "id"), owned(&response, "model"));
                out.push(Delta::Start { id, model });
            }
            "response.output_item.added" => {
                let item = field(&data, "item").cloned().unwrap_or_default();
                if text(&item, "type") == Some("function_call") {
                    let number = self.calls.len();
                    self.calls.insert(index, number);
                    let (id, name) = (owned(&item, "call_id"), owned(&item, "name"));
                    out.push(Delta::Call { number, id, name, signature: None });
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                out.push(Delta::Text(piece()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(Delta::Reasoning(piece()));
            }
            "response.function_call_arguments.delta" => {
                if let Some(number) = self.calls.get(&index) {
                    out.push(Delta::Arguments { number: *number, text: piece() });
                }
            }
            "response.completed" | "response.incomplete" => {
                let response = field(&data, "response").cloned().unwrap_or_default();
                out.extend(field(&response, "usage").map(|it| Delta::Usage(usage(it))));
                let stop = match stop(&response) {
                    Stop::End if !self.calls.is_empty() => Stop::Calls,
                    other => other,
                };
                out.extend([Delta::Stop(stop), Delta::End]);
            }
            "response.failed" => {
                let response = field(&data, "response").cloned().unwrap_or_default();
                out.push(failure(field(&response, "error").unwrap_or(&Value::Null)));
            }
            "error" => out.push(failure(field(&data, "error").unwrap_or(&data))),
            _ => {}
        }
    }

    fn finish(&mut self, _: &mut Vec<Delta>) {}
}

fn failure(error: &Value) -> Delta {
    let kind = text(error, "code").unwrap_or("server_error").to_owned();
    Delta::Failed(StreamFailure { kind, message: owned(error, "message") })
}

/// An item under construction.
#[derive(Debug)]
enum Item {
    Message { words: String },
    Reasoning { words: String },
    Call { number: usize, call: String, name: String, arguments: String },
}

/// Writes events.
#[derive(Debug)]
pub struct Encoder {
    id: String,
    model: String,
    created: i64,
    sequence: u64,
    items: Vec<(Item, bool)>,
    usage: Usage,
    stop: Stop,
}

impl Encoder {
    /// For an answer that begins now.
    pub fn new(created: i64) -> Self {
        let (id, model) = (String::new(), String::new());
        let (items, usage, stop) = (Vec::new(), Usage::default(), Stop::End);
        Self { id, model, created, sequence: 0, items, usage, stop }
    }

    fn event(&mut self, name: &str, mut data: Value, out: &mut String) {
        if let Value::Object(fields) = &mut data {
            fields.insert("type".to_owned(), json!(name));
            fields.insert("sequence_number".to_owned(), json!(self.sequence));
        }
        self.sequence += 1;
        sse::write(out, Some(name), &data.to_string());
    }

    fn response(&self, status: &str, details: Value) -> super::reply::Response {
        let head = Head { id: &self.id, model: &self.model, created: self.created };
        let output = self.items.iter().enumerate();
        let output = output.map(|(at, (item, _))| self.written(at, item, "completed")).collect();
        response(head, status, details, output)
    }

    fn item_id(&self, at: usize, item: &Item) -> String {
        let kind = match item {
            Item::Message { .. } => "msg",
            Item::Reasoning { .. } => "rs",
            Item::Call { .. } => "fc",
        };
        item_id(kind, &self.id, at)
    }

    fn written(&self, at: usize, item: &Item, status: &str) -> Value {
        let id = self.item_id(at, item);
        match item {
            Item::Message { words } => message(&id, words, status),
            Item::Reasoning { words } => reasoning(&id, words),
            Item::Call { call, name, arguments, .. } => {
                function_call(&id, call, name, arguments, status)
            }
        }
    }

    /// Begins an item, and returns its index.
    fn begin(&mut self, item: Item, out: &mut String) -> usize {
        let at = self.items.len();
        let (id, added) = (self.item_id(at, &item), self.written(at, &item, "in_progress"));
        let part = match &item {
            Item::Message { .. } => Some(("response.content_part.added", output_text(""))),
            Item::Reasoning { .. } => Some((
                "response.reasoning_summary_part.added",
                json!({ "type": "summary_text", "text": "" }),
            )),
            Item::Call { .. } => None,
        };
        self.items.push((item, false));
        let data = json!({ "output_index": at, "item": added });
        self.event("response.output_item.added", data, out);
        if let Some((name, part)) = part {
            let data = json!({
                "output_index": at, "item_id": id, "content_index": 0, "summary_index": 0,
                "part": part,
            });
            self.event(name, data, out);
        }
        at
    }

    /// Ends the items that are not calls, or all.
    fn end(&mut self, calls_too: bool, out: &mut String) {
        for at in 0..self.items.len() {
            let Some((item, ended)) = self.items.get_mut(at) else { continue };
            if *ended || (matches!(item, Item::Call { .. }) && !calls_too) {
                continue;
            }
            *ended = true;
            let Some((item, _)) = self.items.get(at) else { continue };
            let (id, done) = (self.item_id(at, item), self.written(at, item, "completed"));
            let place = json!({
                "output_index": at, "item_id": id, "content_index": 0, "summary_index": 0,
            });
            let with = |name: &str, value: Value| {
                let mut data = place.clone();
                if let Value::Object(fields) = &mut data {
                    fields.insert(name.to_owned(), value);
                }
                data
            };
            let events = match item {
                Item::Message { words } => {
                    let mut text = with("text", json!(words));
                    if let Value::Object(fields) = &mut text {
                        fields.insert("logprobs".to_owned(), json!([]));
                    }
                    vec![
                        ("response.output_text.done", text),
                        ("response.content_part.done", with("part", output_text(words))),
                    ]
                }
                Item::Reasoning { words } => {
                    let part = json!({ "type": "summary_text", "text": words });
                    vec![
                        ("response.reasoning_summary_text.done", with("text", json!(words))),
                        ("response.reasoning_summary_part.done", with("part", part)),
                    ]
                }
                Item::Call { arguments, name, .. } => {
                    let mut data = with("arguments", json!(arguments));
                    if let Value::Object(fields) = &mut data {
                        fields.insert("name".to_owned(), json!(name));
                    }
                    vec![("response.function_call_arguments.done", data)]
                }
            };
            for (name, data) in events {
                self.event(name, data, out);
            }
            let data = json!({ "output_index": at, "item": done });
            self.event("response.output_item.done", data, out);
        }
    }

    /// The open item of this kind; begins one if another is open.
    fn ready(&mut self, is_text: bool, out: &mut String) -> usize {
        let open = self.items.iter().rposition(|(item, ended)| {
            !ended
                && match item {
                    Item::Message { .. } => is_text,
                    Item::Reasoning { .. } => !is_text,
                    Item::Call { .. } => false,
                }
        });
        open.unwrap_or_else(|| {
            self.end(false, out);
            let words = String::new();
            self.begin(
                if is_text { Item::Message { words } } else { Item::Reasoning { words } },
                out,
            )
        })
    }

    fn grow(&mut self, at: usize, name: &str, piece: &str, out: &mut String) {
        let Some((item, _)) = self.items.get_mut(at) else { return };
        match item {
            Item::Message { words } | Item::Reasoning { words } => words.push_str(piece),
            Item::Call { arguments, .. } => arguments.push_str(piece),
        }
        let Some((item, _)) = self.items.get(at) else { return };
        let data = json!({
            "output_index": at, "item_id": self.item_id(at, item), "content_index": 0,
            "summary_index": 0, "delta": piece, "logprobs": [],
        });
        self.event(name, data, out);
    }
}

impl Encode for Encoder {
    fn write(&mut self, delta: &Delta, out: &mut String) {
        match delta {
            Delta::Start { id, model } => {
                (self.id, self.model) = (id.clone(), model.clone());
                for name in ["response.created", "response.in_progress"] {
                    let response = self.response("in_progress", Value::Null).0;
                    self.event(name, json!({ "response": response }), out);
                }
            }
            Delta::Text(text) => {
                let at = self.ready(true, out);
                self.grow(at, "response.output_text.delta", text, out);
            }
            Delta::Reasoning(text) => {
                let at = self.ready(false, out);
                self.grow(at, "response.reasoning_summary_text.delta", text, out);
            }
            Delta::Call { number, id, name, .. } => {
                self.end(false, out);
                let (call, name, arguments) = (id.clone(), name.clone(), String::new());
                self.begin(Item::Call { number: *number, call, name, arguments }, out);
            }
            Delta::Arguments { number, text } => {
                let at = self.items.iter().position(
                    |(item, _)| matches!(item, Item::Call { number: it, .. } if it == number),
                );
                if let Some(at) = at {
                    self.grow(at, "response.function_call_arguments.delta", text, out);
                }
            }
            Delta::Usage(usage) => self.usage = *usage,
            Delta::Stop(stop) => self.stop = stop.clone(),
            Delta::Failed(StreamFailure { kind, message }) => {
                let error = json!({ "code": kind, "message": message });
                let response = self.response("failed", Value::Null).with("error", error).0;
                self.event("response.failed", json!({ "response": response }), out);
            }
            Delta::End => {
                self.end(true, out);
                let (status, details) = write_stop(&self.stop);
                let usage = write_usage(&self.usage);
                let response = self.response(status, details).with("usage", usage).0;
                let name = format!("response.{status}");
                self.event(&name, json!({ "response": response }), out);
            }
        }
    }
}
