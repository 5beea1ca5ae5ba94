//! Fixtures that ask the client something while they run, as protocol versions before 2026-07-28 do.
#![expect(deprecated, reason = "protocol versions that the suite tests have sampling")]

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{contents::argument, of, said};

pub const NAMES: [&str; 4] = [
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_sampling",
];

pub async fn ask(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let given = |name| argument(request.arguments.as_ref(), name);
    let (message, fields) = match request.name.as_ref() {
        "test_sampling" => return Some(sample(given("prompt"), context).await),
        "test_elicitation" => {
            let text = |what: &str| json!({ "type": "string", "description": what });
            let fields = json!({ "username": text("Your name"), "email": text("Your address") });
            (given("message"), fields)
        }
        "test_elicitation_sep1034_defaults" => ("Every field has a default.", defaults()),
        "test_elicitation_sep1330_enums" => ("Every field is a choice.", enums()),
        _ => return None,
    };
    let schema = json!({ "type": "object", "properties": fields });
    let question = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let answer = context.peer.create_elicitation(of(question)).await;
    Some(match answer {
        Ok(answer) => Ok(said(format!(
            "User response: action={:?}, content={}",
            answer.action,
            answer.content.unwrap_or_default()
        ))),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    })
}

async fn sample(
    prompt: &str,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let question = json!({ "messages": [message], "maxTokens": 100 });
    let answer = context.peer.create_message(of(question)).await;
    match answer {
        Ok(answer) => Ok(said(format!("LLM response: {}", json!(answer.message)))),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    })
}

fn enums() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |what: &str| {
        let one = |number: usize| {
            let title = ["First", "Second", "Third"][number];
            json!({ "const": format!("value{}", number + 1), "title": format!("{title} {what}") })
        };
        json!([one(0), one(1), one(2)])
    };
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    })
}
