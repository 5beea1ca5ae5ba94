//! `browser.*` and `web.*` packs, with fake guests.

use axum::{Json, Router, http::StatusCode, routing::post};
use helmdeck_testkit::{Client, fake::FakeServer};
use helmdeck_wire::{ErrorBody, ErrorCode};
use serde_json::{Value, json};

use crate::{
    outside::{Outside, ask, output},
    packs::headless,
};

/// Input with a session.
fn within(session: &str, mut input: Value) -> Value {
    input["_session_id"] = json!(session);
    input
}

async fn start() -> (FakeServer, Client, String) {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    (server, ann, session)
}

#[tokio::test]
async fn a_screenshot_is_an_artifact() {
    let (server, ann, session) = start().await;
    let input = within(&session, json!({ "url": "https://example.com/", "fullPage": true }));
    let made = output(&ann, "browser.screenshot_url", &input).await;
    let key = made["artifact_key"].as_str().unwrap();
    assert!(key.starts_with("browser.screenshot_url/") && key.ends_with("-screenshot.png"));
    let picture = ann.get(&format!("/api/v1/artifacts/download/{key}")).await.expect(200);
    assert_eq!(picture.header("content-type"), "image/png");
    assert!(picture.body.starts_with(b"\x89PNG"), "it is what its name says");
    let guest = server.runtime.guest(&session);
    assert_eq!(guest.bodies("browser_navigate")[0]["url"], "https://example.com/");
    assert_eq!(guest.bodies("browser_screenshot")[0]["full_page"], true);
}

#[tokio::test]
async fn steps_run_in_order_and_a_failed_one_is_named() {
    let (server, ann, session) = start().await;
    let guest = server.runtime.guest(&session);
    let actions = json!([
        { "action": "type", "selector": "#q", "value": "helmdeck", "submit": true },
        { "action": "key", "value": "Enter" },
        { "action": "click", "selector": "text=Search" },
        { "action": "extract", "selector": "h1" },
        { "action": "extract", "selector": "h1" },
        { "action": "assert_text", "text": "Results" },
        { "action": "screenshot" },
        { "action": "execute", "value": "1 + 1" },
        { "action": "wait", "ms": 1 },
        { "action": "screenshot", "selector": "h1" },
    ]);
    let input = within(&session, json!({ "url": "https://example.com/", "actions": actions }));
    let said = output(&ann, "browser.interact", &input).await;
    assert_eq!((&said["steps_completed"], &said["assertions_passed"]), (&json!(10), &json!(1)));
    let pictures = guest.bodies("browser_screenshot");
    assert_eq!((&pictures[0]["full_page"], pictures[0].get("selector")), (&json!(true), None));
    assert_eq!(
        (&pictures[1]["full_page"], pictures[1].get("selector").is_some()),
        (&json!(false), true)
    );
    let names: Vec<_> = said["extractions"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["execute[7]", "h1", "h1 (2)"]);
    assert!(said["screenshots"][0].as_str().unwrap().ends_with("-step-7.png"), "{said}");
    assert_eq!(guest.bodies("browser_type")[0]["submit"], true);

    guest.refuse("browser_wait_for", ErrorBody::new(ErrorCode::ElementNotFound, "no such text"));
    let actions = json!([{ "action": "wait", "ms": 1 }, { "action": "assert_text", "text": "x" }]);
    let input = within(&session, json!({ "url": "https://example.com/", "actions": actions }));
    let failed = ask(&ann, "browser.interact", &input).await;
    let message = failed.expect_error(409, "schema_mismatch");
    assert!(message.starts_with("step 2 of 2 (actions[1]) failed"), "{message}");
}

#[tokio::test]
async fn steps_act_by_name_and_tell_their_effect() {
    let (server, ann, session) = start().await;
    let guest = server.runtime.guest(&session);
    let actions = json!([
        { "action": "click", "target": { "name": "Save" }, "observe": "diff", "settle": {} },
        { "action": "extract", "target": { "text": "Total" } },
        { "action": "key", "value": "Tab" },
        { "action": "execute", "value": "go()", "settle": {} },
        { "action": "click", "selector": "a", "hit": true },
    ]);
    let input = within(&session, json!({ "url": "https://example.com/", "actions": actions }));
    let said = output(&ann, "browser.interact", &input).await;
    assert!(guest.bodies("browser_execute")[0]["settle"].is_object());
    assert_eq!(guest.bodies("browser_click")[1]["hit"], true);
    let clicked = &guest.bodies("browser_click")[0];
    assert_eq!((&clicked["target"]["name"], &clicked["observe"]), (&json!("Save"), &json!("diff")));
    assert_eq!(clicked.get("selector"), None);
    assert_eq!(guest.bodies("browser_extract")[0]["target"]["text"], "Total");
    assert!(said["extractions"]["Total"].is_string(), "{said}");
    let effects = said["effects"].as_array().unwrap();
    let steps: Vec<_> = effects.iter().map(|effect| effect["step"].clone()).collect();
    assert_eq!(steps, [1, 4, 5], "{said}");
}

#[tokio::test]
async fn missing_fields_are_listed_and_a_page_without_any_is_a_failure() {
    let (server, ann, session) = start().await;
    let guest = server.runtime.guest(&session);
    let fields =
        json!({ "title": { "selector": "h1" }, "text": { "selector": "p", "format": "html" } });
    let input = within(&session, json!({ "url": "https://example.com/", "fields": fields }));
    let said = output(&ann, "web.scrape_spa", &input).await;
    assert!(said["data"]["title"].is_string() && said["data"]["text"].is_string(), "{said}");
    assert_eq!(said["missing"], json!([]));
    guest.refuse("browser_extract", ErrorBody::new(ErrorCode::ElementNotFound, "none"));
    let failed = ask(&ann, "web.scrape_spa", &input).await;
    let message = failed.expect_error(502, "handler_failed");
    assert!(message.contains("text, title"), "{message}");
}

#[tokio::test]
async fn a_page_is_read_by_the_sessions_browser() {
    let (server, ann, session) = start().await;
    let guest = server.runtime.guest(&session);
    guest.answer(
        "browser_execute",
        json!({
            "ok": true, "url": "https://example.com/", "tab": "t1",
            "result": ["https://example.com/a"],
        }),
    );
    let formats = json!(["markdown", "html", "links"]);
    let input = within(&session, json!({ "url": "https://example.com/", "formats": formats }));
    let said = output(&ann, "web.scrape", &input).await;
    assert!(said["markdown"].is_string() && said["html"].is_string(), "{said}");
    assert_eq!(said["links"], json!(["https://example.com/a"]));
    assert!(said.get("rawHtml").is_none(), "{said}");
    assert_eq!(guest.bodies("browser_markdown").len(), 1);
}

#[tokio::test]
async fn firecrawl_reads_pages_if_it_is_configured() {
    let scrape = async |Json(asked): Json<Value>| {
        if asked["url"].as_str().unwrap().ends_with("/broken") {
            return (StatusCode::OK, Json(json!({ "success": false, "error": "timed out" })));
        }
        assert_eq!((&asked["formats"], &asked["waitFor"]), (&json!(["markdown"]), &json!(5)));
        let about = json!({ "title": "A", "statusCode": 200, "url": "http://127.0.0.1/a" });
        let data = json!({ "markdown": "# A", "metadata": about });
        (StatusCode::OK, Json(json!({ "success": true, "data": data })))
    };
    let firecrawl = Outside::start(|_| Router::new().route("/v1/scrape", post(scrape))).await;
    let server = FakeServer::start_with(&[
        ("HELMDECK_FIRECRAWL_ENABLED", "true"),
        ("HELMDECK_FIRECRAWL_URL", &firecrawl.url("")),
        ("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.0/8"),
    ])
    .await;
    let ann = server.client("ann", "sessions:*");
    server.runtime.refuse_starts("pages that Firecrawl reads need no session");
    let input = json!({ "url": firecrawl.url("/a"), "wait_ms": 5 });
    let said = output(&ann, "web.scrape", &input).await;
    assert_eq!((&said["markdown"], &said["title"]), (&json!("# A"), &json!("A")));
    let failed = ask(&ann, "web.scrape", &json!({ "url": firecrawl.url("/broken") })).await;
    assert!(failed.expect_error(502, "handler_failed").contains("timed out"));
    let closed = ask(&ann, "web.scrape", &json!({ "url": "http://10.0.0.1/" })).await;
    assert!(closed.expect_error(403, "egress_denied").starts_with("egress denied"));
}

#[tokio::test]
async fn pages_have_addresses_of_the_web_and_steps_are_checked() {
    let (_server, ann, _) = start().await;
    let page = "https://example.com/";
    for (pack, input, field) in [
        ("browser.screenshot_url", json!({ "url": "file:///etc/passwd" }), "url"),
        ("browser.screenshot_url", json!({ "url": page, "wait_ms": 30_001 }), "wait_ms"),
        ("browser.interact", json!({ "url": page, "actions": [] }), "actions"),
        (
            "browser.interact",
            json!({ "url": "chrome://x", "actions": [{ "action": "wait" }] }),
            "url",
        ),
        ("web.scrape_spa", json!({ "url": page, "fields": {} }), "fields"),
        ("web.scrape_spa", json!({ "url": "javascript:1", "fields": {} }), "url"),
        ("web.scrape", json!({ "url": page, "formats": ["pdf"] }), "formats[0]"),
        ("web.scrape", json!({ "url": "data:text/html,x" }), "url"),
    ] {
        let refused = ask(&ann, pack, &input).await;
        assert_eq!(refused.json()["field"], field, "{pack} {input}");
        refused.expect_error(400, "invalid_input");
    }
    for (step, field) in [
        (json!({ "action": "dance" }), "actions[0].action"),
        (json!({ "action": "click" }), "selector"),
        (json!({ "action": "type", "selector": "a" }), "value"),
        (json!({ "action": "assert_text" }), "text"),
        (json!({ "action": "wait", "observe": "diff" }), "observe"),
        (json!({ "action": "scroll", "hit": true }), "hit"),
        (json!({ "action": "click", "selector": "a", "target": { "name": "b" } }), "target"),
    ] {
        let refused =
            ask(&ann, "browser.interact", &json!({ "url": page, "actions": [step] })).await;
        assert_eq!(refused.json()["field"], field, "{step}");
        refused.expect_error(400, "invalid_input");
    }
}
