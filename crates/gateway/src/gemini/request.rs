//! Requests.

use serde_json::{Map, Value, json};

use crate::{
    Invalid,
    conversation::{Call, Format, Media, Outcome, Part, Request, Role, ToolChoice, Turn},
};

/// Stands for a signature that the client did not send back. Google documents it for this.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Writes a request. The address names the model, and whether the answer is streamed.
pub fn write(request: &Request, model: &str) -> Result<Value, Invalid> {
    let mut contents = Vec::new();
    for turn in &request.turns {
        contents.push(write_turn(request, turn, model)?);
    }
    let mut body = Map::from_iter([("contents".to_owned(), Value::Array(contents))]);
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    if !request.system.is_empty() {
        let text = request.system.join("\n\n");
        set("systemInstruction", json!({ "parts": [{ "text": text }] }));
    }
    if !request.tools.is_empty() {
        let functions = request.tools.iter().map(|tool| {
            let mut written = json!({ "name": tool.name, "parametersJsonSchema": tool.parameters });
            if let (Some(description), Value::Object(it)) = (&tool.description, &mut written) {
                it.insert("description".to_owned(), json!(description));
            }
            written
        });
        let functions: Vec<_> = functions.collect();
        set("tools", json!([{ "functionDeclarations": functions }]));
        if let Some(choice) = &request.tool_choice {
            set("toolConfig", json!({ "functionCallingConfig": write_choice(choice) }));
        }
    }
    let config = write_config(request);
    if !config.is_empty() {
        set("generationConfig", Value::Object(config));
    }
    Ok(Value::Object(body))
}

fn write_config(request: &Request) -> Map<String, Value> {
    let mut config = Map::new();
    let mut set = |name: &str, value: Value| config.insert(name.to_owned(), value);
    if let Some(most) = request.max_tokens {
        set("maxOutputTokens", json!(most));
    }
    for (name, number) in [("temperature", request.temperature), ("topP", request.top_p)] {
        if let Some(number) = number {
            set(name, json!(number));
        }
    }
    if !request.stop.is_empty() {
        set("stopSequences", json!(request.stop));
    }
    if let Some(format) = &request.format {
        set("responseMimeType", json!("application/json"));
        if let Format::Schema { schema, .. } = format {
            set("responseJsonSchema", schema.clone());
        }
    }
    config
}

fn write_turn(request: &Request, turn: &Turn, model: &str) -> Result<Value, Invalid> {
    let (outcomes, rest) = turn.outcomes_first();
    let mut parts = Vec::new();
    for outcome in outcomes {
        write_outcome(request, outcome, &mut parts)?;
    }
    for part in rest {
        match part {
            Part::Text(text) if !text.is_empty() => parts.push(json!({ "text": text })),
            Part::Media(media) => parts.push(write_media(media)?),
            Part::Call(call) => parts.push(write_call(call, model)),
            Part::Text(_) | Part::Reasoning(_) | Part::Outcome(_) => {}
        }
    }
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "model",
    };
    Ok(json!({ "role": role, "parts": parts }))
}

/// A result, which names the function rather than the call, and its pictures.
fn write_outcome(
    request: &Request,
    outcome: &Outcome,
    parts: &mut Vec<Value>,
) -> Result<(), Invalid> {
    let name = request.called(&outcome.id).ok_or_else(|| {
        Invalid::new("messages", format!("no call has the id {:?} of a result", outcome.id))
    })?;
    let key = if outcome.is_error { "error" } else { "output" };
    let response = json!({ key: outcome.text() });
    parts.push(json!({ "functionResponse": { "name": name, "response": response } }));
    for media in outcome.media() {
        parts.push(write_media(media)?);
    }
    Ok(())
}

fn write_call(call: &Call, model: &str) -> Value {
    let function = json!({ "name": call.name, "args": call.arguments });
    let signature = match &call.signature {
        Some(signature) => Some(signature.as_str()),
        // Only these refuse calls without.
        None => (!model.starts_with("gemini-2")).then_some(NO_SIGNATURE),
    };
    match signature {
        Some(signature) => json!({ "functionCall": function, "thoughtSignature": signature }),
        None => json!({ "functionCall": function }),
    }
}

fn write_media(media: &Media) -> Result<Value, Invalid> {
    match media {
        Media::Data { media_type, data, .. } => {
            Ok(json!({ "inlineData": { "mimeType": media_type, "data": data } }))
        }
        Media::Url(_) => {
            let reason = "Gemini takes pictures as data: addresses only";
            Err(Invalid::new("image_url", reason))
        }
    }
}

fn write_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Never => json!({ "mode": "NONE" }),
        ToolChoice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}
