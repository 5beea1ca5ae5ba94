//! Google's `generateContent`. Clients do not speak it here; providers do.

pub mod embeddings;
pub mod reply;
pub mod request;

use serde_json::Value;

use crate::{
    conversation::{Stop, Usage},
    json::count,
};

/// The usage of a reply. Google counts thoughts beside the answer; we count them as output.
pub fn usage(usage: &Value) -> Usage {
    let reasoning = count(usage, "thoughtsTokenCount");
    Usage {
        input: count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount"),
        cached: count(usage, "cachedContentTokenCount"),
        cache_written: 0,
        output: count(usage, "candidatesTokenCount") + reasoning,
        reasoning,
        cost: None,
    }
}

/// Why the model stopped. Calls are recognised by their parts.
pub fn stop(reason: &str) -> Stop {
    match reason {
        "MAX_TOKENS" => Stop::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
            Stop::Refused
        }
        _ => Stop::End,
    }
}
