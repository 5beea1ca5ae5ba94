//! A client that sends arbitrary messages: only valid ones reach the browser, in the client's
//! session.

use std::collections::{HashMap, HashSet};

use helmdeck_cdp::ClientMessage;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json, value::RawValue};
use tokio::join;

use crate::pipe::{ROOT, SOON, client, connection, run};

/// A message as written, since parts of client messages have no other representation.
type Fields = HashMap<String, Box<RawValue>>;

fn value() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "7",
        "-1",
        "1.0",
        "1e400",
        "2147483648",
        "null",
        "true",
        "{}",
        "[]",
        "\"\"",
        "\"M\"",
        "\"ROOT\"",
        "\"OTHER\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"a\0b\"",
        "\"a\nb\"",
        "{\"id\":1,\"sessionId\":\"OTHER\"}",
        "\"}\\u0000{\\\"id\\\":1}\"",
        "{\"a\":1}}",
        "\"\u{2028}\"",
        "{ \"a\" : [ 1 , \"\\/\" ] }",
        "\"\\\"}\"",
        "\"M\",\"x\":\"",
    ]);
    prop_oneof![4 => odd.prop_map(str::to_owned), 1 => Just("[".repeat(400) + &"]".repeat(400))]
}

fn valid() -> impl Strategy<Value = String> {
    (any::<i32>(), value(), any::<String>()).prop_map(|(id, params, method)| {
        format!("{{\"id\":{id},\"method\":{},\"params\":{params}}}", Value::from(method))
    })
}

fn text() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "id",
        "method",
        "params",
        "sessionId",
        "\\u0069d",
        "result",
        "other",
        "a\\\"b",
    ]);
    let object = vec((key, value()), 0..6).prop_map(|fields| {
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    });
    let damaged =
        (valid(), any::<prop::sample::Index>(), any::<char>()).prop_map(|(text, at, with)| {
            let mut text: Vec<char> = text.chars().collect();
            let at = at.index(text.len());
            text[at] = with;
            text.into_iter().collect()
        });
    prop_oneof![object, valid(), damaged, any::<String>()]
}

/// The id of the answer to a text.
fn number(text: &str) -> Option<i32> {
    ClientMessage::at(text).map_or_else(|malformed| malformed.id, |peek| Some(peek.id))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_browser_gets_only_whole_messages_with_our_ids(
        texts in vec(text(), 0..12),
    ) {
        run(async {
            let (cdp, mut end) = connection();
            let client = client(&cdp, &mut end).await;
            let sending = async {
                for text in &texts {
                    client.send(text).await.unwrap();
                }
                client.send(r#"{"id":1,"method":"The end"}"#).await.unwrap();
            };
            let reading = async {
                let mut messages = Vec::new();
                loop {
                    messages.push(end.read_text().await);
                    if messages.last().unwrap().contains("The end") {
                        return messages;
                    }
                }
            };
            let ((), messages) = join!(sending, reading);
            let messages: Vec<Fields> =
                messages.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
            let allowed = ["id", "method", "params", "sessionId"];
            let mut numbers = HashSet::new();
            for message in &messages {
                assert!(message.keys().all(|key| allowed.contains(&key.as_str())), "{message:?}");
                assert_eq!(message["sessionId"].get(), format!("\"{ROOT}\""));
                // The first id was used to open the client.
                let number = message["id"].get().parse::<i32>().unwrap();
                assert!(number > 1 && numbers.insert(number), "{message:?}");
            }

            // Exactly the valid messages, in order and with their content.
            let sent = texts.iter().filter_map(|text| ClientMessage::at(text).ok());
            let sent = sent.filter(|peek| peek.session_id.as_deref().is_none_or(|id| id == ROOT));
            let sent: Vec<_> = sent.collect();
            assert_eq!(messages.len(), sent.len() + 1);
            for (message, peek) in messages.iter().zip(&sent) {
                let method: String = serde_json::from_str(message["method"].get()).unwrap();
                assert_eq!(method, peek.method);
                let params = message.get("params").map(|params| params.get());
                assert_eq!(params, peek.params.map(RawValue::get));
            }
            // Each text is answered with its id, by us or by the browser.
            for message in &messages {
                let number: i32 = message["id"].get().parse().unwrap();
                end.write(&json!({ "id": number, "result": {}, "sessionId": ROOT })).await;
            }
            let mut expected: Vec<_> = texts.iter().map(|text| number(text)).collect();
            expected.push(Some(1));
            for _ in 0..expected.len() {
                let answer: Value = serde_json::from_str(&client.next().await.unwrap()).unwrap();
                assert!(answer.get("sessionId").is_none(), "{answer}");
                assert!(answer.get("result").is_some() != answer.get("error").is_some());
                let id = answer.get("id").map(|id| id.as_i64().unwrap() as i32);
                let at = expected.iter().position(|expected| *expected == id).unwrap();
                expected.remove(at);
            }
        });
    }
}

#[test]
fn unanswered_calls_are_limited() {
    run(async {
        let (cdp, mut end) = connection();
        let client = client(&cdp, &mut end).await;
        let reading = async {
            loop {
                end.read().await;
            }
        };
        let sending = async {
            loop {
                client.send(r#"{"id":3,"method":"M"}"#).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let refused = tokio::select! {
            refused = client.next() => refused.unwrap(),
            () = sending => unreachable!(),
            () = reading => unreachable!(),
        };
        assert!(refused.contains("-32000"), "{refused}");
    });
}

#[test]
fn a_cancelled_client_leaves_nothing_behind() {
    run(async {
        let (cdp, mut end) = connection();
        let question = tokio::select! {
            biased;
            _ = cdp.client("", SOON) => unreachable!(),
            question = end.read() => question,
        };
        let params = json!({ "sessionId": ROOT });
        end.write(&json!({ "method": "Target.attachedToTarget", "params": params })).await;
        end.answer(&question, params.clone()).await;
        let detach = end.read().await;
        assert_eq!(
            (&detach["method"], &detach["params"]),
            (&json!("Target.detachFromTarget"), &params)
        );
    });
}

#[test]
fn targets_that_wait_for_a_client_are_resumed_before_it_leaves() {
    run(async {
        let (cdp, mut end) = connection();
        let client = client(&cdp, &mut end).await;
        for (session, waiting) in [("WAITS", true), ("RUNS", false)] {
            let params = json!({ "sessionId": session, "waitingForDebugger": waiting });
            let event =
                json!({ "method": "Target.attachedToTarget", "params": params, "sessionId": ROOT });
            end.write(&event).await;
            client.next().await.unwrap();
        }
        drop(client);
        let resume = end.read().await;
        assert_eq!(resume["method"], "Runtime.runIfWaitingForDebugger");
        assert_eq!(resume["sessionId"], "WAITS");
        let detach = end.read().await;
        assert_eq!(detach["method"], "Target.detachFromTarget");
        assert_eq!(detach["params"], json!({ "sessionId": ROOT }));
    });
}
