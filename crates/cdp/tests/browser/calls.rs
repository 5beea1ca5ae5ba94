//! Calls and their answers.

use std::time::Duration;

use helmdeck_cdp::{CdpError, MAX_REQUEST};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::join;

use crate::chromium::{Chromium, NEVER, SOON, evaluation};

#[tokio::test]
async fn an_answer_is_parsed_into_the_callers_type() {
    #[derive(Deserialize)]
    struct Version {
        product: String,
    }
    let chromium = Chromium::start().await;
    let version: Version = chromium.cdp.call(None, "Browser.getVersion", (), SOON).await.unwrap();
    assert!(version.product.contains("Chrome"), "{}", version.product);
}

#[tokio::test]
async fn a_refusal_has_the_browsers_message() {
    let chromium = Chromium::start().await;
    let refused = chromium.ask(None, "Foo.bar", json!({})).await.unwrap_err();
    let CdpError::Refused { method, code, message } = refused else { panic!("{refused:?}") };
    assert_eq!((method.as_str(), code), ("Foo.bar", -32601));
    assert!(message.contains("Foo.bar"));
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_an_error_and_later_calls_work() {
    #[derive(Debug, Deserialize)]
    struct Version {
        #[serde(rename = "product")]
        _product: u32,
    }
    let chromium = Chromium::start().await;
    let nonsense = chromium.cdp.call::<Version>(None, "Browser.getVersion", (), SOON).await;
    assert!(matches!(nonsense, Err(CdpError::Nonsense(_))), "{nonsense:?}");
    chromium.ask(None, "Browser.getVersion", json!({})).await.unwrap();
}

#[tokio::test]
async fn each_session_is_one_page_and_each_call_gets_its_own_answer() {
    let chromium = Chromium::start().await;
    let (one, two) = (chromium.page().await, chromium.page().await);
    join!(async { chromium.evaluate(&one, "name = 'one'").await.unwrap() }, async {
        chromium.evaluate(&two, "name = 'two'").await.unwrap()
    },);
    for _ in 0..5 {
        let slow = "new Promise(done => setTimeout(() => done(name + 1), 20))";
        let (a, b, c) = join!(
            chromium.evaluate(&one, slow),
            chromium.evaluate(&two, "name + 2"),
            chromium.evaluate(&one, "name + 3"),
        );
        assert_eq!(
            (a.unwrap(), b.unwrap(), c.unwrap()),
            ("one1".into(), "two2".into(), "one3".into())
        );
    }
}

#[tokio::test]
async fn an_unanswered_call_fails_at_its_deadline_and_others_continue() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let short = Duration::from_millis(300);
    let session = Some(&page.session);
    let late =
        chromium.cdp.call::<Value>(session, "Runtime.evaluate", evaluation(NEVER), short).await;
    assert!(
        matches!(&late, Err(CdpError::Deadline { method }) if method == "Runtime.evaluate"),
        "{late:?}"
    );
    assert_eq!(chromium.evaluate(&page, "6 * 7").await.unwrap(), 42);
}

#[tokio::test]
async fn the_late_answer_of_a_dropped_call_is_ignored() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    tokio::select! {
        biased;
        _ = chromium.evaluate(&page, "new Promise(done => { finish = done })") => panic!("too soon"),
        defined = chromium.evaluate(&page, "typeof finish") => {
            assert_eq!(defined.unwrap(), "function");
        }
    }
    for number in 0..10 {
        let answer = chromium.evaluate(&page, &format!("finish('late'), {number}")).await.unwrap();
        assert_eq!(answer, number);
    }
}

#[tokio::test]
async fn large_calls_and_answers_arrive_whole() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let long = 24 << 20;
    let text = chromium.evaluate(&page, &format!("'x'.repeat({long})")).await.unwrap();
    assert_eq!(text.as_str().unwrap().len(), long);

    let expression = format!("'{}'.length", "x".repeat(long));
    assert_eq!(chromium.evaluate(&page, &expression).await.unwrap(), long);
}

#[tokio::test]
async fn an_oversized_call_is_refused() {
    let chromium = Chromium::start().await;
    let params = json!({ "x": "x".repeat(MAX_REQUEST) });
    let refused = chromium.ask(None, "Browser.getVersion", params).await;
    assert!(matches!(refused, Err(CdpError::TooLarge)), "{refused:?}");
    chromium.ask(None, "Browser.getVersion", json!({})).await.unwrap();
}

#[tokio::test]
async fn calls_to_a_frozen_browser_time_out_and_work_again_later() {
    let chromium = Chromium::start().await;
    let short = Duration::from_millis(500);
    // More than the pipe and our queue can hold.
    let large = json!({ "x": "x".repeat(40 << 20) });
    chromium.freeze();
    for _ in 0..2 {
        let late = chromium.cdp.call::<Value>(None, "Browser.getVersion", &large, short).await;
        assert!(matches!(late, Err(CdpError::Deadline { .. })), "{late:?}");
    }
    chromium.thaw();
    chromium.ask(None, "Browser.getVersion", json!({})).await.unwrap();
}
