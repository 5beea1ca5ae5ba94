//! Browser contexts of several clients.

use serde_json::{Value, json};

use crate::{chromium::Chromium, outsider::Outsider};

async fn context(client: &mut Outsider) -> String {
    let made = client.call(None, "Target.createBrowserContext", json!({})).await;
    made["result"]["browserContextId"].as_str().unwrap().to_owned()
}

async fn page_in(client: &mut Outsider, context: &str, url: &str) -> (String, String) {
    let params = json!({ "url": url, "browserContextId": context });
    let created = client.call(None, "Target.createTarget", params).await;
    let target = created["result"]["targetId"].as_str().unwrap().to_owned();
    let session = client.attach(&target).await;
    (target, session)
}

#[tokio::test]
async fn another_clients_context_cannot_be_seen_attached_to_or_disposed() {
    let chromium = Chromium::start().await;
    let (mut one, mut two) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    two.call(None, "Target.setDiscoverTargets", json!({ "discover": true })).await;
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    two.call(None, "Target.setAutoAttach", auto).await;
    let context = context(&mut one).await;
    // The other client makes new targets wait; this page does not wait for it.
    let (target, page) = page_in(&mut one, &context, "data:text/html,<title>mine</title>").await;
    one.until(&page, "document.title", "mine").await;

    for (method, params) in [
        ("Target.attachToTarget", json!({ "targetId": target, "flatten": true })),
        ("Target.getTargetInfo", json!({ "targetId": target })),
        ("Target.activateTarget", json!({ "targetId": target })),
        ("Target.closeTarget", json!({ "targetId": target })),
        ("Target.disposeBrowserContext", json!({ "browserContextId": context })),
        ("Target.createTarget", json!({ "url": "about:blank", "browserContextId": context })),
        ("Storage.getCookies", json!({ "browserContextId": context })),
    ] {
        let refused = two.call(None, method, params).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    let contexts = two.call(None, "Target.getBrowserContexts", json!({})).await.to_string();
    let targets = two.call(None, "Target.getTargets", json!({})).await.to_string();
    assert!(!contexts.contains(&context) && !targets.contains(&context), "{contexts} {targets}");
    assert_eq!(one.evaluate(&page, "document.title").await, "mine");
    one.call(None, "Target.closeTarget", json!({ "targetId": target })).await;
    one.call(None, "Target.getTargets", json!({})).await;
    two.call(None, "Target.getTargets", json!({})).await;
    let heard: Vec<_> =
        two.seen.iter().filter(|message| message.to_string().contains(&target)).collect();
    assert!(heard.is_empty(), "{heard:?}");
}

#[tokio::test]
async fn the_default_context_is_shared_and_contexts_of_a_gone_client_can_be_found() {
    let chromium = Chromium::start().await;
    let (mut one, mut two) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let context = context(&mut one).await;
    let (target, page) = page_in(&mut one, &context, "data:text/html,<title>left</title>").await;
    one.until(&page, "document.title", "left").await;
    let (shared, _) = one.page("about:blank").await;
    two.attach(&shared).await;

    drop(one);
    let contexts = two.call(None, "Target.getBrowserContexts", json!({})).await;
    assert_eq!(contexts["result"]["browserContextIds"], json!([context]));
    let page = two.attach(&target).await;
    assert_eq!(two.evaluate(&page, "document.title").await, Value::from("left"));
    let params = json!({ "browserContextId": context });
    let disposed = two.call(None, "Target.disposeBrowserContext", params).await;
    assert_eq!(disposed["result"], json!({}));
}
