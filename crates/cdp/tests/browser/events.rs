//! Event streams: what listeners get, and what they miss.

use helmdeck_cdp::{CdpError, EventStream, Lagged};
use serde::Deserialize;
use serde_json::json;

use crate::chromium::{Chromium, Page};

#[derive(Deserialize)]
struct Logged {
    args: Vec<Argument>,
}

#[derive(Deserialize)]
struct Argument {
    value: String,
}

/// The next thing a page wrote on its console.
async fn logged(events: &mut EventStream) -> Result<String, Lagged> {
    loop {
        let event = events.next().await.unwrap()?;
        if event.method == "Runtime.consoleAPICalled" {
            return Ok(event.read::<Logged>().unwrap().args.remove(0).value);
        }
    }
}

async fn watched(chromium: &Chromium) -> (Page, EventStream) {
    let page = chromium.page().await;
    let events = chromium.cdp.events(Some(&page.session));
    chromium.ask(Some(&page), "Runtime.enable", json!({})).await.unwrap();
    (page, events)
}

#[tokio::test]
async fn a_listener_gets_only_events_of_its_session() {
    let chromium = Chromium::start().await;
    let (one, mut of_one) = watched(&chromium).await;
    let (two, mut of_two) = watched(&chromium).await;
    let mut of_one_too = chromium.cdp.events(Some(&one.session));
    chromium.evaluate(&one, "console.log('one')").await.unwrap();
    chromium.evaluate(&two, "console.log('two')").await.unwrap();
    chromium.evaluate(&one, "console.log('end')").await.unwrap();

    for events in [&mut of_one, &mut of_one_too] {
        assert_eq!(logged(events).await.unwrap(), "one");
        assert_eq!(logged(events).await.unwrap(), "end");
    }
    assert_eq!(logged(&mut of_two).await.unwrap(), "two");
}

#[tokio::test]
async fn a_listener_gets_only_the_events_it_wants() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let mut events = chromium.cdp.events(Some(&page.session)).only("Page.");
    for domain in ["Runtime.enable", "Page.enable", "Network.enable"] {
        chromium.ask(Some(&page), domain, json!({})).await.unwrap();
    }
    let load = json!({ "url": "data:text/html,<script>console.log(1)</script>" });
    chromium.ask(Some(&page), "Page.navigate", load).await.unwrap();
    loop {
        let event = events.next().await.unwrap().unwrap();
        assert!(event.method.starts_with("Page."), "{}", event.method);
        if event.method == "Page.loadEventFired" {
            return;
        }
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_session() {
    let chromium = Chromium::start().await;
    let (page, mut events) = watched(&chromium).await;
    let mut browser = chromium.cdp.events(None).only("Target.detached");
    chromium.close(&page).await;
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let detached = browser.next().await.unwrap().unwrap();
    assert_eq!(detached.method, "Target.detachedFromTarget");
    assert!(chromium.cdp.events(Some(&page.session)).next().await.is_none());
}

#[tokio::test]
async fn a_slow_listener_loses_the_oldest_events_and_gets_their_count() {
    let chromium = Chromium::start().await;
    let (page, mut slow) = watched(&chromium).await;
    let mut quick = chromium.cdp.events(Some(&page.session));
    let count = 40;
    let flood =
        format!("for (let i = 0; i < {count}; i++) console.log(i + ' ' + 'x'.repeat(1 << 20))");
    let hearing = async {
        for expected in 0..count {
            let text = logged(&mut quick).await.unwrap();
            assert!(text.starts_with(&format!("{expected} ")));
        }
    };
    let (flooded, ()) = tokio::join!(chromium.evaluate(&page, &flood), hearing);
    flooded.unwrap();

    let Err(Lagged(missed)) = logged(&mut slow).await else { panic!("nothing was missed") };
    assert!(missed > 0);
    let newest = format!("{} ", count - 1);
    while !logged(&mut slow).await.unwrap().starts_with(&newest) {}
}

#[tokio::test]
async fn an_event_of_the_wrong_type_is_an_error() {
    let chromium = Chromium::start().await;
    let (page, mut events) = watched(&chromium).await;
    chromium.evaluate(&page, "console.log(1)").await.unwrap();
    let event = loop {
        let event = events.next().await.unwrap().unwrap();
        if event.method == "Runtime.consoleAPICalled" {
            break event;
        }
    };
    assert!(matches!(event.read::<Logged>(), Err(CdpError::Nonsense(_))));
}
