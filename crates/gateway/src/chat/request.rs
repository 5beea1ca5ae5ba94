//! Requests.

use serde_json::{Map, Value, json};

use super::Quirks;
use crate::{
    Invalid,
    conversation::{
        Call, Format, Function, Media, Outcome, Part, Request, Role, ToolChoice, Turn, arguments,
        stop_texts,
    },
    json::{Fields, field, list, owned, text, unread},
    known_fields,
};

/// What cannot be translated and must not be dropped.
const REFUSED: [&str; 9] = [
    "n",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "audio",
    "functions",
    "function_call",
    "web_search_options",
    "moderation",
];

/// Reads a request.
pub fn read(body: &Value) -> Result<Request, Invalid> {
    let mut fields = Fields::of(body)?;
    fields.refuse(&REFUSED)?;
    fields.take("model");
    let mut request = Request::default();
    for (at, message) in fields.list("messages")?.iter().enumerate() {
        read_message(&mut request, message, &format!("messages[{at}]"))?;
    }
    for (at, tool) in fields.list("tools")?.iter().enumerate() {
        request.tools.push(read_tool(tool, &format!("tools[{at}]"))?);
    }
    request.tool_choice = fields.take("tool_choice").map(|it| read_choice(&it)).transpose()?;
    request.parallel_tools = fields.flag("parallel_tool_calls")?;
    let format = fields.take("response_format").map(|format| read_format(&format)).transpose()?;
    request.format = format.flatten();
    let most = fields.count("max_completion_tokens")?;
    request.max_tokens = most.or(fields.count("max_tokens")?);
    request.temperature = fields.number("temperature")?;
    request.top_p = fields.number("top_p")?;
    request.stop = stop_texts(fields.take("stop"))?;
    request.stream = fields.flag("stream")?.unwrap_or_default();
    let options = fields.take("stream_options").unwrap_or_default();
    request.stream_usage = options.get("include_usage") == Some(&Value::Bool(true));
    request.ignored = fields.ignored();
    request.ignored.extend(unread(body, known_fields::CHAT));
    Ok(request)
}

fn read_message(request: &mut Request, message: &Value, at: &str) -> Result<(), Invalid> {
    let content = field(message, "content");
    match text(message, "role").unwrap_or_default() {
        "system" | "developer" => {
            for part in read_content(content, at)? {
                match part {
                    Part::Text(text) => request.system.push(text),
                    _ => return Err(Invalid::new(at, "a system message can only have text")),
                }
            }
        }
        "user" => {
            for part in read_content(content, at)? {
                request.say(Role::User, part);
            }
        }
        "assistant" => {
            for name in ["function_call", "audio"] {
                if field(message, name).is_some() {
                    return Err(Invalid::untranslatable(&format!("{at}.{name}")));
                }
            }
            for part in read_content(content, at)? {
                request.say(Role::Assistant, part);
            }
            if let Some(refusal) = text(message, "refusal").filter(|it| !it.is_empty()) {
                request.say(Role::Assistant, Part::Text(refusal.to_owned()));
            }
            for call in list(message, "tool_calls") {
                request.say(Role::Assistant, Part::Call(read_call(call, at)?));
            }
        }
        "tool" => {
            let content = read_content(content, at)?;
            let id = owned(message, "tool_call_id");
            request.say(Role::User, Part::Outcome(Outcome { id, content, is_error: false }));
        }
        other => {
            let reason = format!("role {other:?}: expected system, user, assistant or tool");
            return Err(Invalid::new(at, reason));
        }
    }
    Ok(())
}

fn read_content(content: Option<&Value>, at: &str) -> Result<Vec<Part>, Invalid> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(parts)) => {
            let read = |(number, part)| read_part(part, &format!("{at}.content[{number}]"));
            parts.iter().enumerate().map(read).collect()
        }
        Some(_) => Err(Invalid::new(format!("{at}.content"), "expected a string or a list")),
    }
}

fn read_part(part: &Value, at: &str) -> Result<Part, Invalid> {
    match text(part, "type").unwrap_or_default() {
        "text" => Ok(Part::Text(owned(part, "text"))),
        "refusal" => Ok(Part::Text(owned(part, "refusal"))),
        "image_url" => {
            let url = field(part, "image_url").and_then(|image| text(image, "url"));
            let url = url.ok_or_else(|| Invalid::new(at, "image_url.url is missing"))?;
            Ok(Part::Media(Media::at(url)))
        }
        "file" => {
            let file = field(part, "file").cloned().unwrap_or_default();
            let data = text(&file, "file_data")
                .ok_or_else(|| Invalid::new(at, "a file can only be sent as file_data"))?;
            let media = match Media::at(data) {
                Media::Data { media_type, data, .. } => Media::Data {
                    media_type,
                    data,
                    name: text(&file, "filename").map(str::to_owned),
                },
                Media::Url(_) => return Err(Invalid::new(at, "file_data is not a data: address")),
            };
            Ok(Part::Media(media))
        }
        other => Err(Invalid::untranslatable(&format!("{at}.type {other:?}"))),
    }
}

fn read_call(call: &Value, at: &str) -> Result<Call, Invalid> {
    let function = field(call, "function")
        .ok_or_else(|| Invalid::untranslatable(&format!("{at}.tool_calls without function")))?;
    let google = field(call, "extra_content").and_then(|extra| field(extra, "google"));
    Ok(Call {
        id: owned(call, "id"),
        name: owned(function, "name"),
        arguments: arguments(text(function, "arguments").unwrap_or_default()),
        signature: google.and_then(|it| text(it, "thought_signature")).map(str::to_owned),
    })
}

fn read_tool(tool: &Value, at: &str) -> Result<Function, Invalid> {
    let function = field(tool, "function").filter(|_| text(tool, "type") == Some("function"));
    let function = function
        .ok_or_else(|| Invalid::untranslatable(&format!("{at}.type {:?}", owned(tool, "type"))))?;
    Ok(Function {
        name: owned(function, "name"),
        description: text(function, "description").map(str::to_owned),
        parameters: field(function, "parameters").cloned().unwrap_or_else(no_parameters),
        strict: function.get("strict").and_then(Value::as_bool),
    })
}

/// The schema of a function without parameters.
pub fn no_parameters() -> Value {
    json!({ "type": "object", "properties": {} })
}

/// Reads the choice of Chat and of Responses.
pub fn read_choice(choice: &Value) -> Result<ToolChoice, Invalid> {
    match choice.as_str() {
        Some("auto") => return Ok(ToolChoice::Auto),
        Some("required") => return Ok(ToolChoice::Required),
        Some("none") => return Ok(ToolChoice::Never),
        _ => {}
    }
    let name = field(choice, "function").unwrap_or(choice);
    match text(name, "name").filter(|_| text(choice, "type") == Some("function")) {
        Some(name) => Ok(ToolChoice::Named(name.to_owned())),
        None => Err(Invalid::new("tool_choice", "expected auto, required, none or a function")),
    }
}

fn read_format(format: &Value) -> Result<Option<Format>, Invalid> {
    match text(format, "type").unwrap_or_default() {
        "text" => Ok(None),
        "json_object" => Ok(Some(Format::Json)),
        "json_schema" => {
            let it = field(format, "json_schema").cloned().unwrap_or_default();
            read_schema(&it).map(Some)
        }
        other => Err(Invalid::new("response_format.type", format!("{other:?} is not known"))),
    }
}

/// Reads a schema with its name, as Chat and Responses have it.
pub fn read_schema(it: &Value) -> Result<Format, Invalid> {
    let schema = field(it, "schema").cloned();
    let schema = schema.ok_or_else(|| Invalid::new("response_format", "the schema is missing"))?;
    let strict = it.get("strict").and_then(Value::as_bool);
    Ok(Format::Schema { name: owned(it, "name"), schema, strict })
}

/// Writes a request for a model.
pub fn write(request: &Request, model: &str, quirks: Quirks) -> Value {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({ "role": "system", "content": request.system.join("\n\n") }));
    }
    for turn in &request.turns {
        match turn.role {
            Role::User => write_user(turn, &mut messages),
            Role::Assistant => messages.push(write_assistant(turn)),
        }
    }
    let mut body = Map::from_iter([
        ("model".to_owned(), json!(model)),
        ("messages".to_owned(), Value::Array(messages)),
    ]);
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(write_tool).collect());
        if let Some(parallel) = request.parallel_tools {
            set("parallel_tool_calls", json!(parallel));
        }
        if let Some(choice) = &request.tool_choice {
            set("tool_choice", write_choice(choice, true));
        }
    }
    if let Some(format) = &request.format {
        set("response_format", write_format(format));
    }
    if let Some(most) = request.max_tokens {
        set(quirks.max_tokens, json!(most));
    }
    for (name, number) in [("temperature", request.temperature), ("top_p", request.top_p)] {
        if let Some(number) = number {
            set(name, json!(number));
        }
    }
    if !request.stop.is_empty() {
        set("stop", json!(request.stop));
    }
    if request.stream {
        set("stream", json!(true));
        if quirks.asks_for_usage {
            set("stream_options", json!({ "include_usage": true }));
        }
    }
    Value::Object(body)
}

/// Results of tools are messages, and can only have text: their pictures follow as the user's.
fn write_user(turn: &Turn, messages: &mut Vec<Value>) {
    let (outcomes, rest) = turn.outcomes_first();
    let mut content = Vec::new();
    for outcome in outcomes {
        let mut said = outcome.text();
        for media in outcome.media() {
            content.push(json!({ "type": "text", "text": format!("Result of {}:", outcome.id) }));
            content.push(write_media(media));
            if said.is_empty() {
                said = "The result is a picture; it follows.".to_owned();
            }
        }
        if outcome.is_error {
            said = format!("Error: {said}");
        }
        messages.push(json!({ "role": "tool", "tool_call_id": outcome.id, "content": said }));
    }
    for part in rest {
        match part {
            Part::Text(text) => content.push(json!({ "type": "text", "text": text })),
            Part::Media(media) => content.push(write_media(media)),
            Part::Reasoning(_) | Part::Call(_) | Part::Outcome(_) => {}
        }
    }
    let only_text = |part: &Value| text(part, "type") == Some("text");
    match content.as_slice() {
        [] => {}
        [one] if only_text(one) => {
            messages.push(json!({ "role": "user", "content": owned(one, "text") }));
        }
        _ => messages.push(json!({ "role": "user", "content": content })),
    }
}

fn write_assistant(turn: &Turn) -> Value {
    let (mut words, mut calls) = (Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Text(text) => words.push(text.as_str()),
            Part::Call(call) => calls.push(write_call(call)),
            Part::Reasoning(_) | Part::Media(_) | Part::Outcome(_) => {}
        }
    }
    let content = if words.is_empty() { Value::Null } else { json!(words.join("\n")) };
    let mut message = json!({ "role": "assistant", "content": content });
    if let (false, Value::Object(message)) = (calls.is_empty(), &mut message) {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    message
}

/// A call, in requests and replies.
pub fn write_call(call: &Call) -> Value {
    let mut written = json!({
        "id": call.id, "type": "function",
        "function": { "name": call.name, "arguments": call.arguments.to_string() },
    });
    if let (Some(signature), Value::Object(fields)) = (&call.signature, &mut written) {
        fields.insert("extra_content".to_owned(), signed(signature));
    }
    written
}

/// Where Google's own Chat endpoint puts a signature.
pub fn signed(signature: &str) -> Value {
    json!({ "google": { "thought_signature": signature } })
}

fn write_media(media: &Media) -> Value {
    match media {
        Media::Data { name, .. } if media.is_document() => {
            let name = name.as_deref().unwrap_or("document");
            json!({ "type": "file", "file": { "filename": name, "file_data": media.url() } })
        }
        _ => json!({ "type": "image_url", "image_url": { "url": media.url() } }),
    }
}

fn write_tool(tool: &Function) -> Value {
    let mut function = json!({ "name": tool.name, "parameters": tool.parameters });
    if let Value::Object(fields) = &mut function {
        if let Some(description) = &tool.description {
            fields.insert("description".to_owned(), json!(description));
        }
        if let Some(strict) = tool.strict {
            fields.insert("strict".to_owned(), json!(strict));
        }
    }
    json!({ "type": "function", "function": function })
}

/// Writes a choice. Chat wraps the name of a function.
pub fn write_choice(choice: &ToolChoice, wrapped: bool) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Never => json!("none"),
        ToolChoice::Named(name) if wrapped => {
            json!({ "type": "function", "function": { "name": name } })
        }
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}

fn write_format(format: &Format) -> Value {
    match format {
        Format::Json => json!({ "type": "json_object" }),
        Format::Schema { name, schema, strict } => {
            let name = if name.is_empty() { "answer" } else { name };
            let schema =
                json!({ "name": name, "schema": schema, "strict": strict.unwrap_or(true) });
            json!({ "type": "json_schema", "json_schema": schema })
        }
    }
}
