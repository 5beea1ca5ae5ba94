//! Dialogs never block a call.

use helmdeck_cdp::SessionId;
use helmdeck_wire::browser::{Dialog, DialogKind};
use serde_json::{Value, json};

use crate::{
    chromium::SOON,
    desk::Desk,
    server::{Reply, Server},
};

fn dialog(kind: DialogKind, message: &str, accepted: bool) -> Dialog {
    Dialog { kind, message: message.to_owned(), accepted }
}

#[tokio::test]
async fn every_kind_of_dialog_is_answered_and_reported() {
    let desk = Desk::showing(
        "<button id=a onclick='alert(\"hello\")'>a</button>
         <button id=c onclick='result = confirm(\"sure?\")'>c</button>
         <button id=p onclick='result = prompt(\"name?\", \"me\")'>p</button>",
    )
    .await;
    let alert = desk.click(json!({ "selector": "#a" })).await.unwrap();
    assert_eq!(alert.acted.dialogs, [dialog(DialogKind::Alert, "hello", true)]);
    for (accept, confirmed, prompted) in
        [(false, json!(false), json!(null)), (true, json!(true), json!("me"))]
    {
        let confirm = json!({ "selector": "#c", "accept_dialogs": accept });
        let confirm = desk.click(confirm).await.unwrap();
        assert_eq!(confirm.acted.dialogs, [dialog(DialogKind::Confirm, "sure?", accept)]);
        assert_eq!(desk.value("result").await, confirmed);
        let prompt = json!({ "selector": "#p", "accept_dialogs": accept });
        let prompt = desk.click(prompt).await.unwrap();
        assert_eq!(prompt.acted.dialogs, [dialog(DialogKind::Prompt, "name?", accept)]);
        assert_eq!(desk.value("result").await, prompted);
    }
}

#[tokio::test]
async fn beforeunload_does_not_block_navigation() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<input id=i><script>onbeforeunload = e => e.preventDefault()</script>"),
        _ => Reply::page("<p>next"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    desk.type_into(json!({ "selector": "#i", "text": "unsaved" })).await.unwrap();
    let there = desk.go(&server.url("/next")).await;
    assert_eq!(there.acted.url, server.url("/next"));
    assert_eq!(there.acted.dialogs, [dialog(DialogKind::Beforeunload, "", true)]);

    desk.go(&server.url("/")).await;
    desk.type_into(json!({ "selector": "#i", "text": "unsaved" })).await.unwrap();
    desk.tabs(json!({ "action": "open" })).await;
    let first = desk.tabs(json!({})).await[0].id.clone();
    let left = desk.tabs(json!({ "action": "close", "tab": first })).await;
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn dialogs_in_scripts_and_while_a_page_loads_are_answered() {
    let server = Server::of("<script>alert('on load')</script><p>loaded").await;
    let desk = Desk::start().await;
    let there = desk.go(&server.url("/")).await;
    assert_eq!(there.acted.dialogs, [dialog(DialogKind::Alert, "on load", true)]);
    assert_eq!(desk.text("p").await, "loaded");
    let script = json!({ "script": "[confirm('1'), prompt('2'), alert('3')]" });
    let executed = desk.execute(script).await.unwrap();
    assert_eq!(executed.result, json!([false, null, null]));
    assert_eq!(executed.acted.dialogs.len(), 3);
}

#[tokio::test]
async fn an_open_dialog_is_answered_by_the_next_call() {
    let desk = Desk::showing("<p>behind</p>").await;
    // Another client opens a dialog while no call is in progress.
    let cdp = &desk.chromium.cdp;
    let params = json!({ "targetId": desk.active().await, "flatten": true });
    let attached: Value = cdp.call(None, "Target.attachToTarget", params, SOON).await.unwrap();
    let session = SessionId::from(attached["sessionId"].as_str().unwrap());
    let mut events = cdp.events(Some(&session)).only("Page.javascriptDialogOpening");
    let script = "setTimeout(() => { alert('between calls'); document.title = 'after' }), 0";
    let enable = cdp.call::<Value>(Some(&session), "Page.enable", json!({}), SOON);
    enable.await.unwrap();
    let params = json!({ "expression": script });
    let run = cdp.call::<Value>(Some(&session), "Runtime.evaluate", params, SOON);
    run.await.unwrap();
    events.next().await.unwrap().unwrap();

    let read = desk.extract(json!({ "selector": "p" })).await.unwrap();
    assert_eq!(read.content, "behind");
    assert_eq!(read.acted.dialogs, [dialog(DialogKind::Alert, "between calls", true)]);
    assert_eq!(desk.value("document.title").await, "after");
}

#[tokio::test]
async fn a_dialog_in_a_cross_site_frame_is_answered() {
    let server = Server::start(|path| match path {
        "/frame" => {
            Reply::page("<button onclick='this.textContent = confirm(\"in here?\")'>ask</button>")
        }
        other => Reply::page(format!("<iframe src='{}'></iframe>", &other[2..])),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url(&format!("/?{}", server.elsewhere("/frame")))).await;
    let ask = json!({ "selector": "text=ask", "accept_dialogs": true });
    let clicked = desk.click(ask).await.unwrap();
    assert_eq!(clicked.acted.dialogs, [dialog(DialogKind::Confirm, "in here?", true)]);
    assert_eq!(desk.text("button").await, "true");
}
