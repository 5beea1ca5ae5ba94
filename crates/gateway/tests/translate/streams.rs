//! Streamed replies: every family reads the same steps, and clients read what is written for them.

use helmdeck_gateway::{
    Family,
    conversation::{Call, Delta, Part, Reply, Stop, StreamFailure, arguments},
    sse::Parser,
};
use serde_json::Value;

use crate::replies::{answer, usage};

const FIXTURES: [(Family, &str, &str, &str); 4] = [
    (Family::Chat, include_str!("streams/chat.sse"), "chatcmpl-1", "gpt-4o-mini"),
    (Family::Responses, include_str!("streams/responses.sse"), "resp_1", "gpt-5"),
    (Family::Messages, include_str!("streams/messages.sse"), "msg_1", "claude-sonnet-5"),
    (Family::Gemini, include_str!("streams/gemini.sse"), "r1", "gemini-3.5-flash"),
];

fn decode(family: Family, text: &str) -> Vec<Delta> {
    let (mut parser, mut decoder, mut out) = (Parser::default(), family.decoder("x"), Vec::new());
    parser.push(text.as_bytes());
    while let Some(event) = parser.event().unwrap() {
        decoder.read(&event, &mut out);
    }
    decoder.finish(&mut out);
    out
}

fn encode(family: Family, deltas: &[Delta]) -> String {
    let (mut encoder, mut out) = (family.encoder(1_700_000_000, true), String::new());
    for delta in deltas {
        encoder.write(delta, &mut out);
    }
    out
}

/// The whole reply that a stream makes.
fn folded(deltas: &[Delta]) -> Reply {
    let mut reply = Reply::default();
    let mut calls: Vec<String> = Vec::new();
    for delta in deltas {
        match delta {
            Delta::Start { id, model } => (reply.id, reply.model) = (id.clone(), model.clone()),
            Delta::Text(text) => match reply.parts.last_mut() {
                Some(Part::Text(words)) => words.push_str(text),
                _ => reply.parts.push(Part::Text(text.clone())),
            },
            Delta::Reasoning(text) => reply.parts.push(Part::Reasoning(text.clone())),
            Delta::Call { number, id, name, signature } => {
                assert_eq!(*number, calls.len());
                calls.push(String::new());
                let (id, name) = (id.clone(), name.clone());
                let (arguments, signature) = (Value::Null, signature.clone());
                reply.parts.push(Part::Call(Call { id, name, arguments, signature }));
            }
            Delta::Arguments { number, text } => calls[*number].push_str(text),
            Delta::Usage(usage) => reply.usage = *usage,
            Delta::Stop(stop) => reply.stop = stop.clone(),
            Delta::Failed(failure) => panic!("{failure:?}"),
            Delta::End => {}
        }
    }
    let mut texts = calls.iter();
    for part in &mut reply.parts {
        if let Part::Call(call) = part {
            call.arguments = arguments(texts.next().unwrap());
        }
    }
    reply
}

#[test]
fn every_family_reads_the_same_steps() {
    for (family, text, id, model) in FIXTURES {
        let deltas = decode(family, text);
        assert_eq!(folded(&deltas), answer(id, model), "{family:?}");
        assert_eq!(deltas.iter().filter(|delta| **delta == Delta::End).count(), 1, "{family:?}");
        assert_eq!(deltas.last(), Some(&Delta::End), "{family:?}");
        let words = deltas.iter().filter(|delta| matches!(delta, Delta::Text(_))).count();
        assert_eq!(words, 2, "{family:?}: pieces stay pieces");
    }
}

#[test]
fn a_stream_of_any_provider_reaches_clients_of_any_family_unchanged() {
    for (from, text, id, model) in FIXTURES {
        let deltas = decode(from, text);
        for to in [Family::Chat, Family::Responses, Family::Messages] {
            let written = encode(to, &deltas);
            let mut read = folded(&decode(to, &written));
            if to == Family::Messages {
                read.usage.reasoning = usage().reasoning;
            }
            assert_eq!(read, answer(id, model), "{from:?} to {to:?}: {written}");
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_has_no_end() {
    for (family, text, ..) in FIXTURES {
        // Without the last two events.
        let mut end = text.trim_end().rfind("\n\n").unwrap();
        end = text[..end].rfind("\n\n").unwrap();
        // The last event of chat before the usage has the reason: without that, too.
        end = text[..end].rfind("\n\n").unwrap();
        let deltas = decode(family, &text[..end + 2]);
        assert!(!deltas.contains(&Delta::End), "{family:?}");
    }
}

#[test]
fn an_error_in_a_stream_is_found_and_written_for_each_family() {
    for (family, text, kind) in [
        (Family::Chat, "data: {\"error\":{\"message\":\"m\",\"type\":\"t\"}}\n\n", "t"),
        (
            Family::Messages,
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
             \"message\":\"m\"}}\n\n",
            "overloaded_error",
        ),
        (
            Family::Responses,
            "event: error\ndata: {\"type\":\"error\",\"code\":\"c\",\"message\":\"m\"}\n\n",
            "c",
        ),
        (Family::Gemini, "data: {\"error\":{\"status\":\"S\",\"message\":\"m\"}}\n\n", "S"),
    ] {
        let failed =
            Delta::Failed(StreamFailure { kind: kind.to_owned(), message: "m".to_owned() });
        assert_eq!(decode(family, text), std::slice::from_ref(&failed), "{family:?}");
        if family != Family::Gemini {
            let written = encode(family, std::slice::from_ref(&failed));
            assert_eq!(decode(family, &written), [failed], "{family:?}: {written}");
        }
    }
}

#[test]
fn arguments_of_two_calls_that_arrive_in_turns_are_not_mixed() {
    let start = Delta::Start { id: "i".into(), model: "m".into() };
    let call = |number: usize| Delta::Call {
        number,
        id: format!("c{number}"),
        name: "f".into(),
        signature: None,
    };
    let piece = |number, text: &str| Delta::Arguments { number, text: text.into() };
    let deltas = [
        start,
        call(0),
        piece(0, "{\"a\""),
        call(1),
        piece(1, "{\"b\""),
        piece(0, ":1}"),
        piece(1, ":2}"),
        Delta::Stop(Stop::Calls),
        Delta::End,
    ];
    for family in [Family::Chat, Family::Responses, Family::Messages] {
        let read = folded(&decode(family, &encode(family, &deltas)));
        let calls = read.parts.iter().map(|part| match part {
            Part::Call(call) => call.arguments.to_string(),
            _ => String::new(),
        });
        assert_eq!(calls.collect::<Vec<_>>(), ["{\"a\":1}", "{\"b\":2}"], "{family:?}");
    }
}

#[test]
fn a_client_of_chat_gets_its_usage_only_if_it_asked() {
    let deltas = decode(Family::Chat, FIXTURES[0].1);
    let (mut encoder, mut out) = (Family::Chat.encoder(0, false), String::new());
    for delta in &deltas {
        encoder.write(delta, &mut out);
    }
    assert!(!out.contains("usage") && out.ends_with("data: [DONE]\n\n"), "{out}");
}
