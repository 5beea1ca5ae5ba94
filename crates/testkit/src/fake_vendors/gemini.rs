//! Google's `generateContent`.

use serde_json::{Value, json};

use super::{
    Answer, FakeVendors, Refusal, event,
    model::{ModelAnswer, Seen, pieces},
    refuse,
};

const VENDOR: &str = "gemini";
/// Bytes of a request, with the pictures in it.
const MAX_REQUEST: usize = 20 << 20;

/// Answers, or refuses what Google refuses.
pub fn answer(path: &str, asked: &Value) -> Result<Answer, Refusal> {
    let model = path.trim_start_matches("/models/").split(':').next().unwrap_or_default();
    let said = check(model, asked)?.answer(VENDOR);
    let (input, cached, output) = FakeVendors::USAGE;
    let usage = json!({
        "promptTokenCount": input, "cachedContentTokenCount": cached,
        "candidatesTokenCount": output, "totalTokenCount": input + output,
    });
    let reply = |parts: Value, reason: Value| {
        json!({
            "responseId": "fake", "modelVersion": model, "usageMetadata": usage,
            "candidates": [
                { "index": 0, "content": { "role": "model", "parts": parts }, "finishReason": reason },
            ],
        })
    };
    let parts = match &said {
        ModelAnswer::Text(text) => json!([{ "text": text }]),
        ModelAnswer::Call(name, arguments) => json!([
            { "functionCall": { "name": name, "args": arguments }, "thoughtSignature": "c2ln" },
        ]),
    };
    if !path.contains(":streamGenerateContent?alt=sse") {
        return Ok(Answer::Whole(200, reply(parts, json!("STOP"))));
    }
    let mut events = Vec::new();
    match said {
        ModelAnswer::Text(text) => {
            for piece in pieces(&text) {
                events.push(event(None, &reply(json!([{ "text": piece }]), Value::Null)));
            }
            events.push(event(None, &reply(json!([{ "text": "" }]), json!("STOP"))));
        }
        ModelAnswer::Call(..) => events.push(event(None, &reply(parts, json!("STOP")))),
    }
    Ok(Answer::Events(events))
}

/// What the model sees. A turn with calls is followed by one with as many results.
fn check(model: &str, asked: &Value) -> Result<Seen, Refusal> {
    let none = Vec::new();
    let contents = asked["contents"].as_array().unwrap_or(&none);
    if contents.is_empty() {
        return Err(refuse(VENDOR, "contents is not specified"));
    }
    if asked.to_string().len() > MAX_REQUEST {
        let message = format!("Request payload size exceeds the limit: {MAX_REQUEST} bytes.");
        return Err(refuse(VENDOR, message));
    }
    let tools = &asked["tools"][0]["functionDeclarations"];
    let mut seen = Seen {
        tool: tools[0]["name"].as_str().map(str::to_owned),
        must: asked["toolConfig"]["functionCallingConfig"]["mode"] == "ANY",
        schema: asked["generationConfig"]["responseJsonSchema"].is_object(),
        ..Seen::default()
    };
    let mut open = 0;
    for content in contents {
        let parts = content["parts"].as_array().unwrap_or(&none);
        let results = parts.iter().filter(|part| part["functionResponse"].is_object());
        if results.count() != open {
            let message = "Please ensure that the number of function response parts is equal to the \
                           number of function call parts of the function call turn.";
            return Err(refuse(VENDOR, message));
        }
        let calls: Vec<_> = parts.iter().filter(|part| part["functionCall"].is_object()).collect();
        let unsigned = calls.iter().any(|call| call.get("thoughtSignature").is_none());
        if unsigned && !model.starts_with("gemini-2") {
            let message = "Function call is missing a thought_signature in functionCall parts.";
            return Err(refuse(VENDOR, message));
        }
        open = calls.len();
        for part in parts {
            if let Some(text) = part["text"].as_str().filter(|_| content["role"] == "user") {
                seen.words = text.to_owned();
                seen.outcome = None;
            }
            let outcome = &part["functionResponse"]["response"]["output"];
            seen.outcome = outcome.as_str().map(str::to_owned).or(seen.outcome);
            seen.pictures += part["inlineData"]["data"].as_str().map_or(0, |it| it.len() / 4 * 3);
        }
    }
    Ok(seen)
}

/// Embeddings of every text.
pub fn embeddings(asked: &Value) -> Value {
    let requests = asked["requests"].as_array().map_or(0, Vec::len);
    json!({ "embeddings": vec![json!({ "values": [0.25, 0.75] }); requests] })
}
