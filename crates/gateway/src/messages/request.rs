//! Requests.

use serde_json::{Map, Value, json};

use crate::{
    Invalid,
    chat::request::no_parameters,
    conversation::{
        Call, Format, Function, Media, Outcome, Part, Request, Role, ToolChoice, Turn, stop_texts,
    },
    json::{Fields, field, owned, text, unread},
    known_fields,
};

/// Tokens of an answer, if neither the client nor the table of models limits them.
pub const DEFAULT_MAX_TOKENS: u64 = 4096;
/// What cannot be translated and must not be dropped.
const REFUSED: [&str; 3] = ["container", "mcp_servers", "context_management"];

/// Reads a request.
pub fn read(body: &Value) -> Result<Request, Invalid> {
    let mut fields = Fields::of(body)?;
    fields.refuse(&REFUSED)?;
    fields.take("model");
    let mut request = Request::default();
    match fields.take("system") {
        None => {}
        Some(Value::String(text)) => request.system.push(text),
        Some(Value::Array(blocks)) => {
            request.system.extend(blocks.iter().map(|block| owned(block, "text")));
        }
        Some(_) => return Err(Invalid::new("system", "expected a string or a list")),
    }
    for (at, message) in fields.list("messages")?.iter().enumerate() {
        read_message(&mut request, message, &format!("messages[{at}]"))?;
    }
    for (at, tool) in fields.list("tools")?.iter().enumerate() {
        request.tools.push(read_tool(tool, &format!("tools[{at}]"))?);
    }
    if let Some(choice) = fields.take("tool_choice") {
        request.tool_choice = Some(read_choice(&choice)?);
        let single = choice.get("disable_parallel_tool_use").and_then(Value::as_bool);
        request.parallel_tools = single.map(|single| !single);
    }
    if let Some(output) = fields.take("output_config")
        && let Some(format) = field(&output, "format")
    {
        let schema = field(format, "schema").cloned();
        let schema =
            schema.ok_or_else(|| Invalid::new("output_config.format", "the schema is missing"))?;
        let (name, strict) = (String::new(), Some(true));
        request.format = Some(Format::Schema { name, schema, strict });
    }
    request.max_tokens = fields.count("max_tokens")?;
    request.temperature = fields.number("temperature")?;
    request.top_p = fields.number("top_p")?;
    request.stop = stop_texts(fields.take("stop_sequences"))?;
    request.stream = fields.flag("stream")?.unwrap_or_default();
    request.ignored = fields.ignored();
    request.ignored.extend(unread(body, known_fields::MESSAGES));
    Ok(request)
}

fn read_message(request: &mut Request, message: &Value, at: &str) -> Result<(), Invalid> {
    let role = match text(message, "role").unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            let reason = format!("role {other:?}: expected user or assistant");
            return Err(Invalid::new(at, reason));
        }
    };
    for part in read_content(field(message, "content"), at)? {
        request.say(role, part);
    }
    Ok(())
}

fn read_content(content: Option<&Value>, at: &str) -> Result<Vec<Part>, Invalid> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(blocks)) => {
            let mut parts = Vec::new();
            for (number, block) in blocks.iter().enumerate() {
                parts.extend(read_block(block, &format!("{at}.content[{number}]"))?);
            }
            Ok(parts)
        }
        Some(_) => Err(Invalid::new(format!("{at}.content"), "expected a string or a list")),
    }
}

/// A block; `None` for reasoning, which belongs to the model that wrote it.
fn read_block(block: &Value, at: &str) -> Result<Option<Part>, Invalid> {
    let part = match text(block, "type").unwrap_or_default() {
        "text" => Part::Text(owned(block, "text")),
        "image" | "document" => Part::Media(read_source(block, at)?),
        "thinking" | "redacted_thinking" => return Ok(None),
        "tool_use" if field(block, "toolset_name").is_some() => {
            return Err(Invalid::untranslatable(&format!("{at}.toolset_name")));
        }
        "tool_use" => Part::Call(Call {
            id: owned(block, "id"),
            name: owned(block, "name"),
            arguments: field(block, "input").cloned().unwrap_or_else(|| json!({})),
            signature: None,
        }),
        "tool_result" => Part::Outcome(Outcome {
            id: owned(block, "tool_use_id"),
            content: read_content(field(block, "content"), at)?,
            is_error: block.get("is_error") == Some(&Value::Bool(true)),
        }),
        other => return Err(Invalid::untranslatable(&format!("{at}.type {other:?}"))),
    };
    Ok(Some(part))
}

fn read_source(block: &Value, at: &str) -> Result<Media, Invalid> {
    let source = field(block, "source").cloned().unwrap_or_default();
    match text(&source, "type").unwrap_or_default() {
        "base64" => Ok(Media::Data {
            media_type: owned(&source, "media_type"),
            data: owned(&source, "data"),
            name: text(block, "title").map(str::to_owned),
        }),
        "url" => Ok(Media::Url(owned(&source, "url"))),
        other => Err(Invalid::untranslatable(&format!("{at}.source.type {other:?}"))),
    }
}

fn read_tool(tool: &Value, at: &str) -> Result<Function, Invalid> {
    match text(tool, "type") {
        None | Some("custom") => {}
        Some(other) => return Err(Invalid::untranslatable(&format!("{at}.type {other:?}"))),
    }
    Ok(Function {
        name: owned(tool, "name"),
        description: text(tool, "description").map(str::to_owned),
        parameters: field(tool, "input_schema").cloned().unwrap_or_else(no_parameters),
        strict: tool.get("strict").and_then(Value::as_bool),
    })
}

fn read_choice(choice: &Value) -> Result<ToolChoice, Invalid> {
    Ok(match text(choice, "type").unwrap_or_default() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::Never,
        "tool" => ToolChoice::Named(owned(choice, "name")),
        other => {
            let reason = format!("{other:?}: expected auto, any, tool or none");
            return Err(Invalid::new("tool_choice.type", reason));
        }
    })
}

/// Writes a request for a model. `most` is what its answers can have at most.
pub fn write(request: &Request, model: &str, most: Option<u64>) -> Value {
    let max_tokens = request.max_tokens.or(most).unwrap_or(DEFAULT_MAX_TOKENS);
    let messages: Vec<_> = request.turns.iter().map(write_turn).collect();
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(model)),
        ("max_tokens".to_owned(), json!(max_tokens)),
        ("messages".to_owned(), Value::Array(messages)),
    ]);
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    let system = request.system.join("\n\n");
    if !system.is_empty() {
        set("system", json!(system));
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(write_tool).collect());
    }
    let parallel = request.parallel_tools.filter(|_| !request.tools.is_empty());
    if let Some(choice) = write_choice(request.tool_choice.as_ref(), parallel) {
        set("tool_choice", choice);
    }
    match &request.format {
        // Clients of OpenAI have to ask for JSON in words as well. It is named as ignored.
        None | Some(Format::Json) => {}
        Some(Format::Schema { schema, .. }) => {
            set("output_config", json!({ "format": { "type": "json_schema", "schema": schema } }));
        }
    }
    for (name, number) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if let Some(number) = number {
            set(name, json!(number));
        }
    }
    if !request.stop.is_empty() {
        set("stop_sequences", json!(request.stop));
    }
    if request.stream {
        set("stream", json!(true));
    }
    Value::Object(body)
}

fn write_turn(turn: &Turn) -> Value {
    let (outcomes, rest) = turn.outcomes_first();
    let mut content: Vec<_> = outcomes.into_iter().map(write_outcome).collect();
    content.extend(rest.into_iter().filter_map(write_part));
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    json!({ "role": role, "content": content })
}

fn write_outcome(outcome: &Outcome) -> Value {
    let content: Vec<_> = outcome.content.iter().filter_map(write_part).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": outcome.id, "content": content });
    if let (true, Value::Object(block)) = (outcome.is_error, &mut block) {
        block.insert("is_error".to_owned(), json!(true));
    }
    block
}

/// A block; `None` for what the API refuses, such as empty text.
fn write_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        Part::Media(media) => Some(write_media(media)),
        Part::Call(call) => Some(write_call(call)),
        Part::Reasoning(_) | Part::Outcome(_) => None,
    }
}

/// A call, in requests and replies.
pub fn write_call(call: &Call) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments })
}

fn write_media(media: &Media) -> Value {
    let kind = if media.is_document() { "document" } else { "image" };
    let source = match media {
        Media::Data { media_type, data, .. } => {
            json!({ "type": "base64", "media_type": media_type, "data": data })
        }
        Media::Url(url) => json!({ "type": "url", "url": url }),
    };
    match media {
        Media::Data { name: Some(name), .. } if media.is_document() => {
            json!({ "type": kind, "source": source, "title": name })
        }
        _ => json!({ "type": kind, "source": source }),
    }
}

fn write_tool(tool: &Function) -> Value {
    let mut written = json!({ "name": tool.name, "input_schema": tool.parameters });
    if let Value::Object(fields) = &mut written {
        if let Some(description) = &tool.description {
            fields.insert("description".to_owned(), json!(description));
        }
        if tool.strict == Some(true) {
            fields.insert("strict".to_owned(), json!(true));
        }
    }
    written
}

fn write_choice(choice: Option<&ToolChoice>, parallel: Option<bool>) -> Option<Value> {
    let mut written = match choice {
        Some(ToolChoice::Never) => return Some(json!({ "type": "none" })),
        Some(ToolChoice::Auto) => json!({ "type": "auto" }),
        Some(ToolChoice::Required) => json!({ "type": "any" }),
        Some(ToolChoice::Named(name)) => json!({ "type": "tool", "name": name }),
        None if parallel == Some(false) => json!({ "type": "auto" }),
        None => return None,
    };
    if let (Some(false), Value::Object(fields)) = (parallel, &mut written) {
        fields.insert("disable_parallel_tool_use".to_owned(), json!(true));
    }
    Some(written)
}
