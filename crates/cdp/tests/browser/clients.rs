//! Outside clients: each seems to have the browser for itself.

use helmdeck_cdp::{CdpError, Ended, MAX_REQUEST, SessionId};
use serde_json::{Value, json};

use crate::{
    chromium::{Chromium, SOON, evaluation},
    outsider::{Outsider, until},
};

#[tokio::test]
async fn a_client_gets_its_own_ids_back_and_sees_only_its_own_sessions() {
    let chromium = Chromium::start().await;
    let (mut one, mut two) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    for id in [1, 0, -5, i32::MAX] {
        let message = format!(r#"{{"id":{id},"method":"Browser.getVersion"}}"#);
        one.client.send(&message).await.unwrap();
        two.client.send(&message).await.unwrap();
        for client in [&mut one, &mut two] {
            let answer = client.answer(id).await;
            assert!(answer["result"]["product"].is_string(), "{answer}");
            assert!(answer.get("sessionId").is_none(), "{answer}");
        }
    }
    let discover = json!({ "discover": true });
    assert!(one.call(None, "Target.setDiscoverTargets", discover).await.get("result").is_some());
    let found = one.event("Target.targetCreated").await;
    assert!(found.get("sessionId").is_none(), "{found}");

    let (_, session) = one.page("about:blank").await;
    let answer = one.call(Some(&session), "Runtime.evaluate", evaluation("1")).await;
    assert_eq!(answer["sessionId"], session.as_str());
    assert!(two.seen.is_empty(), "{:?}", two.seen);
}

#[tokio::test]
async fn a_client_gets_no_events_of_others_or_of_us() {
    let chromium = Chromium::start().await;
    let (mut one, mut two) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let (_, hers) = one.page("about:blank").await;
    let (_, his) = two.page("about:blank").await;
    let ours = chromium.page().await;
    let mut heard = chromium.cdp.events(Some(&ours.session)).only("Runtime.console");
    one.call(Some(&hers), "Runtime.enable", json!({})).await;
    two.call(Some(&his), "Runtime.enable", json!({})).await;
    chromium.ask(Some(&ours), "Runtime.enable", json!({})).await.unwrap();
    one.evaluate(&hers, "console.log('hers')").await;
    two.evaluate(&his, "console.log('his')").await;
    chromium.evaluate(&ours, "console.log('ours')").await.unwrap();

    for (client, session, text) in [(&mut one, &hers, "hers"), (&mut two, &his, "his")] {
        client.call(None, "Browser.getVersion", json!({})).await;
        let log = client.event("Runtime.consoleAPICalled").await;
        assert_eq!(log["params"]["args"][0]["value"], text);
        for message in &client.seen {
            let about = message.get("sessionId").and_then(Value::as_str);
            assert!(about.is_none_or(|about| about == session), "{message}");
            assert_ne!(message["method"], "Runtime.consoleAPICalled", "{message}");
        }
    }
    let log: Value = heard.next().await.unwrap().unwrap().read().unwrap();
    assert_eq!(log["args"][0]["value"], "ours");
}

#[tokio::test]
async fn another_clients_session_does_not_exist() {
    let chromium = Chromium::start().await;
    let (mut one, mut two) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let (_, hers) = one.page("about:blank").await;
    let ours = chromium.page().await;
    for session in [hers.as_str(), ours.session.as_str(), "0123456789ABCDEF"] {
        let refused = two.call(Some(session), "Runtime.evaluate", evaluation("1")).await;
        let error = json!({ "code": -32001, "message": "Session with given id not found." });
        assert_eq!(refused["error"], error);
        let detach = json!({ "sessionId": session });
        let refused = two.call(None, "Target.detachFromTarget", detach).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert_eq!(one.evaluate(&hers, "1").await, 1);
    assert_eq!(chromium.evaluate(&ours, "1").await.unwrap(), 1);
}

#[tokio::test]
async fn an_invalid_message_is_answered_and_the_client_continues() {
    let chromium = Chromium::start().await;
    let mut client = Outsider::connect(&chromium).await;
    for (text, code) in [("garbage", -32700), ("{\"id\":5}", -32600), ("[]", -32600)] {
        client.client.send(text).await.unwrap();
        assert_eq!(client.next().await["error"]["code"], code);
    }
    let version = client.call(None, "Browser.getVersion", json!({})).await;
    assert!(version["result"]["product"].is_string());
    let unknown = client.call(None, "Foo.bar", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn large_messages_pass_both_ways() {
    let chromium = Chromium::start().await;
    let mut client = Outsider::connect(&chromium).await;
    let (_, session) = client.page("about:blank").await;
    let text = "x".repeat(20 << 20);
    let back = client.evaluate(&session, &format!("'{text}'")).await;
    assert_eq!(back.as_str().unwrap().len(), text.len());

    let params = "x".repeat(MAX_REQUEST);
    let text = format!(r#"{{"id":0,"method":"Runtime.evaluate","params":"{params}"}}"#);
    client.client.send(&text).await.unwrap();
    assert_eq!(client.answer(0).await["error"]["code"], -32000);
    assert_eq!(client.evaluate(&session, "1").await, 1);
}

#[tokio::test]
async fn a_clients_sessions_end_with_it_and_its_pages_stay() {
    let chromium = Chromium::start().await;
    let mut client = Outsider::connect(&chromium).await;
    let (target, session) = client.page("about:blank").await;
    client.evaluate(&session, "document.title = 'stays'").await;
    let session = SessionId::from(session.as_str());
    let ask =
        || chromium.cdp.call::<Value>(Some(&session), "Runtime.evaluate", evaluation("1"), SOON);
    ask().await.unwrap();
    drop(client);
    let gone = ask().await;
    assert!(matches!(gone, Err(CdpError::TargetGone)), "{gone:?}");

    let page = chromium.attach(&target).await;
    assert_eq!(chromium.evaluate(&page, "document.title").await.unwrap(), "stays");
}

#[tokio::test]
async fn a_detached_session_no_longer_belongs_to_its_client() {
    let chromium = Chromium::start().await;
    let mut client = Outsider::connect(&chromium).await;
    let (target, session) = client.page("about:blank").await;
    client.call(None, "Target.detachFromTarget", json!({ "sessionId": session })).await;
    assert_eq!(
        client.event("Target.detachedFromTarget").await["params"]["sessionId"],
        session.as_str()
    );
    let refused = client.call(Some(&session), "Runtime.evaluate", evaluation("1")).await;
    assert_eq!(refused["error"]["code"], -32001);
    let again = client.attach(&target).await;
    assert_eq!(client.evaluate(&again, "1").await, 1);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed_and_does_not_delay_others() {
    let chromium = Chromium::start().await;
    let (mut slow, mut quick) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let (_, session) = slow.page("about:blank").await;
    let (_, other) = quick.page("about:blank").await;
    slow.call(Some(&session), "Runtime.enable", json!({})).await;
    let flood = "for (let i = 0; i < 100; i++) console.log('x'.repeat(1 << 20))";
    slow.post(Some(&session), "Runtime.evaluate", evaluation(flood)).await;
    for number in 0..20 {
        assert_eq!(quick.evaluate(&other, &number.to_string()).await, number);
    }
    until(|| slow.client.ended().is_some()).await;
    assert_eq!(slow.client.ended(), Some(Ended::TooSlow));
    assert_eq!(slow.client.next().await, None);
    let refused = slow.client.send(r#"{"id":9,"method":"Browser.getVersion"}"#).await;
    assert!(matches!(refused, Err(CdpError::TargetGone)), "{refused:?}");

    assert_eq!(quick.evaluate(&other, "1").await, 1);
    let session = SessionId::from(session.as_str());
    let gone =
        chromium.cdp.call::<Value>(Some(&session), "Runtime.evaluate", evaluation("1"), SOON).await;
    assert!(matches!(gone, Err(CdpError::TargetGone)), "{gone:?}");
}

#[tokio::test]
async fn a_client_learns_that_the_browser_is_gone() {
    let chromium = Chromium::start().await;
    let client = Outsider::connect(&chromium).await;
    chromium.kill();
    assert_eq!(client.client.next().await, None);
    assert_eq!(client.client.ended(), Some(Ended::BrowserGone));
    let refused = client.client.send(r#"{"id":9,"method":"Browser.getVersion"}"#).await;
    assert!(matches!(refused, Err(CdpError::BrowserGone)), "{refused:?}");
    assert!(matches!(chromium.cdp.client("", SOON).await.err(), Some(CdpError::BrowserGone)));
}
