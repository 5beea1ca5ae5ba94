//! Anthropic Messages.

pub mod reply;
pub mod request;
pub mod stream;

use serde_json::{Value, json};

use crate::{
    conversation::{Stop, Usage},
    json::{count, field, text},
};

/// The usage of a reply. Anthropic does not count cached tokens as input; we do.
pub fn usage(usage: &Value) -> Usage {
    let cached = count(usage, "cache_read_input_tokens");
    let cache_written = count(usage, "cache_creation_input_tokens");
    let details = field(usage, "output_tokens_details");
    Usage {
        input: count(usage, "input_tokens") + cached + cache_written,
        cached,
        cache_written,
        output: count(usage, "output_tokens"),
        reasoning: details.map_or(0, |it| count(it, "thinking_tokens")),
        cost: usage.get("cost").and_then(Value::as_f64),
    }
}

/// Usage for clients.
pub fn write_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input.saturating_sub(usage.cached + usage.cache_written),
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.cache_written,
        "output_tokens": usage.output,
    })
}

/// Why the model stopped.
pub fn stop(of: &Value) -> Stop {
    match text(of, "stop_reason").unwrap_or_default() {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "tool_use" => Stop::Calls,
        "stop_sequence" => Stop::Sequence(text(of, "stop_sequence").map(str::to_owned)),
        "refusal" => Stop::Refused,
        _ => Stop::End,
    }
}

/// The reason for clients, and the stop text.
pub fn write_stop(stop: &Stop) -> (&'static str, Option<&str>) {
    match stop {
        Stop::End => ("end_turn", None),
        Stop::Length => ("max_tokens", None),
        Stop::Calls => ("tool_use", None),
        Stop::Sequence(text) => ("stop_sequence", text.as_deref()),
        Stop::Refused => ("refusal", None),
    }
}
