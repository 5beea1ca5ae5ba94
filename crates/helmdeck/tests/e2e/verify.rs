//! Conditions on a real desktop and in a real page, each seen to hold and not to hold.

use std::time::Duration;

use helmdeck_testkit::{Desk, Page, Server, Site};
use serde_json::{Value, json};

const FORM: &str = "<title>Order</title><h1>Your order</h1>
    <input aria-label=Mail value=ada@example.org autofocus>
    <label><input type=checkbox id=gift checked> Gift</label>
    <label><input type=checkbox> Express</label>
    <label><input type=checkbox checked> Express delivery</label>
    <button disabled>Pay</button><button onclick=\"setTimeout(() => out.textContent = 'Sent', 300)\">Send</button>
    <a href=/file>Invoice</a><p id=out></p>
    <div style='margin-top: 3000px'><button>Deep</button></div>";

/// What a call found: whether everything holds, and the reply.
async fn verify(desk: &Desk<'_>, at: &str, body: Value) -> (bool, Value) {
    let mut body = body;
    body["session_id"] = desk.id.clone().into();
    let reply = desk.client.post(&format!("/api/v1/{at}/verify"), &body).await.expect(200).json();
    (reply["holds"].as_bool().unwrap(), reply)
}

/// Checks that each condition holds or not.
async fn check(desk: &Desk<'_>, at: &str, conditions: &[(bool, Value)]) {
    for (expected, condition) in conditions {
        let (holds, reply) = verify(desk, at, json!({ "all": [condition] })).await;
        assert_eq!(holds, *expected, "{condition}: {reply:#}");
        assert!(!reply["evidence"][0]["found"].as_str().unwrap().is_empty(), "{reply}");
        assert_eq!(reply["failed"].is_null(), holds, "{reply}");
    }
}

fn of_page() -> Vec<(bool, Value)> {
    let named = |check: &str, name: &str| json!({ "check": check, "target": { "name": name } });
    let in_window = |title: &str| json!({ "check": "element_exists", "target": { "name": "Gift", "window": title } });
    let value = |text: &str| json!({ "check": "element_value", "target": { "name": "Mail" }, "text": text });
    vec![
        (true, json!({ "check": "text_visible", "text": "Your order" })),
        (false, json!({ "check": "text_visible", "text": "Their order" })),
        (true, named("element_exists", "Express")),
        (false, named("element_exists", "Discount")),
        (true, named("element_exists", "Deep")),
        (true, in_window("Order")),
        (false, in_window("Invoice")),
        (false, json!({ "check": "text_visible", "text": "Deep" })),
        (true, named("element_enabled", "Send")),
        (false, named("element_enabled", "Pay")),
        (true, named("element_checked", "Gift")),
        (false, named("element_checked", "Express")),
        (true, value("ada@example.org")),
        (false, value("bob@example.org")),
        (true, json!({ "check": "url_matches", "url": "http://*/" })),
        (false, json!({ "check": "url_matches", "url": "https://*" })),
    ]
}

async fn site() -> Site {
    Site::start(|path| match path {
        "/file" => Page::file("invoice.txt", "paid").after(Duration::from_millis(200)),
        _ => Page::html(FORM),
    })
    .await
}

#[tokio::test]
async fn every_condition_of_a_desktop_is_seen_to_hold_and_not_to_hold() {
    let (site, server) = (site().await, Server::start_with(&[Site::REACHABLE]));
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    desk.titled("Order").await;
    check(&desk, "desktop", &of_page()).await;

    desk.act("click", json!({ "target": { "name": "Mail" }, "settle": {} })).await;
    desk.act("clipboard", json!({ "text": "copied" })).await;
    let shot = desk.ask("screenshot", json!({})).await.expect(200);
    let shot = shot.headers["x-helmdeck-screenshot-id"].to_str().unwrap().to_owned();
    // What a page animates does not count, even if nobody watched the screen since it began.
    let spin = "document.body.insertAdjacentHTML('beforeend', `<style>@keyframes turn \
        { to { transform: rotate(1turn) } }</style><i id=spin style='position: fixed; right: 9px; top: 9px; width: 40px; \
        height: 40px; background: linear-gradient(red, blue); animation: turn 1s linear infinite'></i>`)";
    desk.browser("execute", json!({ "script": spin })).await.expect(200);
    let turns = desk.ask("screenshot", json!({})).await.expect(200);
    let turns = turns.headers["x-helmdeck-screenshot-id"].to_str().unwrap();
    check(&desk, "desktop", &[(true, json!({ "check": "screen_unchanged", "shot": turns }))]).await;
    desk.browser("execute", json!({ "script": "spin.remove()" })).await.expect(200);
    let corner = json!({ "x": 0, "y": 0, "width": 60, "height": 60 });
    let focused = |name: &str| json!({ "check": "element_focused", "target": { "name": name } });
    check(
        &desk,
        "desktop",
        &[
            (true, focused("Mail")),
            (false, focused("Gift")),
            (true, json!({ "check": "window_open", "name": "Order" })),
            (false, json!({ "check": "window_open", "name": "Terminal" })),
            (true, json!({ "check": "window_focused", "name": "Order" })),
            (false, json!({ "check": "window_focused", "name": "Terminal" })),
            (true, json!({ "check": "window_closed", "name": "Terminal" })),
            (false, json!({ "check": "window_closed", "name": "Order" })),
            (true, json!({ "check": "screen_unchanged", "shot": shot })),
            (false, json!({ "check": "screen_changed", "shot": shot })),
            (true, json!({ "check": "region_similar", "shot": shot, "region": corner })),
            (true, json!({ "check": "clipboard_equals", "text": "copied" })),
            (false, json!({ "check": "clipboard_equals", "text": "copied " })),
            (false, json!({ "check": "file_exists", "path": "Downloads/invoice.txt" })),
            (false, json!({ "check": "download_finished" })),
            (true, json!({ "check": "process_running", "name": "xfce4-panel" })),
            (false, json!({ "check": "process_running", "name": "xterm" })),
        ],
    )
    .await;

    // Conditions are awaited, whatever makes them true.
    desk.act("click", json!({ "target": { "name": "Send" } })).await;
    let sent = json!({ "all": [{ "check": "text_visible", "text": "Sent" }], "within_ms": 10_000 });
    let (holds, reply) = verify(&desk, "desktop", sent).await;
    assert!(holds && reply["duration_ms"].as_u64().unwrap() < 3000, "{reply}");
    let changed = desk.act("await_visual_change", json!({ "shot": shot })).await;
    assert_eq!(changed["holds"], true, "{changed}");
    desk.act("click", json!({ "target": { "name": "Invoice" } })).await;
    let saved = json!({ "within_ms": 10_000, "all": [
        { "check": "download_finished", "name": "invoice" },
        { "check": "file_exists", "path": "Downloads/invoice.txt" }] });
    let (holds, reply) = verify(&desk, "desktop", saved).await;
    assert!(holds, "{reply}");
    desk.act("launch", json!({ "command": "xterm", "args": ["-T", "Terminal"] })).await;
    let either = json!({ "within_ms": 10_000, "any": [
        { "check": "window_open", "name": "Nothing" },
        { "check": "window_focused", "name": "Terminal" }] });
    let (holds, reply) = verify(&desk, "desktop", either).await;
    assert!(holds && reply["failed"] == json!(["any[0]"]), "{reply}");
    // Reading the picture takes longer than the time that is left.
    let absent =
        json!({ "all": [{ "check": "text_visible", "text": "Nowhere" }], "within_ms": 200 });
    let (holds, reply) = verify(&desk, "desktop", absent).await;
    assert!(!holds && reply["duration_ms"].as_u64().unwrap() < 1500, "{reply}");
}

#[tokio::test]
async fn a_page_without_a_screen_is_checked_in_the_same_way() {
    let (site, server) = (site().await, Server::start_with(&[Site::REACHABLE]));
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    check(&desk, "browser", &of_page()).await;
    desk.browser("click", json!({ "target": { "name": "Send" } })).await.expect(200);
    let sent = json!({ "all": [{ "check": "text_visible", "text": "Sent" }], "within_ms": 10_000 });
    let (holds, reply) = verify(&desk, "browser", sent).await;
    assert!(holds && reply["duration_ms"].as_u64().unwrap() < 2000, "{reply}");
    // Pictures of pages can be compared as well.
    let observed = json!({ "target": { "name": "Gift" }, "observe": "diff" });
    let shot = desk.browser("click", observed).await.expect(200).json()["shot"].clone();
    let outside = json!({ "x": 90_000, "y": 0, "width": 9, "height": 9 });
    check(
        &desk,
        "browser",
        &[
            (true, json!({ "check": "screen_unchanged", "shot": shot })),
            (false, json!({ "check": "screen_changed", "shot": shot })),
        ],
    )
    .await;
    let outside = json!({ "check": "region_similar", "shot": shot, "region": outside });
    let outside = json!({ "session_id": desk.id, "all": [outside] });
    let refused = desk.client.post("/api/v1/browser/verify", &outside).await.expect(400).json();
    assert_eq!(refused["field"], "region");
    let incomplete = json!({ "session_id": desk.id, "all": [{ "check": "element_value" }] });
    let refused = desk.client.post("/api/v1/browser/verify", &incomplete).await.expect(400).json();
    assert_eq!(
        (&refused["error"], &refused["field"]),
        (&json!("invalid_input"), &json!("all[0].target"))
    );
}
