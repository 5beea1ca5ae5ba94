//! Tabs, and windows that pages open.

use helmdeck_wire::{ErrorCode, control::Hands};
use serde_json::json;

use crate::{
    desk::{Desk, failure, request},
    server::{Reply, Server},
};

const TO_PERSON: bool = true;
const TO_AGENT: bool = false;

#[tokio::test]
async fn tabs_are_opened_listed_activated_and_closed() {
    let server = Server::start(|path| Reply::page(format!("<title>{path}</title>"))).await;
    let desk = Desk::start().await;
    let tabs = desk.tabs(json!({})).await;
    assert_eq!(tabs.len(), 1);
    assert!(tabs[0].active && tabs[0].url == "about:blank");

    let tabs = desk.tabs(json!({ "action": "open", "url": server.url("/b") })).await;
    assert_eq!(tabs.iter().map(|tab| tab.active).collect::<Vec<_>>(), [false, true]);
    desk.wait_for(json!({ "url": "/b" })).await.unwrap();
    let first = &tabs[0].id;
    desk.navigate(json!({ "url": server.url("/a"), "tab": first })).await.unwrap();
    assert_eq!(desk.value("document.title").await, "/b");
    desk.tabs(json!({ "action": "activate", "tab": first })).await;
    assert_eq!(desk.value("document.title").await, "/a");

    let left = desk.tabs(json!({ "action": "close" })).await;
    assert_eq!(left.len(), 1);
    assert_eq!(desk.value("document.title").await, "/b");
    let gone = json!({ "action": "activate", "tab": first });
    let (code, _) = failure(desk.browser.tabs(&request(gone)).await);
    assert_eq!(code, ErrorCode::TabNotFound);
    let (code, _) = failure(desk.extract(json!({ "tab": "nonsense" })).await);
    assert_eq!(code, ErrorCode::TabNotFound);

    // A person opens a tab; afterwards the agent is back in its own.
    let person = desk.browser.in_hands(Hands::Person);
    desk.browser.handed_over(TO_PERSON);
    let open = json!({ "action": "open", "url": server.url("/person") });
    let theirs = person.tabs(&request(open)).await.unwrap().tabs;
    assert_eq!(theirs.iter().map(|tab| tab.active).collect::<Vec<_>>(), [false, true]);
    desk.browser.handed_over(TO_AGENT);
    assert_eq!(desk.value("document.title").await, "/b");
    // Reading does not move the agent.
    person.tabs(&request(json!({}))).await.unwrap();
    let open = json!({ "action": "open", "url": server.url("/agent") });
    let opened = desk.tabs(open).await;
    desk.wait_for(json!({ "url": "/agent", "network_idle": true })).await.unwrap();
    assert_eq!(desk.value("document.title").await, "/agent");
    desk.tabs(json!({ "action": "close", "tab": opened[2].id })).await;
    desk.tabs(json!({ "action": "activate", "tab": opened[0].id })).await;
    // If its tab is gone, the agent is in another.
    desk.browser.handed_over(TO_PERSON);
    let close = json!({ "action": "close", "tab": theirs[0].id });
    person.tabs(&request(close)).await.unwrap();
    desk.browser.handed_over(TO_AGENT);
    assert_eq!(desk.value("document.title").await, "/person");
}

#[tokio::test]
async fn a_window_opened_by_a_page_is_reported_as_a_tab() {
    let server = Server::start(|path| match path {
        "/" => Reply::page(
            "<a target=_blank href=/link>link</a><button onclick='window.open(\"/script\", \"\", \"popup\")'>script</button>",
        ),
        path => Reply::page(format!("<h1>{path}</h1>")),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let first = desk.active().await;
    for (text, title) in [("link", "/link"), ("script", "/script")] {
        let click = json!({ "selector": format!("text={text}"), "tab": first });
        let acted = desk.click(click).await.unwrap().acted;
        assert_eq!((acted.opened.len(), acted.tab.as_ref()), (1, Some(&first)));
        let wait = json!({ "selector": "h1", "tab": acted.opened[0] });
        desk.wait_for(wait).await.unwrap();
        let read = json!({ "selector": "h1", "tab": acted.opened[0] });
        assert_eq!(desk.extract(read).await.unwrap().content, title);
    }
    assert_eq!(desk.tabs(json!({})).await.len(), 3);
}

#[tokio::test]
async fn a_hidden_tab_can_be_used() {
    let desk =
        Desk::showing("<button onclick='document.title = \"clicked\"'>Press</button><input id=i>")
            .await;
    let first = desk.active().await;
    desk.tabs(json!({ "action": "open" })).await;
    desk.type_into(json!({ "selector": "#i", "text": "typed", "tab": first })).await.unwrap();
    desk.click(json!({ "selector": "button", "tab": first })).await.unwrap();
    let read = json!({ "script": "[document.title, i.value]", "tab": first });
    assert_eq!(desk.execute(read).await.unwrap().result, json!(["clicked", "typed"]));
    desk.screenshot(json!({ "tab": first })).await.unwrap();
}

#[tokio::test]
async fn the_last_tab_may_be_closed() {
    let desk = Desk::showing("<p>only one").await;
    desk.tabs(json!({ "action": "open" })).await;
    for _ in 0..2 {
        desk.tabs(json!({ "action": "close" })).await;
    }
    let there = desk.go("data:text/html,<title>again</title>").await;
    assert_eq!(there.title, "again");
}
