//! Waiting for conditions on a page.

use std::time::Duration;

use helmdeck_wire::ErrorCode;
use serde_json::json;

use crate::{
    desk::{Desk, failure},
    server::{Reply, Server},
};

#[tokio::test]
async fn elements_that_appear_or_disappear_are_waited_for() {
    let desk = Desk::showing(
        "<p id=spinner>Loading</p><script>end = () => { spinner.remove();
         document.body.insertAdjacentHTML('beforeend', '<b id=done>All done</b>');
         history.replaceState(0, '', '#ready') }</script>",
    )
    .await;
    desk.wait_for(json!({ "selector": "#spinner" })).await.unwrap();
    desk.value("setTimeout(end, 300), 0").await;
    desk.wait_for(json!({ "selector": "#spinner", "gone": true })).await.unwrap();
    let all = json!({ "selector": "#done", "text": "all done", "url": "#ready" });
    desk.wait_for(all).await.unwrap();
}

#[tokio::test]
async fn an_unmet_condition_is_named() {
    let desk = Desk::showing("<p id=p>Still here</p><button>Use me</button>").await;
    for (wait, code, words) in [
        (json!({ "text": "Never" }), ErrorCode::ElementNotFound, "button \"Use me\""),
        (json!({ "selector": "#p", "text": "Never" }), ErrorCode::ElementNotFound, "text=Never"),
        (json!({ "selector": "#p", "gone": true }), ErrorCode::Timeout, "still visible"),
        (
            json!({ "selector": "#q", "text": "Still", "gone": true }),
            ErrorCode::Timeout,
            "text=Still is still visible",
        ),
        (json!({ "url": "elsewhere" }), ErrorCode::Timeout, "elsewhere"),
    ] {
        let mut wait = wait;
        wait["timeout_s"] = json!(0.3);
        let (got, message) = failure(desk.wait_for(wait).await);
        assert_eq!(got, code, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn a_wait_continues_across_a_navigation() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<script>setTimeout(() => location = '/next', 200)</script>"),
        _ => Reply::page("<h1>Next page</h1>").after(Duration::from_millis(200)),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let waited = desk.wait_for(json!({ "text": "next page", "url": "/next" })).await.unwrap();
    assert_eq!(waited.acted.url, server.url("/next"));
    desk.go(&server.url("/")).await;
    desk.extract(json!({ "selector": "h1" })).await.unwrap();
}

#[tokio::test]
async fn an_idle_network_can_be_waited_for() {
    let server = Server::start(|path| match path {
        "/slow" => Reply::page("").after(Duration::from_millis(900)),
        _ => Reply::page(
            "<script>onload = () => fetch('/slow').then(() => document.title = 'fetched')</script>",
        ),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let hurry = json!({ "network_idle": true, "timeout_s": 0.1 });
    let (code, message) = failure(desk.wait_for(hurry).await);
    assert_eq!(code, ErrorCode::Timeout, "{message}");
    desk.wait_for(json!({ "network_idle": true })).await.unwrap();
    assert_eq!(desk.value("document.title").await, "fetched");
}

#[tokio::test]
async fn an_infinite_list_is_scrolled_through() {
    let desk = Desk::showing(
        "<div id=list></div><script>let n = 0;
         const more = () => { for (let i = 0; i < 30; i++) list.insertAdjacentHTML('beforeend',
           `<p style='height: 60px'>Item ${++n}</p>`) };
         more();
         onscroll = () => { if (innerHeight + scrollY > document.body.scrollHeight - 200) more() }</script>",
    )
    .await;
    for item in [30, 60, 90] {
        let last = json!({ "selector": format!("text=\"Item {item}\"") });
        desk.click(last).await.unwrap();
    }
    assert!(desk.value("n").await.as_u64().unwrap() >= 120);
}
