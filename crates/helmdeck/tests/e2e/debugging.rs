//! What a hostile client of the debugging protocol cannot do.

use std::time::Duration;

use helmdeck_testkit::{Caster, Debugger, Desk, Server, eventually};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(30);

/// A page whose title is the typed text.
const FIELD: &str = "data:text/html,<title>field</title><body style='margin:0'>\
    <input style='width:300px;height:60px' oninput='document.title=this.value'>";

/// Closes every page, and returns them.
async fn close_all(client: &mut Debugger) -> Vec<Value> {
    let found = client.call(None, "Target.getTargets", json!({})).await;
    let pages = found["targetInfos"].as_array().unwrap().iter();
    let pages = pages.filter(|target| target["type"] == "page");
    let pages: Vec<_> = pages.map(|page| page["targetId"].clone()).collect();
    for page in &pages {
        client.ask(None, "Target.closeTarget", json!({ "targetId": page })).await;
    }
    pages
}

/// Enables everything that could obstruct a person.
async fn arm(client: &mut Debugger, page: &str) {
    let auto = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    client.call(None, "Target.setAutoAttach", auto).await;
    let offline =
        json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 });
    for (method, params) in [
        ("Network.enable", json!({})),
        ("Network.setBlockedURLs", json!({ "urls": ["*"] })),
        ("Network.emulateNetworkConditions", offline.clone()),
        ("Network.overrideNetworkState", offline),
        ("WebAuthn.enable", json!({})),
        ("Security.setIgnoreCertificateErrors", json!({ "ignore": true })),
        ("Emulation.setCPUThrottlingRate", json!({ "rate": 50 })),
        (
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": 1, "height": 1, "deviceScaleFactor": 1, "mobile": false }),
        ),
        ("Debugger.enable", json!({})),
        ("DOMDebugger.setEventListenerBreakpoint", json!({ "eventName": "input" })),
        ("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] })),
        ("Input.setIgnoreInputEvents", json!({ "ignore": true })),
        ("Emulation.setScriptExecutionDisabled", json!({ "value": true })),
    ] {
        client.call(Some(page), method, params).await;
    }
    for method in ["Page.waitForDebugger", "Emulation.setVisibleSize"] {
        let refused = client.ask(Some(page), method, json!({ "width": 1, "height": 1 })).await;
        assert!(refused["error"].is_object(), "{refused}");
    }
}

#[tokio::test]
async fn a_debugging_client_can_neither_end_the_browser_nor_obstruct_a_person() {
    let server = Server::start();
    let agent = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&agent).await;
    let bearer = format!("Bearer {}", server.token("agent", "sessions:*"));
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    let mut client = Debugger::open(&server, &door, &[("authorization", &bearer)]).await.unwrap();

    let settings = "chrome://version";
    for url in
        ["chrome://quit", "CHROME:restart", "about:quit", "view-source:chrome://quit", settings]
    {
        let refused = client.ask(None, "Target.createTarget", json!({ "url": url })).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("session"), "{refused}");
        let refused = desk.browser("navigate", json!({ "url": url })).await.expect(400).json();
        assert_eq!(refused["error"], "invalid_input", "{refused}");
    }
    let load = json!({ "path": "/home/agent/Downloads" });
    let refused = client.ask(None, "Extensions.loadUnpacked", load).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("created"), "{refused}");
    // Parts of the browser itself are not targets, and downloads stay enabled for others.
    let all = json!({ "filter": [{}] });
    let found = client.call(None, "Target.getTargets", all).await["targetInfos"].clone();
    let kinds: Vec<_> = found.as_array().unwrap().iter().map(|target| &target["type"]).collect();
    assert!(kinds.contains(&&json!("page")) && !kinds.contains(&&json!("browser_ui")), "{found}");
    let shared = client.call(None, "Target.getBrowserContexts", json!({})).await;
    let shared = &shared["defaultBrowserContextId"];
    assert!(shared.is_string(), "{shared}");
    let off = json!({ "behavior": "deny", "browserContextId": shared });
    let refused = client.ask(None, "Browser.setDownloadBehavior", off).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("Other clients"), "{refused}");
    let context = client.call(None, "Target.createBrowserContext", json!({})).await;
    let off = json!({ "behavior": "deny", "browserContextId": context["browserContextId"] });
    client.call(None, "Browser.setDownloadBehavior", off).await;
    client.call(None, "Target.disposeBrowserContext", context).await;

    // Without its last tab, the browser opens a new one. Repeated, because a browser that is about
    // to end may still open one.
    for _ in 0..10 {
        let closed = close_all(&mut client).await;
        let reopened = eventually(SOON, async || {
            let found = client.call(None, "Target.getTargets", json!({})).await;
            let mut pages = found["targetInfos"].as_array().unwrap().iter();
            let new = |target: &&Value| !closed.contains(&target["targetId"]);
            pages.find(|target| target["type"] == "page" && new(target)).cloned()
        });
        assert!(reopened.await.is_some_and(|page| page["url"] == "about:blank"));
    }

    let page = client.open_page(FIELD).await;
    desk.titled("field").await;
    arm(&mut client, &page).await;
    let person = server.run(["token", "--sub", "admin", "--scopes", "admin", "--human"]);
    let person = person.trim().to_owned();
    let bearer = format!("Bearer {person}");
    let drive = format!("/api/v1/sessions/{}/cdp-stream?take=true", desk.id);
    let mut hand = Caster::open(&server, &drive, &[("authorization", &bearer)]).await.unwrap();
    hand.until(|hand| hand.last("control")["may_drive"] == true && !hand.pictures.is_empty()).await;
    hand.click(20, 20, 1).await;
    hand.send("Input.dispatchKeyEvent", json!({ "type": "char", "text": "y" })).await;
    desk.titled("y").await;

    // The client's settings are active again when agents drive again.
    let release = format!("/api/v1/sessions/{}/control/release", desk.id);
    server.bearer(person).post(&release, &json!({})).await.expect(200);
    for (method, params) in [
        ("Emulation.setScriptExecutionDisabled", json!({ "value": false })),
        ("Network.setBlockedURLs", json!({ "urls": [] })),
    ] {
        client.call(Some(&page), method, params).await;
    }
    client.events.clear();
    let fetch = json!({ "expression": "void fetch('http://127.0.0.1:9/').catch(() => {})" });
    client.call(Some(&page), "Runtime.evaluate", fetch).await;
    let until = tokio::time::Instant::now() + SOON;
    while !client.events.iter().any(|event| event["method"] == "Fetch.requestPaused") {
        assert!(tokio::time::Instant::now() < until, "{:?}", client.events);
        client.call(None, "Browser.getVersion", json!({})).await;
    }
}
