//! Single conditions under the names that agents know: each is one condition of `verify`.

use helmdeck_testkit::{Desk, fake::FakeServer};
use serde_json::{Value, json};

#[tokio::test]
async fn each_assertion_is_one_condition_of_verify() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let guest = server.runtime.guest(&desk.id);
    let whole = json!({ "x": 0, "y": 0, "width": 65_535, "height": 65_535 });
    let region = json!({ "x": 1, "y": 2, "width": 3, "height": 4 });
    for (tool, input, condition, within) in [
        (
            "assert_text_visible",
            json!({ "text": "Saved" }),
            json!({ "check": "text_visible", "text": "Saved" }),
            0,
        ),
        (
            "assert_element_focused",
            json!({ "target": { "name": "E-mail" }, "within_ms": 70 }),
            json!({ "check": "element_focused", "target": { "name": "E-mail", "exact": false } }),
            70,
        ),
        (
            "await_visual_change",
            json!({ "shot": "shot-3" }),
            json!({ "check": "screen_changed", "shot": "shot-3" }),
            5000,
        ),
        (
            "compare_screenshots",
            json!({ "shot": "shot-3" }),
            json!({ "check": "region_similar", "shot": "shot-3", "region": whole }),
            0,
        ),
        (
            "compare_screenshots",
            json!({ "shot": "shot-3", "region": region, "tolerance": 0.5 }),
            json!({ "check": "region_similar", "shot": "shot-3", "region": region, "tolerance": 0.5 }),
            0,
        ),
    ] {
        let reply = desk.act(tool, input).await;
        assert!(reply["holds"].is_boolean(), "{tool}: {reply}");
        let asked = guest.bodies("verify").last().cloned().unwrap();
        assert_eq!(asked, json!({ "all": [condition], "within_ms": within }), "{tool}");
    }
}

#[tokio::test]
async fn a_condition_without_what_it_needs_is_refused_by_name() {
    let server = FakeServer::start().await;
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (tool, input, field) in [
        ("assert_text_visible", json!({}), "text"),
        ("assert_element_focused", json!({}), "target"),
        ("await_visual_change", json!({ "shot": "latest" }), "shot"),
        ("compare_screenshots", json!({ "shot": "shot-1", "tolerance": 2 }), "tolerance"),
    ] {
        let refused = desk.ask(tool, input).await.expect(400).json();
        assert_eq!(refused["field"], Value::from(field), "{tool}: {refused}");
    }
}
