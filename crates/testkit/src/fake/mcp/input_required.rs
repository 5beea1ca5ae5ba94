//! Fixtures that need input before they answer, as protocol version 2026-07-28 asks for it.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
        InputResponses,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use super::{complete, of, said};

pub const NAMES: [&str; 9] = [
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_streaming_elicitation",
];

/// Answers a call, or asks for what is missing.
pub fn answer(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let state = request.request_state.as_deref();
    let round = match state.map(str::parse::<u32>) {
        None => 0,
        Some(Ok(round)) => round,
        Some(Err(_)) => {
            return Some(Err(ErrorData::invalid_params("requestState was changed", None)));
        }
    };
    let (questions, next_state) = match request.name.as_ref() {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            (json!({ "user_name": form("What is your name?", "name") }), None)
        }
        "test_input_required_result_sampling" => {
            (json!({ "capital_question": sampling("What is the capital of France?") }), None)
        }
        "test_input_required_result_list_roots" => (json!({ "client_roots": roots() }), None),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            (json!({ "confirm": form("Please confirm.", "ok") }), Some(1))
        }
        "test_input_required_result_multiple_inputs" => (every_kind(), Some(1)),
        "test_input_required_result_multi_round" => {
            let questions = match round {
                0 => json!({ "step1": form("What is your name?", "name") }),
                1 => json!({ "step2": form("What is your favourite colour?", "color") }),
                _ => json!({}),
            };
            (questions, Some(round + 1))
        }
        "test_input_required_result_capabilities" => (supported(context), None),
        _ => return None,
    };
    let given = request.input_responses.as_ref();
    let open = next_state.is_some_and(|_| round == 0) || !all_answered(&questions, given);
    Some(Ok(if open {
        CallToolResponse::InputRequired(of(required(&questions, next_state)))
    } else {
        let given = json!(given);
        said(format!("Completed with {given} and state {state:?}: state-ok"))
    }))
}

/// Answers the prompt that needs input.
pub fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    if request.name != "test_input_required_result_prompt" {
        return None;
    }
    let questions = json!({ "user_context": form("What is the context?", "context") });
    let given = request.input_responses.as_ref();
    Some(if all_answered(&questions, given) {
        let text = format!("Use this context: {}", json!(given));
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        GetPromptResponse::Complete(complete(json!({ "messages": [message] })))
    } else {
        GetPromptResponse::InputRequired(of(required(&questions, None)))
    })
}

fn required(questions: &Value, state: Option<u32>) -> Value {
    let mut result = json!({ "resultType": "input_required", "inputRequests": questions });
    if let (Some(result), Some(state)) = (result.as_object_mut(), state) {
        result.insert("requestState".to_owned(), json!(state.to_string()));
    }
    result
}

/// Whether every question has an answer. Answers are objects; anything else does not count.
fn all_answered(questions: &Value, given: Option<&InputResponses>) -> bool {
    let answered =
        |key: &String| given.and_then(|given| given.get(key)).is_some_and(Value::is_object);
    questions.as_object().is_some_and(|questions| questions.keys().all(answered))
}

fn form(message: &str, field: &str) -> Value {
    let schema = json!({
        "type": "object", "properties": { field: { "type": "string" } }, "required": [field],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({ "method": "elicitation/create", "params": params })
}

fn sampling(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({
        "method": "sampling/createMessage",
        "params": { "messages": [message], "maxTokens": 100 },
    })
}

fn roots() -> Value {
    json!({ "method": "roots/list" })
}

fn every_kind() -> Value {
    json!({
        "user_name": form("What is your name?", "name"), "greeting": sampling("Write a greeting."),
        "client_roots": roots(),
    })
}

/// Only what the client can answer.
fn supported(context: &RequestContext<RoleServer>) -> Value {
    let declared = context.client_capabilities().unwrap_or_default();
    let mut questions = Map::new();
    if declared.elicitation.is_some() {
        questions.insert("user_name".to_owned(), form("What is your name?", "name"));
    }
    if declared.sampling.is_some() {
        questions.insert("greeting".to_owned(), sampling("Write a greeting."));
    }
    if declared.roots.is_some() {
        questions.insert("client_roots".to_owned(), roots());
    }
    Value::Object(questions)
}
