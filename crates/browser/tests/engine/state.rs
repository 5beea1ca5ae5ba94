//! Carrying the signed-in state from one browser to another.

use std::time::Duration;

use helmdeck_wire::{
    ErrorCode,
    browser::{ImportState, StorageState},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    chromium::SOON,
    desk::{Desk, Done, failure, request},
    server::{Reply, Server},
};

/// A site that reports if its scripts ran, which must not happen.
async fn site() -> Server {
    Server::start(|path| match path {
        "/frame" => Reply::page("<script>localStorage.framed = 'yes'</script>"),
        "/sign-in" => Reply::page("<script>localStorage.who = 'ada'</script>")
            .header("Set-Cookie: sid=1; HttpOnly; SameSite=Strict")
            .header("Set-Cookie: stay=2; Max-Age=86400; Path=/sign-in"),
        _ => Reply::page("<script>localStorage.ran = 'yes'</script>"),
    })
    .await
}

async fn export(desk: &Desk, value: Value) -> Done<StorageState> {
    desk.browser.export_state(&request(value)).await
}

async fn import(desk: &Desk, value: Value) -> Done<Value> {
    let import: ImportState = request(value);
    let imported = desk.browser.import_state(&import).await?;
    Ok(serde_json::to_value(imported).unwrap())
}

/// Waits until no hidden page is left.
async fn tidied(desk: &Desk) {
    let params = json!({ "filter": [{ "type": "other" }] });
    let cdp = &desk.chromium.cdp;
    loop {
        let others: Value = cdp.call(None, "Target.getTargets", &params, SOON).await.unwrap();
        if others["targetInfos"] == json!([]) {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn exported_state_can_be_imported_by_another_browser() {
    let site = site().await;
    let first = Desk::start().await;
    first.go(&site.url("/sign-in")).await;
    let frame = format!("document.body.innerHTML = '<iframe src={}>'", site.elsewhere("/frame"));
    first.value(&frame).await;
    first.wait_for(json!({ "network_idle": true })).await.unwrap();
    let state = export(&first, json!({})).await.unwrap();
    let state = serde_json::to_value(state).unwrap();
    // The format is exactly Playwright's.
    let cookies = state["cookies"].as_array().unwrap();
    let sid = cookies.iter().find(|cookie| cookie["name"] == "sid").unwrap();
    assert_eq!(
        *sid,
        json!({
            "name": "sid", "value": "1", "domain": "127.0.0.1", "path": "/", "expires": -1.0,
            "httpOnly": true, "secure": false, "sameSite": "Strict",
        })
    );
    let origin = site.url("");
    let stored = json!([{ "name": "who", "value": "ada" }]);
    // Storage of the frame is partitioned: it is not the site's own.
    assert_eq!(state["origins"], json!([{ "origin": origin, "localStorage": stored }]));

    let second = Desk::start().await;
    let told = import(&second, json!({ "state": state })).await.unwrap();
    assert_eq!(told, json!({ "ok": true, "cookies": 2, "origins": 1 }));
    // No page of the site was shown, none is left, and no client saw one.
    let tabs = second.tabs(json!({})).await;
    assert_eq!((tabs.len(), tabs[0].url.as_str()), (1, "about:blank"));
    tidied(&second).await;
    let again = export(&second, json!({ "origins": [origin] })).await.unwrap();
    let mut again = serde_json::to_value(again).unwrap();
    assert_eq!(again["origins"], state["origins"]);
    let names = |state: &mut Value| {
        let cookies = state["cookies"].as_array_mut().unwrap();
        cookies.sort_by_key(|cookie| cookie["name"].to_string());
        cookies.iter().map(Value::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut again), names(&mut state.clone()));
    second.go(&site.url("/sign-in")).await;
    assert_eq!(
        second.value("[document.cookie, localStorage.ran ?? null]").await,
        json!(["stay=2", null])
    );

    // `replace` removes everything else.
    let told = import(&second, json!({ "state": {}, "replace": true })).await.unwrap();
    assert_eq!(told, json!({ "ok": true, "cookies": 0, "origins": 0 }));
    assert_eq!(second.value("[document.cookie, localStorage.length]").await, json!(["", 0]));
    assert_eq!(export(&second, json!({})).await.unwrap(), StorageState::default());
}

#[tokio::test]
async fn a_bad_cookie_is_named_and_nothing_is_changed() {
    let desk = Desk::start().await;
    let good = json!({ "name": "good", "value": "1", "domain": "a.example" });
    let bad = json!({ "name": "bad", "value": "secret\nvalue", "domain": ".a.example" });
    import(&desk, json!({ "state": { "cookies": [good] } })).await.unwrap();
    let state = json!({ "cookies": [good, bad] });
    let (code, message) = failure(import(&desk, json!({ "state": state, "replace": true })).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(message.starts_with("state.cookies[1]: ") && message.contains("\"bad\""), "{message}");
    assert!(!message.contains("secret"), "{message}");
    assert_eq!(export(&desk, json!({})).await.unwrap().cookies.len(), 1, "nothing is cleared");

    let much = "x".repeat(6 << 20);
    let local = json!([{ "name": "much", "value": much }]);
    let origins = json!([{ "origin": "https://a.example", "localStorage": local }]);
    let (code, message) = failure(import(&desk, json!({ "state": { "origins": origins } })).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(message.starts_with("state.origins[0]: ") && !message.contains("xx"), "{message}");
    let nowhere = json!({ "origins": ["https://a.example:99999"] });
    let (code, message) = failure(export(&desk, nowhere).await);
    assert_eq!(code, ErrorCode::InvalidInput);
    assert!(message.contains("https://a.example:99999"), "{message}");
}

/// Opens a page in a separate context, as other programs do. It becomes the active one.
async fn open_apart(desk: &Desk, url: &str) -> Value {
    let cdp = &desk.chromium.cdp;
    let before = desk.tabs(json!({})).await.len();
    let made = cdp.call::<Value>(None, "Target.createBrowserContext", (), SOON).await.unwrap();
    let context = made["browserContextId"].clone();
    let params = json!({ "url": url, "browserContextId": context });
    cdp.call::<Value>(None, "Target.createTarget", params, SOON).await.unwrap();
    while desk.tabs(json!({})).await.len() == before {
        sleep(Duration::from_millis(20)).await;
    }
    context
}

/// The contexts of the tabs.
async fn contexts(desk: &Desk) -> Vec<Value> {
    let params = json!({ "filter": [{ "type": "page" }] });
    let cdp = &desk.chromium.cdp;
    let found = cdp.call::<Value>(None, "Target.getTargets", params, SOON).await.unwrap();
    let targets = found["targetInfos"].as_array().unwrap();
    targets.iter().map(|target| target["browserContextId"].clone()).collect()
}

#[tokio::test]
async fn calls_use_the_context_of_the_active_tab() {
    let site = site().await;
    let desk = Desk::start().await;
    desk.go(&site.url("/sign-in")).await;
    let home = desk.active().await;
    let context = open_apart(&desk, "about:blank").await;
    assert_eq!(export(&desk, json!({})).await.unwrap(), StorageState::default());
    let origin = site.url("");
    let state = json!({
        "cookies": [{ "name": "who", "value": "eve", "domain": "127.0.0.1" }],
        "origins": [{ "origin": origin, "localStorage": [{ "name": "who", "value": "eve" }] }],
    });
    import(&desk, json!({ "state": state, "replace": true })).await.unwrap();

    // A new tab opens in the same context and shares its state.
    desk.tabs(json!({ "action": "open", "url": site.url("/frame") })).await;
    assert_eq!(contexts(&desk).await.iter().filter(|one| **one == context).count(), 2);
    let known = "[document.cookie, localStorage.who]";
    assert_eq!(desk.value(known).await, json!(["who=eve", "eve"]));
    let place = json!({ "geolocation": { "latitude": 48.5, "longitude": 2.25 } });
    desk.browser.emulate(&request(place)).await.unwrap();
    let latitude = "new Promise((done) => navigator.geolocation.getCurrentPosition(
        ({ coords }) => done(coords.latitude), (error) => done(error.message)))";
    assert_eq!(desk.value(latitude).await, 48.5);

    // Other contexts share nothing of it, except the emulation.
    desk.tabs(json!({ "action": "activate", "tab": home })).await;
    assert_eq!(desk.value("localStorage.who").await, "ada");
    let state = export(&desk, json!({})).await.unwrap();
    assert_eq!((state.cookies.len(), state.origins.len()), (2, 1));
    desk.tabs(json!({ "action": "close", "tab": home })).await;
    open_apart(&desk, &site.url("/")).await;
    desk.wait_for(json!({ "url": "127.0.0.1" })).await.unwrap();
    assert_eq!(desk.value(latitude).await, 48.5);
}
