//! Whole replies: every family reads the same answer, and clients read what is written for them.

use helmdeck_gateway::{
    Family, Malformed,
    conversation::{Call, Part, Reply, Stop, Usage},
};
use serde_json::{Value, json};

const FIXTURES: [(Family, &str, &str, &str); 4] = [
    (Family::Chat, include_str!("replies/chat.json"), "chatcmpl-1", "gpt-4o-mini-2024-07-18"),
    (Family::Responses, include_str!("replies/responses.json"), "resp_1", "gpt-5"),
    (Family::Messages, include_str!("replies/messages.json"), "msg_1", "claude-sonnet-5"),
    (Family::Gemini, include_str!("replies/gemini.json"), "r1", "gemini-3.5-flash"),
];

/// What all fixtures say.
pub fn answer(id: &str, model: &str) -> Reply {
    let arguments = json!({ "x": 1 });
    let call = Call { id: "call_1".into(), name: "zoom".into(), arguments, signature: None };
    Reply {
        id: id.into(),
        model: model.into(),
        parts: vec![
            Part::Reasoning("A screen.".into()),
            Part::Text("Let me see.".into()),
            Part::Call(call),
        ],
        stop: Stop::Calls,
        usage: usage(),
    }
}

/// The usage of all fixtures.
pub fn usage() -> Usage {
    Usage { input: 100, cached: 40, cache_written: 0, output: 20, reasoning: 5, cost: None }
}

#[test]
fn every_family_reads_the_same_answer_with_the_same_usage() {
    for (family, text, id, model) in FIXTURES {
        let body: Value = serde_json::from_str(text).unwrap();
        assert_eq!(family.read_reply(&body, "none").unwrap(), answer(id, model), "{family:?}");
        assert_eq!(family.usage(&body), Some(usage()), "{family:?}");
    }
}

#[test]
fn an_answer_survives_the_way_through_each_family_of_clients() {
    for family in [Family::Chat, Family::Responses, Family::Messages] {
        let written = family.write_reply(&answer("id_1", "m"), 1_700_000_000);
        let mut read = family.read_reply(&written, "none").unwrap();
        if family == Family::Messages {
            // It has no count of reasoning for clients.
            read.usage.reasoning = 5;
        }
        assert_eq!(read, answer("id_1", "m"), "{family:?}: {written:#}");
    }
}

#[test]
fn reasons_to_stop_keep_their_meaning() {
    let stops = [
        (Stop::End, "stop", "end_turn", "completed"),
        (Stop::Length, "length", "max_tokens", "incomplete"),
        (Stop::Sequence(Some("END".into())), "stop", "stop_sequence", "completed"),
        (Stop::Refused, "content_filter", "refusal", "incomplete"),
    ];
    for (stop, chat, messages, responses) in stops {
        let parts = vec![Part::Text("hi".into())];
        let reply = Reply { stop: stop.clone(), parts, ..Reply::default() };
        let written = Family::Chat.write_reply(&reply, 0);
        assert_eq!(written["choices"][0]["finish_reason"], chat);
        let written = Family::Messages.write_reply(&reply, 0);
        assert_eq!(written["stop_reason"], messages);
        assert_eq!(Family::Messages.read_reply(&written, "").unwrap().stop, stop);
        assert_eq!(Family::Responses.write_reply(&reply, 0)["status"], responses);
    }
}

#[test]
fn an_empty_or_malformed_answer_is_told_as_such() {
    let read = |family: Family, body: Value| family.read_reply(&body, "").unwrap_err();
    assert_eq!(read(Family::Chat, json!({ "choices": [] })), Malformed::NO_CHOICES);
    assert_eq!(read(Family::Chat, json!({ "ok": true })).to_string(), "model returned no choices");
    assert_eq!(read(Family::Gemini, json!({ "candidates": [] })), Malformed::NO_CHOICES);
    assert_eq!(read(Family::Messages, json!({})), Malformed::NO_MESSAGE);
    let failed = json!({ "status": "failed", "error": { "message": "no luck" }, "output": [] });
    assert!(read(Family::Responses, failed).to_string().contains("no luck"));
    let broken = json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] });
    assert!(read(Family::Gemini, broken).to_string().contains("malformed"));
}

#[test]
fn a_prompt_that_gemini_blocks_is_a_refusal() {
    let body = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    assert_eq!(Family::Gemini.read_reply(&body, "x").unwrap().stop, Stop::Refused);
}

#[test]
fn a_call_without_an_id_gets_one_that_no_other_answer_has() {
    let body = json!({ "candidates": [{ "content": { "parts": [
        { "functionCall": { "name": "f" } }, { "functionCall": { "name": "f" } },
    ] } }] });
    let reply = Family::Gemini.read_reply(&body, "abc").unwrap();
    let ids = reply.parts.iter().map(|part| match part {
        Part::Call(call) => call.id.as_str(),
        _ => "",
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["call_abc_0", "call_abc_1"]);
}

#[test]
fn errors_have_the_shape_of_their_sdk() {
    let error = |family: Family, status| family.error(status, "the_code", "why", Some("model"));
    assert_eq!(
        error(Family::Chat, 404),
        json!({ "error": {
            "message": "why", "type": "invalid_request_error", "param": "model", "code": "the_code",
        } })
    );
    assert_eq!(
        error(Family::Messages, 402),
        json!({ "type": "error", "error": {
            "type": "billing_error", "message": "why", "code": "the_code",
        } })
    );
    for (family, body, kind, message) in [
        (Family::Chat, r#"{"error":{"message":"m","type":"t"}}"#, "t", "m"),
        (Family::Messages, r#"{"type":"error","error":{"type":"t","message":"m"}}"#, "t", "m"),
        (Family::Gemini, r#"[{"error":{"code":400,"message":"m","status":"T"}}]"#, "T", "m"),
        (Family::Chat, r#"{"error":"m"}"#, "", "m"),
        (Family::Chat, r#"{"object":"error","message":"m","type":"t"}"#, "t", "m"),
        (Family::Chat, "<h1>Bad gateway</h1>", "", "<h1>Bad gateway</h1>"),
    ] {
        assert_eq!(family.read_error(body.as_bytes()), (kind.to_owned(), message.to_owned()));
    }
}
