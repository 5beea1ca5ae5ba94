//! A browser that sends arbitrary messages: later answers arrive, and clients see only their own.

use helmdeck_cdp::{CdpError, SessionId};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use tokio::join;

use crate::pipe::{ROOT, SOON, client, connection, run};

/// Fragments of messages of all kinds, often in the wrong place.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        (-2..9).prop_map(|id: i32| id.to_string()),
        Just("null".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just(r#""ROOT""#.to_owned()),
        Just(r#""PAGE""#.to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just(r#"{"sessionId":"PAGE","waitingForDebugger":true}"#.to_owned()),
        Just(r#"{"sessionId":"ROOT"}"#.to_owned()),
        Just(r#"{"code":-32000,"message":"no"}"#.to_owned()),
        Just(r#""Target.attachedToTarget""#.to_owned()),
        Just(r#""Target.detachedFromTarget""#.to_owned()),
        Just(r#""Inspector.targetCrashed""#.to_owned()),
        Just("[".repeat(300)),
    ]
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "id",
        "method",
        "params",
        "result",
        "error",
        "sessionId",
        "\\u0069d",
        "other",
    ])
}

/// A nearly valid message, or garbage; possibly truncated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let object = vec((key(), value()), 0..5).prop_map(|fields| {
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(",")).into_bytes()
    });
    let object = (object, vec((any::<prop::sample::Index>(), any::<u8>()), 0..3)).prop_map(
        |(mut bytes, changes)| {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                if byte < 64 { bytes.truncate(at.max(1)) } else { bytes[at] = byte }
            }
            bytes
        },
    );
    prop_oneof![3 => object, 1 => vec(any::<u8>(), 0..60)]
}

/// Reads a message as a client in JavaScript does. Halves of surrogate pairs are valid JSON, but
/// serde_json reads none.
fn parse(message: &str) -> Value {
    let mut message = message.to_owned();
    for (at, _) in message.clone().match_indices("\\u") {
        let digits = message.get(at + 2..at + 6).and_then(|it| u16::from_str_radix(it, 16).ok());
        if digits.is_some_and(|unit| (0xd800..0xe000).contains(&unit)) {
            message.replace_range(at + 2..at + 6, "0041");
        }
    }
    serde_json::from_str(&message).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn later_answers_arrive_after_arbitrary_messages(
        messages in vec(message(), 0..12), cuts in vec(1_usize..40, 1..8),
    ) {
        run(async {
            let (cdp, mut end) = connection();
            let hostile = async {
                let question = end.read().await;
                let stream = [messages.join(&0), vec![0]].concat();
                let mut rest = stream.as_slice();
                for cut in cuts.iter().cycle() {
                    let (piece, after) = rest.split_at((*cut).min(rest.len()));
                    end.write_raw(piece).await;
                    tokio::task::yield_now().await;
                    rest = after;
                    if rest.is_empty() {
                        break;
                    }
                }
                end.answer(&question, json!("first")).await;
                end.write(&json!({ "method": "Sync" })).await;
            };
            let mut synced = cdp.events(None).only("Sync");
            // Any of these may answer the first call. All are read before the second call.
            let (_, ()) = join!(cdp.call::<Value>(None, "First", (), SOON), hostile);
            let honest = async {
                let question = end.read().await;
                end.answer(&question, json!("second")).await;
            };
            synced.next().await.unwrap().unwrap();
            let second = cdp.call::<Value>(None, "Second", (), SOON);
            let (second, ()) = join!(second, honest);
            assert_eq!(second.unwrap(), "second");
        });
    }

    #[test]
    fn a_client_gets_only_json_of_its_own_sessions(
        messages in vec(message(), 0..12),
    ) {
        run(async {
            let (cdp, mut end) = connection();
            let client = client(&cdp, &mut end).await;
            for message in messages {
                let message = [message.split(|byte| *byte == 0).collect::<Vec<_>>().concat(), vec![0]];
                end.write_raw(&message.concat()).await;
            }
            end.write(&json!({ "method": "Ours", "sessionId": "OURS" })).await;
            end.write(&json!({ "method": "Root" })).await;
            end.write(&json!({ "method": "End", "sessionId": ROOT })).await;
            drop(end);
            while let Some(message) = client.next().await {
                let message = parse(&message);
                let session = message.get("sessionId").and_then(Value::as_str);
                assert!(session.is_none_or(|session| session == "PAGE"), "{message}");
                assert!(message["method"] != "Ours" && message["method"] != "Root", "{message}");
                // The client called nothing, so there is no answer.
                assert!(message.get("id").is_none(), "{message}");
            }
        });
    }
}

#[test]
fn half_a_surrogate_pair_reaches_the_client_as_it_is() {
    run(async {
        let (cdp, mut end) = connection();
        let client = client(&cdp, &mut end).await;
        end.write_raw(b"{\"method\":\"Some\",\"sessionId\":\"ROOT\",\"params\":\"\\ud800\"}\0")
            .await;
        let message = client.next().await.unwrap();
        assert!(message.contains("\\ud800"), "{message}");
        assert_eq!(parse(&message)["params"], "A");
    });
}

#[test]
fn only_the_session_that_was_asked_can_answer() {
    run(async {
        let (cdp, mut end) = connection();
        let page = SessionId::from("PAGE");
        let answering = async {
            let question = end.read().await;
            let id = &question["id"];
            end.write(&json!({ "id": id, "result": "forged", "sessionId": "OTHER" })).await;
            end.answer(&question, json!("true")).await;
            let question = end.read().await;
            let id = &question["id"];
            end.write(&json!({ "id": id, "result": "forged", "sessionId": "OTHER" })).await;
            end.answer(&question, json!("true")).await;
        };
        let asking = async {
            let one = cdp.call::<String>(Some(&page), "Question", (), SOON).await;
            (one, cdp.call::<String>(None, "Question", (), SOON).await)
        };
        let ((one, two), ()) = join!(asking, answering);
        assert_eq!((one.unwrap().as_str(), two.unwrap().as_str()), ("true", "true"));
    });
}

#[test]
fn an_unreadable_answer_fails_the_call_at_once() {
    run(async {
        let (cdp, mut end) = connection();
        for broken in [
            ",\"result\":{}",
            ",\"result\":{\"a\":",
            ",\"result\":\"\u{1}\"}",
            "}",
            ",\"error\":3}",
            ",\"error\":{}}",
            ",\"result\":{},\"result\":{}}",
        ] {
            let answering = async {
                let question = end.read().await;
                end.write_raw(format!("{{\"id\":{}{broken}\0", question["id"]).as_bytes()).await;
            };
            let (answer, ()) = join!(cdp.call::<Value>(None, "Question", (), SOON), answering);
            assert!(matches!(answer, Err(CdpError::Nonsense(_))), "{broken}: {answer:?}");
        }
    });
}

#[test]
fn a_pipe_that_closes_within_an_answer_means_the_browser_is_gone() {
    run(async {
        let (cdp, mut end) = connection();
        let answering = async {
            let question = end.read().await;
            end.write_raw(format!("{{\"id\":{},\"result\":", question["id"]).as_bytes()).await;
            drop(end);
        };
        let (answer, ()) = join!(cdp.call::<Value>(None, "Question", (), SOON), answering);
        assert!(matches!(answer, Err(CdpError::BrowserGone)), "{answer:?}");
        cdp.closed().await;
    });
}
