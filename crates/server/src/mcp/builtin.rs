//! Tools of the MCP door itself: finding tools, calling any, reading on.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool as McpTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    catalogue::{is_named, mcp_name},
    client::Client,
    profile::Profile,
    reply, search,
};
use crate::error::ApiError;

/// Their names.
pub const NAMES: [&str; 3] = ["tools-search", "tool-call", "text-read"];

/// The tools, as they are listed.
pub fn tools(profile: Profile) -> Vec<McpTool> {
    let hint = match profile {
        Profile::All => "",
        _ => " Many more tools exist than this list shows.",
    };
    vec![
        tool(
            "tools-search",
            "Search tools",
            &format!(
                "Find tools by what you want to do, such as \"upload a file\" or \"read the console\". \
                 Returns up to 8 tools with their input schemas, or everything about the one tool that \
                 you name. Call them by name, or with tool-call if your client only calls listed \
                 tools.{hint}"
            ),
            json!({
                "type": "object", "required": ["query"],
                "properties": { "query": { "type": "string", "description": "What you want to do." } },
            }),
            true,
        ),
        tool(
            "tool-call",
            "Call any tool",
            "Call any helmdeck tool by name, listed or not. tools-search finds names and schemas.",
            json!({
                "type": "object", "required": ["name"],
                "properties": {
                    "name": { "type": "string", "description": "The tool, such as desktop-drag." },
                    "arguments": { "type": "object", "description": "Its arguments." },
                },
            }),
            false,
        ),
        tool(
            "text-read",
            "Read on",
            "Read the next part of a long text. Replies that cut a text contain a cursor.",
            json!({
                "type": "object", "required": ["cursor"],
                "properties": { "cursor": { "type": "string", "description": "From the reply." } },
            }),
            true,
        ),
    ]
}

fn tool(name: &'static str, title: &str, doc: &str, schema: Value, reads: bool) -> McpTool {
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let hints = ToolAnnotations::with_title(title)
        .read_only(reads)
        .destructive(!reads)
        .idempotent(reads)
        .open_world(!reads);
    McpTool::new(name, doc.to_owned(), Arc::new(schema)).with_title(title).with_annotations(hints)
}

/// What becomes of a call.
pub enum Step {
    /// It is answered.
    Answered(CallToolResult),
    /// A tool of the catalogue answers it.
    Tool(String, Map<String, Value>),
}

/// Answers a call of one of these tools.
pub async fn call(client: &Client, name: &str, args: Map<String, Value>) -> Step {
    let plain = name.strip_prefix("helmdeck__").unwrap_or(name).replace(['.', '_'], "-");
    match plain.as_str() {
        "tools-search" => {
            let client = client.clone().with_models().await;
            Step::Answered(answer(search_tools(&client, &args)))
        }
        "text-read" => Step::Answered(answer(read_text(client, &args))),
        "tool-call" => match inner(&args) {
            Ok((name, args)) => Step::Tool(name, args),
            Err(error) => Step::Answered(reply::failure(&error)),
        },
        _ => Step::Tool(name.to_owned(), args),
    }
}

fn answer(result: Result<CallToolResult, ApiError>) -> CallToolResult {
    result.unwrap_or_else(|error| reply::failure(&error))
}

fn search_tools(client: &Client, args: &Map<String, Value>) -> Result<CallToolResult, ApiError> {
    let query = text(args, "query")?;
    let found = search::search(client, query);
    if found.is_empty() {
        let line = "No tool matches. Try other words, such as click, screenshot, run or download.";
        return Ok(CallToolResult::success(vec![ContentBlock::text(line)]));
    }
    let named = found.iter().find(|entry| is_named(&entry.tool.name, query));
    let tools: Vec<_> = match named {
        // A search for one tool by its name returns everything about it.
        Some(entry) => vec![json!({
            "name": mcp_name(&entry.tool.name), "description": entry.tool.doc,
            "inputSchema": entry.input_schema, "outputSchema": entry.tool.output_schema(),
        })],
        None => found.iter().map(|entry| entry.short()).map(|tool| {
            json!({
                "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
            })
        }).collect(),
    };
    let tools = Map::from_iter([("tools".to_owned(), tools.into())]);
    Ok(reply::of_object(client, tools))
}

fn read_text(client: &Client, args: &Map<String, Value>) -> Result<CallToolResult, ApiError> {
    let cursor = text(args, "cursor")?;
    let piece = client.app.mcp.texts.read(&client.caller.subject, cursor)?;
    let mut content = vec![ContentBlock::text(piece.text)];
    if let Some(cursor) = piece.cursor {
        content.push(reply::more_line(&cursor, piece.total_chars));
    }
    Ok(CallToolResult::success(content))
}

/// The tool that `tool-call` calls, and its arguments.
fn inner(args: &Map<String, Value>) -> Result<(String, Map<String, Value>), ApiError> {
    let name = text(args, "name")?;
    if NAMES.contains(&name) {
        return Err(invalid("name", "tool-call calls tools of the catalogue only"));
    }
    let arguments = match args.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        // Some models write JSON inside a text.
        Some(Value::String(text)) => serde_json::from_str(text)
            .map_err(|_| invalid("arguments", "arguments: expected an object"))?,
        Some(_) => return Err(invalid("arguments", "arguments: expected an object")),
    };
    Ok((name.to_owned(), arguments))
}

fn text<'a>(args: &'a Map<String, Value>, field: &str) -> Result<&'a str, ApiError> {
    let text = args.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| invalid(field, &format!("{field}: expected a text")))
}

fn invalid(field: &str, message: &str) -> ApiError {
    ApiError::new(helmdeck_wire::ErrorCode::InvalidInput, message).of_field(field, Vec::new())
}
