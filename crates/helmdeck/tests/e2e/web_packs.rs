//! `browser.*` and `web.*` packs with a real browser.

use helmdeck_testkit::{Client, Page, Site};
use serde_json::{Value, json};

use crate::packages::server;

const SHOP: &str = r#"<!DOCTYPE html><title>Shop</title>
    <nav><a href="/other">Other</a></nav>
    <main><h1>Shop</h1><p id="price"></p>
    <form><input id="name"><select id="size"><option>S<option value="l">L</select>
    <button type="button" onclick="out.textContent = 'Hello ' + document.querySelector('#name').value
        + ' ' + document.querySelector('#size').value">Order</button></form><p id="out"></p></main>
    <footer>Imprint</footer>
    <div style="height: 3000px"></div>
    <script>setTimeout(() => { price.textContent = '42 €' }, 200)</script>"#;

async fn output(client: &Client, pack: &str, input: Value) -> Value {
    let mut input = input;
    input["workspace"] = json!("web");
    let job = client.post(&format!("/api/v1/packs/{pack}"), &input).await.expect(200).json();
    job["output"].clone()
}

#[tokio::test]
async fn a_page_is_pictured_used_and_read() {
    let site = Site::start(|_| Page::html(SHOP)).await;
    let server = server();
    let agent = server.client("agent", "sessions:*");
    let url = site.url("/shop");
    let size = async |key: &Value| {
        let path = format!("/api/v1/artifacts/download/{}", key.as_str().unwrap());
        let picture = agent.get(&path).await.expect(200);
        let reader = png::Decoder::new(std::io::Cursor::new(picture.body)).read_info().unwrap();
        reader.info().size()
    };
    let shot = output(&agent, "browser.screenshot_url", json!({ "url": url })).await;
    assert_eq!((&shot["title"], &shot["status"]), (&json!("Shop"), &json!(200)));
    let whole = json!({ "url": url, "fullPage": true });
    let whole = output(&agent, "browser.screenshot_url", whole).await;
    let (window, page) = (size(&shot["artifact_key"]).await, size(&whole["artifact_key"]).await);
    assert!(window.1 < 2000 && page.1 > 3000, "{window:?} {page:?}");

    let actions = json!([
        { "action": "type", "selector": "#name", "value": "Ann" },
        { "action": "select", "selector": "#size", "value": "l" },
        { "action": "click", "selector": "text=Order" },
        { "action": "assert_text", "text": "Hello Ann l" },
        { "action": "extract", "selector": "#out", "name": "answer" },
        { "action": "execute", "value": "document.title" },
        { "action": "screenshot", "fullPage": false },
    ]);
    let done = output(&agent, "browser.interact", json!({ "url": url, "actions": actions })).await;
    assert_eq!(done["extractions"]["answer"], "Hello Ann l", "{done}");
    assert_eq!(done["extractions"]["execute[5]"], "Shop");
    assert_eq!(size(&done["screenshots"][0]).await, window);

    let fields = json!({
        "price": { "selector": "text=42 €" }, "title": { "selector": "h1" },
        "none": { "selector": ".none" },
    });
    let input = json!({ "url": url, "fields": fields, "timeout_s": 3 });
    let read = output(&agent, "web.scrape_spa", input).await;
    assert_eq!(read["data"], json!({ "price": "42 €", "title": "Shop" }), "{read}");
    assert_eq!(read["missing"], json!(["none"]));

    let input = json!({ "url": url, "formats": ["markdown", "links"], "wait_ms": 500 });
    let read = output(&agent, "web.scrape", input).await;
    let markdown = read["markdown"].as_str().unwrap();
    assert!(markdown.contains("# Shop") && markdown.contains("42 €"), "{markdown}");
    assert!(!markdown.contains("Imprint") && !markdown.contains("Other"), "{markdown}");
    assert_eq!(read["links"], json!([site.url("/other")]));

    let input = json!({ "url": "http://10.0.0.1/", "workspace": "web" });
    let closed = agent.post("/api/v1/packs/web.scrape", &input).await;
    assert!(closed.expect_error(403, "egress_denied").starts_with("egress denied"));
    let actions = json!([{ "action": "click", "selector": "#none" }]);
    let input = json!({ "url": url, "actions": actions, "timeout_s": 0.5, "workspace": "web" });
    let failed = agent.post("/api/v1/packs/browser.interact", &input).await;
    assert!(failed.expect_error(409, "schema_mismatch").starts_with("step 1 of 1"));
}
