//! OpenAI Responses.

mod indexes;
pub mod reply;
pub mod request;
pub mod stream;

pub use indexes::Indexes;
use serde_json::{Value, json};

use crate::{
    conversation::{Stop, Usage},
    json::{count, field, text},
};

/// The usage of a reply.
pub fn usage(usage: &Value) -> Usage {
    let details = |name: &str, part: &str| field(usage, name).map_or(0, |it| count(it, part));
    Usage {
        input: count(usage, "input_tokens"),
        cached: details("input_tokens_details", "cached_tokens"),
        cache_written: details("input_tokens_details", "cache_write_tokens"),
        output: count(usage, "output_tokens"),
        reasoning: details("output_tokens_details", "reasoning_tokens"),
        cost: usage.get("cost").and_then(Value::as_f64),
    }
}

/// Usage for clients.
pub fn write_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written,
        },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
        "total_tokens": usage.total(),
    })
}

/// Why the model stopped. Calls are recognised by their items.
pub fn stop(response: &Value) -> Stop {
    let details = field(response, "incomplete_details");
    match details.and_then(|details| text(details, "reason")) {
        Some("content_filter") => Stop::Refused,
        Some(_) => Stop::Length,
        None => Stop::End,
    }
}

/// Status and details for clients.
pub fn write_stop(stop: &Stop) -> (&'static str, Value) {
    match stop {
        Stop::Length => ("incomplete", json!({ "reason": "max_output_tokens" })),
        Stop::Refused => ("incomplete", json!({ "reason": "content_filter" })),
        Stop::End | Stop::Calls | Stop::Sequence(_) => ("completed", Value::Null),
    }
}
