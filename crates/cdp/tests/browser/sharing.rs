//! Clients that auto-attach, as Playwright does, beside others that do not.

use serde_json::{Value, json};

use crate::{chromium::Chromium, outsider::Outsider};

fn auto_attach() -> Value {
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })
}

/// The session that attached a client to a target.
async fn attached(client: &mut Outsider, target: &str) -> Value {
    loop {
        let event = client.event("Target.attachedToTarget").await;
        if event["params"]["targetInfo"]["targetId"] == target {
            return event["params"].clone();
        }
    }
}

#[tokio::test]
async fn a_page_of_one_client_is_attached_for_the_other_and_runs_for_both() {
    let chromium = Chromium::start().await;
    let (mut keen, mut plain) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let (_, before) = plain.page("data:text/html,before").await;
    let answer = keen.call(None, "Target.setAutoAttach", auto_attach()).await;
    assert_eq!(answer, json!({ "id": 1, "result": {} }));

    let (target, his) = plain.page("data:text/html,<script>ran = true</script>").await;
    let hers = attached(&mut keen, &target).await;
    assert_eq!(hers["waitingForDebugger"], true);
    let hers = hers["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(hers, his);
    keen.call(Some(&hers), "Runtime.runIfWaitingForDebugger", json!({})).await;
    keen.until(&hers, "window.ran", true).await;
    assert_eq!(plain.evaluate(&his, "ran").await, true);
    plain.until(&before, "document.body?.innerText", "before").await;
    let ours = chromium.attach(&target).await;
    assert_eq!(chromium.evaluate(&ours, "ran").await.unwrap(), true);

    plain.call(None, "Browser.getVersion", json!({})).await;
    let strange = plain.seen.iter().find(|message| {
        message["method"] == "Target.attachedToTarget"
            && message["params"]["sessionId"] != his.as_str()
            && message["params"]["sessionId"] != before.as_str()
    });
    assert_eq!(strange, None);
}

#[tokio::test]
async fn a_page_that_waits_for_a_client_continues_when_the_client_disconnects() {
    let chromium = Chromium::start().await;
    let (mut keen, mut plain) =
        (Outsider::connect(&chromium).await, Outsider::connect(&chromium).await);
    let (_, opener) = plain.page("about:blank").await;
    keen.call(None, "Target.setAutoAttach", auto_attach()).await;
    keen.seen.clear();

    // The new window waits for the client, and so does this one, which shares its process.
    let params = json!({ "expression": "popup = open('about:blank'), 1", "userGesture": true });
    let opening = plain.post(Some(&opener), "Runtime.evaluate", params).await;
    let popup = keen.event("Target.attachedToTarget").await;
    assert_eq!(popup["params"]["waitingForDebugger"], true);
    chromium.ask(None, "Target.getTargets", json!({})).await.unwrap();

    drop(keen);
    assert_eq!(plain.answer(opening).await["result"]["result"]["value"], 1);
    assert_eq!(plain.evaluate(&opener, "popup.document.readyState").await, "complete");
    let target = popup["params"]["targetInfo"]["targetId"].as_str().unwrap();
    let page = chromium.attach(target).await;
    assert_eq!(chromium.evaluate(&page, "1 + 1").await.unwrap(), 2);
}

#[tokio::test]
async fn child_sessions_belong_to_the_client_too() {
    let chromium = Chromium::start().await;
    let mut client = Outsider::connect(&chromium).await;
    let (_, page) = client.page("about:blank").await;
    client.seen.clear();
    client.call(Some(&page), "Target.setAutoAttach", auto_attach()).await;
    let worker = "new Worker(URL.createObjectURL(new Blob(['answer = 42']))), 1";
    assert_eq!(client.evaluate(&page, worker).await, 1);

    let event = client.event("Target.attachedToTarget").await;
    assert_eq!(event["sessionId"], page.as_str());
    let worker = event["params"]["sessionId"].as_str().unwrap().to_owned();
    client.call(Some(&worker), "Runtime.runIfWaitingForDebugger", json!({})).await;
    client.until(&worker, "self.answer", 42).await;
}
