//! Positions of items and parts in streams.
//!
//! The SDKs of OpenAI need them in every event, and llama.cpp leaves them out. Its items arrive one after
//! the other, so that their order is enough to number them.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::sse::Event;

const ITEM: &str = "output_index";
const PART: &str = "content_index";

/// Numbers the items of a stream that does not.
#[derive(Debug, Default)]
pub struct Indexes {
    items: u64,
    parts: u64,
}

impl Indexes {
    /// Adds the positions that an event lacks.
    pub fn complete(&mut self, event: &mut Event) {
        if event.data.contains("\"output_index\"") {
            return;
        }
        let Ok(Value::Object(mut data)) = serde_json::from_str(&event.data) else { return };
        let kind = data.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            "response.output_item.added" => {
                self.items += 1;
                self.parts = 0;
            }
            "response.content_part.added" => self.parts += 1,
            _ => {}
        }
        let is_of_item = data.contains_key("item") || data.contains_key("item_id");
        if !is_of_item || self.items == 0 {
            return;
        }
        data.insert(ITEM.to_owned(), json!(self.items - 1));
        let is_of_part = ["response.content_part.", "response.output_text.", "response.refusal."];
        if is_of_part.iter().any(|prefix| kind.starts_with(prefix)) {
            data.entry(PART).or_insert_with(|| json!(self.parts.saturating_sub(1)));
        }
        event.data = Value::Object(data).to_string();
        event.raw = Bytes::from(format!("event: {kind}\ndata: {}\n\n", event.data));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(stream: &[Value]) -> Vec<Event> {
        let mut indexes = Indexes::default();
        let event = |data: &Value| {
            let raw = Bytes::from(format!("data: {data}\n\n"));
            Event { name: None, data: data.to_string(), raw }
        };
        let events = stream.iter().map(|data| {
            let mut event = event(data);
            indexes.complete(&mut event);
            event
        });
        events.collect()
    }

    #[test]
    fn items_and_parts_without_positions_are_numbered_in_their_order() {
        let events = completed(&[
            json!({ "type": "response.created", "response": { "id": "r" } }),
            json!({ "type": "response.output_item.added", "item": { "id": "a" } }),
            json!({ "type": "response.content_part.added", "item_id": "a", "part": {} }),
            json!({ "type": "response.output_text.delta", "item_id": "a", "delta": "x" }),
            json!({ "type": "response.content_part.added", "item_id": "a", "part": {} }),
            json!({ "type": "response.output_text.delta", "item_id": "a", "delta": "y" }),
            json!({ "type": "response.output_item.done", "item": { "id": "a" } }),
            json!({ "type": "response.output_item.added", "item": { "id": "b" } }),
            json!({ "type": "response.function_call_arguments.delta", "item_id": "b", "delta": "{" }),
        ]);
        let positions = events.iter().map(|event| {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            assert!(data["type"].is_string());
            assert!(event.raw.ends_with(b"\n\n"));
            (data[ITEM].as_u64(), data[PART].as_u64())
        });
        let expected = [
            (None, None),
            (Some(0), None),
            (Some(0), Some(0)),
            (Some(0), Some(0)),
            (Some(0), Some(1)),
            (Some(0), Some(1)),
            (Some(0), None),
            (Some(1), None),
            (Some(1), None),
        ];
        assert_eq!(positions.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn events_with_positions_pass_as_they_are() {
        let sent = json!({ "type": "response.output_item.added", "output_index": 3, "item": {} });
        let events = completed(std::slice::from_ref(&sent));
        assert_eq!(events[0].raw, Bytes::from(format!("data: {sent}\n\n")));
    }
}
