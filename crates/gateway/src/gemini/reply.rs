//! Replies: a stream is a sequence of them.

use serde_json::Value;

use super::{stop, usage};
use crate::{
    Malformed,
    conversation::{Call, Delta, Part, Reply, Stop, StreamFailure, stop_of},
    family::Decode,
    json::{field, list, owned, text},
    sse::Event,
};

/// Reads a reply. `id` names calls that have no id.
pub fn read(body: &Value, id: &str) -> Result<Reply, Malformed> {
    let blocked = field(body, "promptFeedback").and_then(|it| text(it, "blockReason"));
    let candidate = list(body, "candidates").first();
    if candidate.is_none() && blocked.is_none() {
        return Err(Malformed::NO_CHOICES);
    }
    let mut parts = Vec::new();
    let content = candidate.and_then(|it| field(it, "content"));
    for part in content.map(|it| list(it, "parts")).unwrap_or_default() {
        let calls = parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
        parts.extend(read_part(part, id, calls));
    }
    let reason = candidate.and_then(|it| text(it, "finishReason")).unwrap_or_default();
    if reason == "MALFORMED_FUNCTION_CALL" {
        return Err(Malformed::new("the model wrote a malformed function call"));
    }
    Ok(Reply {
        id: response_id(body, id),
        model: owned(body, "modelVersion"),
        stop: if blocked.is_some() { Stop::Refused } else { stop_of(stop(reason), &parts) },
        usage: field(body, "usageMetadata").map(usage).unwrap_or_default(),
        parts,
    })
}

fn response_id(body: &Value, id: &str) -> String {
    text(body, "responseId").unwrap_or(id).to_owned()
}

fn read_part(part: &Value, id: &str, calls: usize) -> Option<Part> {
    if let Some(call) = field(part, "functionCall") {
        let named = text(call, "id").map(str::to_owned);
        return Some(Part::Call(Call {
            id: named.unwrap_or_else(|| format!("call_{id}_{calls}")),
            name: owned(call, "name"),
            arguments: field(call, "args").cloned().unwrap_or_else(|| serde_json::json!({})),
            signature: text(part, "thoughtSignature").map(str::to_owned),
        }));
    }
    let words = text(part, "text").filter(|text| !text.is_empty())?.to_owned();
    let thought = part.get("thought") == Some(&Value::Bool(true));
    Some(if thought { Part::Reasoning(words) } else { Part::Text(words) })
}

/// Reads a stream. It has no end marker: the last event has a reason.
#[derive(Debug)]
pub struct Decoder {
    id: String,
    started: bool,
    stopped: bool,
    calls: usize,
}

impl Decoder {
    /// `id` names calls that have no id.
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), started: false, stopped: false, calls: 0 }
    }

    fn stop(&mut self, reason: &str, out: &mut Vec<Delta>) {
        self.stopped = true;
        if reason == "MALFORMED_FUNCTION_CALL" {
            let message = "the model wrote a malformed function call".to_owned();
            let kind = reason.to_ascii_lowercase();
            return out.push(Delta::Failed(StreamFailure { kind, message }));
        }
        let stop = match stop(reason) {
            Stop::End if self.calls > 0 => Stop::Calls,
            other => other,
        };
        out.push(Delta::Stop(stop));
    }
}

impl Decode for Decoder {
    fn read(&mut self, event: &Event, out: &mut Vec<Delta>) {
        let Ok(data) = serde_json::from_str::<Value>(&event.data) else { return };
        if let Some(error) = field(&data, "error") {
            let (kind, message) = (owned(error, "status"), owned(error, "message"));
            return out.push(Delta::Failed(StreamFailure { kind, message }));
        }
        if !self.started {
            self.started = true;
            let (id, model) = (response_id(&data, &self.id), owned(&data, "modelVersion"));
            out.push(Delta::Start { id, model });
        }
        let candidate = list(&data, "candidates").first();
        let content = candidate.and_then(|it| field(it, "content"));
        for part in content.map(|it| list(it, "parts")).unwrap_or_default() {
            match read_part(part, &self.id, self.calls) {
                Some(Part::Text(text)) => out.push(Delta::Text(text)),
                Some(Part::Reasoning(text)) => out.push(Delta::Reasoning(text)),
                Some(Part::Call(Call { id, name, arguments, signature })) => {
                    let number = self.calls;
                    self.calls += 1;
                    out.push(Delta::Call { number, id, name, signature });
                    out.push(Delta::Arguments { number, text: arguments.to_string() });
                }
                _ => {}
            }
        }
        out.extend(field(&data, "usageMetadata").map(|it| Delta::Usage(usage(it))));
        let blocked = field(&data, "promptFeedback").and_then(|it| text(it, "blockReason"));
        if blocked.is_some() {
            self.stopped = true;
            out.push(Delta::Stop(Stop::Refused));
        } else if let Some(reason) = candidate.and_then(|it| text(it, "finishReason")) {
            self.stop(reason, out);
        }
    }

    fn finish(&mut self, out: &mut Vec<Delta>) {
        if self.stopped {
            out.push(Delta::End);
        }
    }
}
