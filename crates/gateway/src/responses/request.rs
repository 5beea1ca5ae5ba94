//! Requests.

use serde_json::{Map, Value, json};

use crate::{
    Invalid,
    chat::request::{no_parameters, read_choice, read_schema, write_choice},
    conversation::{Call, Format, Function, Media, Outcome, Part, Request, Role, Turn, arguments},
    json::{Fields, field, owned, text, unread},
    known_fields,
};

/// What cannot be translated and must not be dropped: most of it refers to what OpenAI stores.
const REFUSED: [&str; 8] = [
    "background",
    "conversation",
    "max_tool_calls",
    "moderation",
    "previous_response_id",
    "prompt",
    "top_logprobs",
    "context_management",
];

/// Reads a request.
pub fn read(body: &Value) -> Result<Request, Invalid> {
    let mut fields = Fields::of(body)?;
    fields.refuse(&REFUSED)?;
    fields.take("model");
    let mut request = Request::default();
    request.system.extend(fields.text("instructions")?);
    match fields.take("input") {
        None => return Err(Invalid::new("input", "it is missing")),
        Some(Value::String(text)) => request.say(Role::User, Part::Text(text)),
        Some(Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                read_item(&mut request, item, &format!("input[{at}]"))?;
            }
        }
        Some(_) => return Err(Invalid::new("input", "expected a string or a list")),
    }
    for (at, tool) in fields.list("tools")?.iter().enumerate() {
        request.tools.push(read_tool(tool, &format!("tools[{at}]"))?);
    }
    request.tool_choice = fields.take("tool_choice").map(|it| read_choice(&it)).transpose()?;
    request.parallel_tools = fields.flag("parallel_tool_calls")?;
    if let Some(words) = fields.take("text") {
        request.format = field(&words, "format").map(read_format).transpose()?.flatten();
    }
    request.max_tokens = fields.count("max_output_tokens")?;
    request.temperature = fields.number("temperature")?;
    request.top_p = fields.number("top_p")?;
    request.stream = fields.flag("stream")?.unwrap_or_default();
    request.stream_usage = true;
    request.ignored = fields.ignored();
    request.ignored.extend(unread(body, known_fields::RESPONSES));
    Ok(request)
}

fn read_item(request: &mut Request, item: &Value, at: &str) -> Result<(), Invalid> {
    match text(item, "type").unwrap_or("message") {
        "message" => read_message(request, item, at)?,
        "function_call" => {
            let call = Call {
                id: owned(item, "call_id"),
                name: owned(item, "name"),
                arguments: arguments(text(item, "arguments").unwrap_or_default()),
                signature: None,
            };
            request.say(Role::Assistant, Part::Call(call));
        }
        "function_call_output" => {
            let content = read_content(field(item, "output"), &format!("{at}.output"))?;
            let id = owned(item, "call_id");
            request.say(Role::User, Part::Outcome(Outcome { id, content, is_error: false }));
        }
        // Reasoning belongs to the model that wrote it.
        "reasoning" => {}
        other => return Err(Invalid::untranslatable(&format!("{at}.type {other:?}"))),
    }
    Ok(())
}

fn read_message(request: &mut Request, item: &Value, at: &str) -> Result<(), Invalid> {
    let content = read_content(field(item, "content"), at)?;
    let role = match text(item, "role").unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => {
            for part in content {
                match part {
                    Part::Text(text) => request.system.push(text),
                    _ => return Err(Invalid::new(at, "a system message can only have text")),
                }
            }
            return Ok(());
        }
        other => {
            let reason = format!("role {other:?}: expected user, assistant, system or developer");
            return Err(Invalid::new(at, reason));
        }
    };
    for part in content {
        request.say(role, part);
    }
    Ok(())
}

fn read_content(content: Option<&Value>, at: &str) -> Result<Vec<Part>, Invalid> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(parts)) => {
            let read = |(number, part)| read_part(part, &format!("{at}[{number}]"));
            parts.iter().enumerate().map(read).collect()
        }
        Some(_) => Err(Invalid::new(at, "expected a string or a list")),
    }
}

fn read_part(part: &Value, at: &str) -> Result<Part, Invalid> {
    match text(part, "type").unwrap_or_default() {
        "input_text" | "output_text" => Ok(Part::Text(owned(part, "text"))),
        "refusal" => Ok(Part::Text(owned(part, "refusal"))),
        "input_image" => {
            let url = text(part, "image_url")
                .ok_or_else(|| Invalid::new(at, "a picture can only be sent as image_url"))?;
            Ok(Part::Media(Media::at(url)))
        }
        "input_file" => {
            let url = text(part, "file_data").or_else(|| text(part, "file_url"));
            let url = url.ok_or_else(|| {
                Invalid::new(at, "a file can only be sent as file_data or file_url")
            })?;
            Ok(Part::Media(match Media::at(url) {
                Media::Data { media_type, data, .. } => Media::Data {
                    media_type,
                    data,
                    name: text(part, "filename").map(str::to_owned),
                },
                url => url,
            }))
        }
        other => Err(Invalid::untranslatable(&format!("{at}.type {other:?}"))),
    }
}

fn read_tool(tool: &Value, at: &str) -> Result<Function, Invalid> {
    match text(tool, "type") {
        Some("function") => Ok(Function {
            name: owned(tool, "name"),
            description: text(tool, "description").map(str::to_owned),
            parameters: field(tool, "parameters").cloned().unwrap_or_else(no_parameters),
            strict: tool.get("strict").and_then(Value::as_bool),
        }),
        other => {
            Err(Invalid::untranslatable(&format!("{at}.type {:?}", other.unwrap_or_default())))
        }
    }
}

fn read_format(format: &Value) -> Result<Option<Format>, Invalid> {
    match text(format, "type").unwrap_or_default() {
        "text" => Ok(None),
        "json_object" => Ok(Some(Format::Json)),
        "json_schema" => read_schema(format).map(Some),
        other => Err(Invalid::new("text.format.type", format!("{other:?} is not known"))),
    }
}

/// Writes a request for a model. OpenAI need not store it.
pub fn write(request: &Request, model: &str) -> Result<Value, Invalid> {
    if !request.stop.is_empty() {
        return Err(Invalid::untranslatable("stop"));
    }
    let mut input = Vec::new();
    for turn in &request.turns {
        write_turn(turn, &mut input);
    }
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(model)),
        ("input".to_owned(), Value::Array(input)),
        ("store".to_owned(), json!(false)),
    ]);
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    if !request.system.is_empty() {
        set("instructions", json!(request.system.join("\n\n")));
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(write_tool).collect());
        if let Some(parallel) = request.parallel_tools {
            set("parallel_tool_calls", json!(parallel));
        }
        if let Some(choice) = &request.tool_choice {
            set("tool_choice", write_choice(choice, false));
        }
    }
    if let Some(format) = &request.format {
        set("text", json!({ "format": write_format(format) }));
    }
    if let Some(most) = request.max_tokens {
        set("max_output_tokens", json!(most));
    }
    for (name, number) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if let Some(number) = number {
            set(name, json!(number));
        }
    }
    if request.stream {
        set("stream", json!(true));
    }
    Ok(Value::Object(body))
}

fn write_turn(turn: &Turn, input: &mut Vec<Value>) {
    let (outcomes, rest) = turn.outcomes_first();
    for outcome in outcomes {
        input.push(write_outcome(outcome));
    }
    let (role, kind) = match turn.role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let mut content = Vec::new();
    let mut calls = Vec::new();
    for part in rest {
        match part {
            Part::Text(text) => content.push(json!({ "type": kind, "text": text })),
            Part::Media(media) => content.push(write_media(media)),
            Part::Call(call) => calls.push(json!({
                "type": "function_call", "call_id": call.id, "name": call.name,
                "arguments": call.arguments.to_string(),
            })),
            Part::Reasoning(_) | Part::Outcome(_) => {}
        }
    }
    if !content.is_empty() {
        input.push(json!({ "type": "message", "role": role, "content": content }));
    }
    input.extend(calls);
}

fn write_outcome(outcome: &Outcome) -> Value {
    let said = match outcome.is_error {
        true => format!("Error: {}", outcome.text()),
        false => outcome.text(),
    };
    let media: Vec<_> = outcome.media().map(write_media).collect();
    let output = match media.is_empty() {
        true => json!(said),
        false => {
            let words = (!said.is_empty()).then(|| json!({ "type": "input_text", "text": said }));
            words.into_iter().chain(media).collect()
        }
    };
    json!({ "type": "function_call_output", "call_id": outcome.id, "output": output })
}

fn write_media(media: &Media) -> Value {
    match media {
        Media::Data { name, .. } if media.is_document() => {
            let name = name.as_deref().unwrap_or("document");
            json!({ "type": "input_file", "filename": name, "file_data": media.url() })
        }
        _ => json!({ "type": "input_image", "image_url": media.url(), "detail": "auto" }),
    }
}

fn write_tool(tool: &Function) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description,
        "parameters": tool.parameters, "strict": tool.strict.unwrap_or_default(),
    })
}

fn write_format(format: &Format) -> Value {
    match format {
        Format::Json => json!({ "type": "json_object" }),
        Format::Schema { name, schema, strict } => {
            let name = if name.is_empty() { "answer" } else { name };
            let strict = strict.unwrap_or(true);
            json!({ "type": "json_schema", "name": name, "schema": schema, "strict": strict })
        }
    }
}
