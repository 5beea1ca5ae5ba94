//! OpenAI Chat Completions, which most providers speak.

pub mod reply;
pub mod request;
pub mod stream;

use crate::conversation::{Stop, Usage};
use crate::json::{count, field};
use serde_json::{Value, json};

/// How a provider's version of the family differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// Name of the field that limits the answer.
    pub max_tokens: &'static str,
    /// Whether a stream has its usage only if the request asks for it.
    pub asks_for_usage: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self { max_tokens: "max_tokens", asks_for_usage: true }
    }
}

/// The usage of a reply or of the last chunk.
pub fn usage(usage: &Value) -> Usage {
    let details = |name: &str, part: &str| field(usage, name).map_or(0, |it| count(it, part));
    // DeepSeek has its own name for cached tokens.
    let cached = details("prompt_tokens_details", "cached_tokens")
        .max(count(usage, "prompt_cache_hit_tokens"));
    Usage {
        input: count(usage, "prompt_tokens"),
        cached,
        cache_written: details("prompt_tokens_details", "cache_write_tokens"),
        output: count(usage, "completion_tokens"),
        reasoning: details("completion_tokens_details", "reasoning_tokens"),
        cost: usage.get("cost").and_then(Value::as_f64),
    }
}

/// Usage for clients.
pub fn write_usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    })
}

/// Why the model stopped.
pub fn stop(reason: &str) -> Stop {
    match reason {
        "length" => Stop::Length,
        "tool_calls" | "function_call" => Stop::Calls,
        "content_filter" => Stop::Refused,
        _ => Stop::End,
    }
}

/// The reason for clients.
pub fn write_stop(stop: &Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence(_) => "stop",
        Stop::Length => "length",
        Stop::Calls => "tool_calls",
        Stop::Refused => "content_filter",
    }
}
