//! Fixtures with a fixed answer.

use rmcp::model::{CallToolRequestParams, GetPromptRequestParams, JsonObject};
use serde_json::{Value, json};

use super::PIXEL;

pub const NAMES: [&str; 9] = [
    "json_schema_2020_12_tool",
    "test_audio_content",
    "test_custom_header",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_multiple_content_types",
    "test_reconnection",
    "test_simple_text",
];

/// A sound without a sample.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

pub fn of_tool(request: &CallToolRequestParams) -> Option<Value> {
    let picture = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let content = match request.name.as_ref() {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "json_schema_2020_12_tool" | "test_reconnection" => json!([text("Done.")]),
        "test_image_content" => json!([picture]),
        "test_audio_content" => {
            json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }])
        }
        "test_embedded_resource" => {
            let resource = json!({
                "uri": "test://embedded-resource", "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            });
            json!([{ "type": "resource", "resource": resource }])
        }
        "test_multiple_content_types" => {
            let resource = json!({
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": json!({ "test": "data", "value": 123 }).to_string(),
            });
            let resource = json!({ "type": "resource", "resource": resource });
            json!([text("Multiple content types test:"), picture, resource])
        }
        "test_error_handling" => {
            let content = [text("This tool intentionally returns an error for testing")];
            return Some(json!({ "isError": true, "content": content }));
        }
        "test_custom_header" => json!([text(argument(request.arguments.as_ref(), "value"))]),
        _ => return None,
    };
    Some(json!({ "content": content }))
}

pub fn input_schema(tool: &str) -> Value {
    match tool {
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "address", "type": "object",
                "properties": { "city": { "type": "string" } },
            } },
            "properties": {
                "kind": { "enum": ["town", "person"] }, "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
            },
            "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
            "if": { "properties": { "kind": { "const": "town" } }, "required": ["kind"] },
            "then": { "required": ["address"] },
            "else": { "required": ["name"] },
            "additionalProperties": false,
        }),
        "test_custom_header" => json!({
            "type": "object", "required": ["value"],
            "properties": { "value": { "type": "string", "x-mcp-header": "Value" } },
        }),
        "test_sampling" => required_text("prompt"),
        "test_elicitation" => required_text("message"),
        _ => json!({ "type": "object", "properties": {} }),
    }
}

fn required_text(name: &str) -> Value {
    json!({ "type": "object", "required": [name], "properties": { name: { "type": "string" } } })
}

pub fn prompts() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": "A text.", "required": true });
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|name| argument(name)).collect();
        json!({ "name": name, "description": "A fixture.", "arguments": arguments })
    };
    json!([
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ])
}

pub fn of_prompt(request: &GetPromptRequestParams) -> Option<Value> {
    let given = |name| argument(request.arguments.as_ref(), name);
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (given("arg1"), given("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            let resource = json!({ "type": "resource", "resource": resource });
            vec![resource, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let picture = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
            vec![picture, text("Please analyze the image above.")]
        }
        _ => return None,
    };
    let messages = contents.iter().map(|content| json!({ "role": "user", "content": content }));
    Some(json!({ "messages": messages.collect::<Vec<_>>() }))
}

pub fn resources() -> Value {
    let resource = |uri: &str, media_type: &str| json!({ "uri": uri, "name": uri, "description": "A fixture.", "mimeType": media_type });
    json!([
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ])
}

pub fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data", "name": "data", "description": "A fixture.",
        "mimeType": "application/json",
    }])
}

pub fn of_resource(uri: &str) -> Option<Value> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    match (uri, id) {
        ("test://static-binary", _) => {
            Some(json!({ "uri": uri, "mimeType": "image/png", "blob": PIXEL }))
        }
        ("test://static-text" | "test://watched-resource", _) => {
            let text = "This is the content of the static text resource.";
            Some(json!({ "uri": uri, "mimeType": "text/plain", "text": text }))
        }
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            let text = data.to_string();
            Some(json!({ "uri": uri, "mimeType": "application/json", "text": text }))
        }
        _ => None,
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// An argument that is a text.
pub fn argument<'a>(arguments: Option<&'a JsonObject>, name: &str) -> &'a str {
    let given = arguments.and_then(|arguments| arguments.get(name));
    given.and_then(Value::as_str).unwrap_or_default()
}
