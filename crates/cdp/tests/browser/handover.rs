//! Client settings from before a person took control.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    chromium::{Chromium, Page},
    outsider::Outsider,
};

const FORM: &str = "<title>form</title><input id=field autofocus style='width:100%;height:100px'>";

/// A site with one page.
async fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {}\r\n\r\n{FORM}", FORM.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

/// Answers passkey prompts in place of a person's.
fn authenticator() -> Value {
    json!({ "options": {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
        "hasUserVerification": true, "isUserVerified": true,
        "automaticPresenceSimulation": true,
    } })
}

/// Acts like a person: opens the page, clicks into the field, types a letter.
async fn type_by_hand(chromium: &Chromium, page: &Page, url: &str) -> Value {
    chromium.ask(Some(page), "Page.navigate", json!({ "url": url })).await.unwrap();
    while chromium.evaluate(page, "!!window.field").await.unwrap() != true {}
    for kind in ["mousePressed", "mouseReleased"] {
        let params = json!({ "type": kind, "x": 50, "y": 50, "button": "left", "clickCount": 1 });
        chromium.ask(Some(page), "Input.dispatchMouseEvent", params).await.unwrap();
    }
    let key = json!({ "type": "keyDown", "key": "a", "code": "KeyA", "text": "a" });
    chromium.ask(Some(page), "Input.dispatchKeyEvent", key).await.unwrap();
    chromium.evaluate(page, "field.value").await.unwrap()
}

#[tokio::test]
async fn client_settings_do_not_hinder_a_person_and_are_restored_at_release() {
    let (chromium, url) = (Chromium::start().await, site().await);
    let mut agent = Outsider::connect(&chromium).await;
    let (target, page) = agent.page("about:blank").await;
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    agent.call(None, "Target.setAutoAttach", auto).await;
    for (method, params) in [
        ("Network.enable", json!({})),
        ("Input.setIgnoreInputEvents", json!({ "ignore": true })),
        ("Network.setBlockedURLs", json!({ "urls": ["*"] })),
        (
            "Network.emulateNetworkConditions",
            json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 }),
        ),
        (
            "Network.overrideNetworkState",
            json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 }),
        ),
        ("WebAuthn.enable", json!({})),
        ("WebAuthn.addVirtualAuthenticator", authenticator()),
        ("Page.setInterceptFileChooserDialog", json!({ "enabled": true })),
        ("Emulation.setCPUThrottlingRate", json!({ "rate": 50 })),
        ("DOM.enable", json!({})),
        ("Overlay.enable", json!({})),
        ("Overlay.setInspectMode", json!({ "mode": "searchForNode", "highlightConfig": {} })),
        ("Security.enable", json!({})),
        ("Security.setIgnoreCertificateErrors", json!({ "ignore": true })),
        ("Debugger.enable", json!({})),
        ("DOMDebugger.setEventListenerBreakpoint", json!({ "eventName": "click" })),
        ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        ("Emulation.setScriptExecutionDisabled", json!({ "value": true })),
    ] {
        let done = agent.call(Some(&page), method, params).await;
        assert!(done.get("error").is_none(), "{method}: {done}");
    }
    let ours = chromium.attach(&target).await;

    chromium.cdp.hand_over(Some("ann")).await;
    assert_eq!(type_by_hand(&chromium, &ours, &url).await, "a");
    assert_eq!(chromium.evaluate(&ours, "navigator.onLine").await.unwrap(), true);
    let rest = json!({ "authenticatorId": "any" });
    let lost = agent.call(Some(&page), "WebAuthn.getCredentials", rest).await;
    let why = lost["error"]["message"].as_str().unwrap();
    assert!(why.contains("not been enabled"), "{lost}");
    // New settings wait; calls that only read do not.
    let frozen = json!({ "state": "frozen" });
    let later = agent.call(Some(&page), "Page.setWebLifecycleState", frozen).await;
    assert_eq!(later["result"], json!({}));
    let again = json!({ "patterns": [{ "urlPattern": "*" }] });
    agent.call(Some(&page), "Fetch.enable", again).await;
    assert_eq!(type_by_hand(&chromium, &ours, &url).await, "a");
    let opened = "open('about:blank').document.readyState";
    let params = json!({ "expression": opened, "userGesture": true });
    let opened = chromium.ask(Some(&ours), "Runtime.evaluate", params).await.unwrap();
    assert_eq!(opened["result"]["value"], "complete");
    assert_eq!(agent.evaluate(&page, "document.title").await, "form");

    chromium.cdp.hand_over(None).await;
    agent.seen.clear();
    let active = json!({ "state": "active" });
    agent.call(Some(&page), "Page.setWebLifecycleState", active).await;
    agent.post(Some(&page), "Page.navigate", json!({ "url": url })).await;
    let paused = agent.event("Fetch.requestPaused").await;
    assert_eq!(paused["params"]["request"]["url"], url.as_str());
}

#[tokio::test]
async fn clients_of_the_person_in_control_keep_their_settings() {
    let (chromium, url) = (Chromium::start().await, site().await);
    let mut theirs = Outsider::labelled(&chromium, "ann").await;
    let (_, page) = theirs.page("about:blank").await;
    chromium.cdp.hand_over(Some("ann")).await;
    let all = json!({ "patterns": [{ "urlPattern": "*" }] });
    theirs.call(Some(&page), "Fetch.enable", all).await;
    theirs.post(Some(&page), "Page.navigate", json!({ "url": url })).await;
    theirs.event("Fetch.requestPaused").await;
}

#[tokio::test]
async fn a_page_that_waits_for_a_client_runs_when_a_person_takes_control() {
    let chromium = Chromium::start().await;
    let mut agent = Outsider::connect(&chromium).await;
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    agent.call(None, "Target.setAutoAttach", auto).await;
    agent.seen.clear();
    let params = json!({ "url": "data:text/html,<script>ran = 1</script>" });
    let created = chromium.ask(None, "Target.createTarget", params).await.unwrap();
    assert_eq!(agent.event("Target.attachedToTarget").await["params"]["waitingForDebugger"], true);
    chromium.cdp.hand_over(Some("ann")).await;
    let page = chromium.attach(created["targetId"].as_str().unwrap()).await;
    while chromium.evaluate(&page, "window.ran").await.unwrap() != 1 {}
}
