//! What a translation leaves out is named, and what would change the answer is refused.

use helmdeck_gateway::Family;
use serde_json::{Value, json};

/// What is ignored on the way from a family to another.
fn ignored(from: Family, to: Family, body: &Value) -> Vec<String> {
    let request = from.read_request(body).unwrap();
    let mut all = request.ignored.clone();
    all.extend(to.unsaid(&request, from));
    all
}

fn chat(more: Value) -> Value {
    let mut body = json!({ "messages": [{ "role": "user", "content": "Say it in JSON" }] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn json_without_a_schema_is_named_where_a_vendor_has_no_mode_for_it() {
    let body = chat(json!({ "response_format": { "type": "json_object" } }));
    assert_eq!(ignored(Family::Chat, Family::Messages, &body), ["response_format"]);
    for family in [Family::Responses, Family::Gemini] {
        assert!(ignored(Family::Chat, family, &body).is_empty(), "{family:?}");
    }
    let body = json!({ "input": "hi", "text": { "format": { "type": "json_object" }, "verbosity": "low" } });
    let named = ignored(Family::Responses, Family::Messages, &body);
    assert_eq!(named, ["text.verbosity", "text.format"]);
}

#[test]
fn single_calls_and_strict_tools_are_named_where_gemini_has_none() {
    let tool = json!({ "type": "function", "function": { "name": "f", "strict": true } });
    let body = chat(json!({ "parallel_tool_calls": false, "tools": [tool] }));
    let named = ignored(Family::Chat, Family::Gemini, &body);
    assert_eq!(named, ["parallel_tool_calls", "tools.function.strict"]);
    assert!(ignored(Family::Chat, Family::Messages, &body).is_empty());
    let body = chat(json!({ "parallel_tool_calls": false }));
    assert!(ignored(Family::Chat, Family::Gemini, &body).is_empty(), "there is no tool");
    let body = json!({
        "max_tokens": 5, "messages": [{ "role": "user", "content": "hi" }], "tools": [{ "name": "f" }],
        "tool_choice": { "type": "auto", "disable_parallel_tool_use": true },
    });
    let named = ignored(Family::Messages, Family::Gemini, &body);
    assert_eq!(named, ["tool_choice.disable_parallel_tool_use"]);
}

#[test]
fn fields_inside_of_messages_and_tools_are_named() {
    let image = |detail: &str| json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n", "detail": detail } });
    let text = json!({ "type": "text", "text": "hi", "cache_control": { "type": "ephemeral" } });
    let body = json!({ "messages": [
        { "role": "user", "name": "ann", "content": [text, image("high"), image("low")] },
    ] });
    assert_eq!(
        ignored(Family::Chat, Family::Messages, &body),
        ["messages.content.cache_control", "messages.content.image_url.detail", "messages.name"]
    );
    let usual = json!({ "messages": [{ "role": "user", "content": [image("auto")] }] });
    assert!(ignored(Family::Chat, Family::Messages, &usual).is_empty());

    let cached = json!({ "type": "ephemeral" });
    let body = json!({
        "max_tokens": 5,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": cached }],
        "tools": [{ "name": "f", "input_schema": { "type": "object", "odd": 1 }, "cache_control": cached }],
        "output_config": { "effort": "low" },
        "messages": [{ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t",
            "content": [{ "type": "text", "text": "1", "cache_control": cached }] }] }],
    });
    assert_eq!(
        ignored(Family::Messages, Family::Chat, &body),
        [
            "messages.content.content.cache_control",
            "output_config.effort",
            "system.cache_control",
            "tools.cache_control",
        ]
    );

    let body = json!({ "input": [
        { "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "abc" },
        { "type": "message", "role": "assistant", "id": "m", "status": "completed", "content": [
            { "type": "output_text", "text": "hi", "annotations": [], "logprobs": [] }] },
        { "role": "user", "content": [
            { "type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "high" }] },
    ] });
    let named = ignored(Family::Responses, Family::Chat, &body);
    assert_eq!(named, ["input.encrypted_content", "input.content.detail"]);
}

#[test]
fn a_call_of_the_old_kind_is_refused_because_the_conversation_would_lack_it() {
    let call = json!({ "name": "f", "arguments": "{}" });
    let body = json!({ "messages": [
        { "role": "assistant", "content": null, "function_call": call },
    ] });
    let refused = Family::Chat.read_request(&body).unwrap_err();
    assert_eq!(refused.field, "messages[0].function_call");
}

#[test]
fn a_refusal_of_the_model_and_the_name_of_a_document_are_translated() {
    let file = json!({ "filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm" });
    let body = json!({ "messages": [
        { "role": "user", "content": [{ "type": "file", "file": file }] },
        { "role": "assistant", "content": null, "refusal": "I cannot read it." },
    ] });
    let request = Family::Chat.read_request(&body).unwrap();
    let target = super::requests::target("m");
    let written = Family::Messages.write_request(&request, target).unwrap();
    assert_eq!(written["messages"][0]["content"][0]["title"], "a.pdf");
    assert_eq!(written["messages"][1]["content"][0]["text"], "I cannot read it.");
    assert!(ignored(Family::Chat, Family::Messages, &body).is_empty());
    let named = ignored(Family::Chat, Family::Gemini, &body);
    assert_eq!(named, ["messages.content.file.filename"]);
}
