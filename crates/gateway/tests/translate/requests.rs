//! Requests: every family reads the same conversation, and writes it as the vendor documents.

use helmdeck_gateway::{
    Family,
    chat::Quirks,
    conversation::{Call, Format, Function, Media, Outcome, Part, Request, Role, ToolChoice, Turn},
    family::Target,
};
use serde_json::{Value, json};

const FIXTURES: [(Family, &str, &str); 4] = [
    (Family::Chat, include_str!("requests/chat.json"), include_str!("requests/to-chat.json")),
    (
        Family::Responses,
        include_str!("requests/responses.json"),
        include_str!("requests/to-responses.json"),
    ),
    (
        Family::Messages,
        include_str!("requests/messages.json"),
        include_str!("requests/to-messages.json"),
    ),
    (Family::Gemini, "", include_str!("requests/to-gemini.json")),
];

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

pub fn target(model: &str) -> Target<'_> {
    Target { model, max_output: None, quirks: Quirks::default() }
}

fn call(id: &str, x: u32, y: u32) -> Part {
    let arguments = json!({ "x": x, "y": y });
    Part::Call(Call { id: id.into(), name: "zoom".into(), arguments, signature: None })
}

fn outcome(id: &str, text: &str) -> Part {
    let content = vec![Part::Text(text.into())];
    Part::Outcome(Outcome { id: id.into(), content, is_error: false })
}

/// What all fixtures say.
fn conversation() -> Request {
    let (media_type, data) = ("image/png".into(), "aGFsbG8=".into());
    let text = |text: &str| Part::Text(text.into());
    let schema = json!({
        "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"],
        "additionalProperties": false,
    });
    let parameters = json!({
        "type": "object", "required": ["x", "y"],
        "properties": { "x": { "type": "integer" }, "y": { "type": "integer" } },
    });
    Request {
        system: vec!["You are terse.".into()],
        turns: vec![
            Turn {
                role: Role::User,
                parts: vec![
                    text("What is on this screen?"),
                    Part::Media(Media::Data { media_type, data, name: None }),
                ],
            },
            Turn {
                role: Role::Assistant,
                parts: vec![text("I look closer."), call("call_1", 10, 20), call("call_2", 30, 40)],
            },
            Turn {
                role: Role::User,
                parts: vec![
                    outcome("call_1", "a button"),
                    outcome("call_2", "a field"),
                    text("And what do you conclude?"),
                ],
            },
        ],
        tools: vec![Function {
            name: "zoom".into(),
            description: Some("Look closer.".into()),
            parameters,
            strict: Some(true),
        }],
        tool_choice: Some(ToolChoice::Named("zoom".into())),
        parallel_tools: Some(false),
        format: Some(Format::Schema { name: "answer".into(), schema, strict: Some(true) }),
        max_tokens: Some(300),
        temperature: Some(0.5),
        top_p: Some(0.9),
        stop: vec!["END".into()],
        stream: true,
        stream_usage: true,
        ignored: Vec::new(),
    }
}

#[test]
fn every_family_of_clients_reads_the_same_conversation_and_names_what_it_ignores() {
    for (family, from, _) in FIXTURES.into_iter().filter(|(_, from, _)| !from.is_empty()) {
        let read = family.read_request(&parse(from)).unwrap();
        let mut expected = conversation();
        match family {
            Family::Chat => expected.ignored = vec!["seed".into()],
            // It has no stop texts, and always streams the usage.
            Family::Responses => {
                expected.stop.clear();
                expected.ignored = vec!["store".into()];
            }
            // It has no names of schemas.
            _ => {
                let names = ["metadata", "messages.content.thinking", "system.cache_control"];
                expected.ignored = names.map(str::to_owned).to_vec();
                expected.stream_usage = false;
                if let Some(Format::Schema { name, .. }) = &mut expected.format {
                    name.clear();
                }
            }
        }
        assert_eq!(read, expected, "{family:?}");
    }
}

#[test]
fn every_family_of_providers_writes_the_conversation_as_documented() {
    for (family, _, to) in FIXTURES {
        let mut request = conversation();
        if family == Family::Responses {
            let refused = family.write_request(&request, target("the-model")).unwrap_err();
            assert_eq!(refused.field, "stop");
            request.stop.clear();
        }
        let written = family.write_request(&request, target("the-model")).unwrap();
        assert_eq!(written, parse(to), "{family:?}: {written:#}");
    }
}

#[test]
fn a_request_survives_the_way_through_each_family_and_back() {
    for family in [Family::Chat, Family::Responses, Family::Messages] {
        let mut request = conversation();
        if family == Family::Responses {
            request.stop.clear();
        }
        let written = family.write_request(&request, target("m")).unwrap();
        let mut read = family.read_request(&written).unwrap();
        read.ignored.retain(|name| name != "store");
        if family == Family::Messages {
            read.stream_usage = true;
            if let Some(Format::Schema { name, .. }) = &mut read.format {
                *name = "answer".into();
            }
        }
        assert_eq!(read, request, "{family:?}");
    }
}

#[test]
fn what_has_no_equivalent_is_refused_by_its_name() {
    let base = json!({ "messages": [{ "role": "user", "content": "hi" }], "input": "hi" });
    let with = |name: &str, value: Value| {
        let mut body = base.clone();
        body[name] = value;
        body
    };
    for (family, body, field) in [
        (Family::Chat, with("n", json!(2)), "n"),
        (Family::Chat, with("logprobs", json!(true)), "logprobs"),
        (Family::Chat, with("tools", json!([{ "type": "custom" }])), "tools[0].type \"custom\""),
        (
            Family::Chat,
            with("messages", json!([{ "role": "user", "content": [{ "type": "input_audio" }] }])),
            "messages[0].content[0].type \"input_audio\"",
        ),
        (Family::Responses, with("previous_response_id", json!("resp_1")), "previous_response_id"),
        (
            Family::Responses,
            with("tools", json!([{ "type": "computer" }])),
            "tools[0].type \"computer\"",
        ),
        (
            Family::Messages,
            with("tools", json!([{ "type": "computer_toolset_20260801" }])),
            "tools[0].type \"computer_toolset_20260801\"",
        ),
    ] {
        let refused = family.read_request(&body).unwrap_err();
        assert_eq!(refused.field, field);
        assert!(refused.to_string().contains("no equivalent"), "{refused}");
    }
    for asks_for_nothing in [("n", json!(1)), ("logprobs", json!(false)), ("audio", json!(null))] {
        let body = with(asks_for_nothing.0, asks_for_nothing.1);
        assert!(Family::Chat.read_request(&body).unwrap().ignored.contains(&"input".to_owned()));
    }
}

/// A request whose tool answered with a picture.
fn picture_of_a_tool() -> Request {
    let body = json!({ "max_tokens": 10, "messages": [
        { "role": "user", "content": "look" },
        { "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": "shot", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "is_error": false, "content": [
                { "type": "image", "source":
                    { "type": "base64", "media_type": "image/png", "data": "cG5n" } },
            ] },
        ] },
    ] });
    Family::Messages.read_request(&body).unwrap()
}

#[test]
fn a_picture_in_the_result_of_a_tool_reaches_every_family() {
    let request = picture_of_a_tool();
    let write = |family: Family| family.write_request(&request, target("gemini-2.5-pro")).unwrap();
    let chat = write(Family::Chat);
    assert_eq!(chat["messages"][2]["role"], "tool");
    assert_eq!(chat["messages"][2]["content"], "The result is a picture; it follows.");
    assert_eq!(chat["messages"][3]["content"][1]["image_url"]["url"], "data:image/png;base64,cG5n");
    let responses = write(Family::Responses);
    let output = &responses["input"][2];
    assert_eq!(output["type"], "function_call_output");
    assert_eq!(output["output"][0]["image_url"], "data:image/png;base64,cG5n");
    let messages = write(Family::Messages);
    assert_eq!(messages["messages"][2]["content"][0]["content"][0]["source"]["data"], "cG5n");
    let gemini = write(Family::Gemini);
    assert_eq!(gemini["contents"][2]["parts"][0]["functionResponse"]["name"], "shot");
    assert_eq!(gemini["contents"][2]["parts"][1]["inlineData"]["data"], "cG5n");
    assert!(gemini["contents"][1]["parts"][0].get("thoughtSignature").is_none());
}

#[test]
fn results_come_first_and_in_one_turn_however_a_client_of_chat_orders_its_messages() {
    let body = json!({ "messages": [
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "f", "arguments": "" } },
            { "id": "b", "type": "function", "function": { "name": "f", "arguments": "not json" } },
        ] },
        { "role": "tool", "tool_call_id": "b", "content": "2" },
        { "role": "user", "content": "hurry" },
        { "role": "tool", "tool_call_id": "a", "content": "1" },
    ] });
    let request = Family::Chat.read_request(&body).unwrap();
    let written = Family::Messages.write_request(&request, target("m")).unwrap();
    let kinds = written["messages"][2]["content"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(written["messages"].as_array().unwrap().len(), 3);
    // What the model wrote is kept, although it is not JSON.
    let input = &written["messages"][1]["content"][1]["input"];
    assert_eq!(*input, json!({ "invalid_json": "not json" }));
    assert_eq!(written["messages"][1]["content"][0]["input"], json!({}));
    assert_eq!(written["max_tokens"], 4096, "Anthropic requires it");
}

#[test]
fn gemini_gets_its_signature_back_from_a_client_of_chat() {
    let call = json!({
        "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" },
        "extra_content": { "google": { "thought_signature": "c2ln" } },
    });
    let body = json!({ "messages": [
        { "role": "assistant", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c", "content": "ok" },
    ] });
    let request = Family::Chat.read_request(&body).unwrap();
    let written = Family::Gemini.write_request(&request, target("gemini-3.5-flash")).unwrap();
    assert_eq!(written["contents"][0]["parts"][0]["thoughtSignature"], "c2ln");
}

#[test]
fn a_picture_by_address_is_refused_where_the_provider_takes_bytes_only() {
    let image = json!({ "type": "image_url", "image_url": { "url": "https://a.example/b.png" } });
    let body = json!({ "messages": [{ "role": "user", "content": [image] }] });
    let request = Family::Chat.read_request(&body).unwrap();
    let refused = Family::Gemini.write_request(&request, target("gemini-2.5-pro")).unwrap_err();
    assert_eq!(refused.field, "image_url");
    let written = Family::Messages.write_request(&request, target("m")).unwrap();
    let source = &written["messages"][0]["content"][0]["source"];
    assert_eq!(*source, json!({ "type": "url", "url": "https://a.example/b.png" }));
}
