//! Browser extensions of callers.

use std::{
    io::{Cursor, Write},
    time::Duration,
};

use helmdeck_testkit::{Answer, Client, Desk, Page, Process, Server, Site, eventually};
use http::Method;
use serde_json::{Value, json};
use zip::{ZipWriter, write::SimpleFileOptions};

const LIST: &str = "/api/v1/extensions";
const PATIENCE: Duration = Duration::from_secs(20);

/// An extension that marks every page, or a broken one without its script.
fn marker(with_script: bool) -> Vec<u8> {
    let manifest = json!({
        "manifest_version": 3, "name": "Page marker", "version": "1.2",
        "content_scripts": [{ "matches": ["<all_urls>"], "js": ["mark.js"],
                              "run_at": "document_start" }],
    });
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &str| {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    };
    add("marker-1.2/manifest.json", &manifest.to_string());
    if with_script {
        add("marker-1.2/mark.js", "document.documentElement.dataset.marked = 'yes'");
    }
    zip.finish().unwrap().into_inner()
}

async fn put(client: &Client, name: &str, body: Vec<u8>) -> Answer {
    client.send(Method::PUT, &format!("{LIST}/{name}"), &[], body.into()).await
}

/// Whether a page of the site is marked. Retries while the browser restarts.
async fn marks(desk: &Desk<'_>, site: &Site) -> bool {
    let url = site.url("/");
    let visit = async || {
        let there = desk.browser("navigate", json!({ "url": url })).await;
        let script = "return document.documentElement.dataset.marked ?? 'no'";
        let told = desk.browser("execute", json!({ "script": script })).await;
        (there.status == 200 && told.status == 200).then(|| told.json()["result"].clone())
    };
    eventually(PATIENCE, visit).await.expect("a page") == "yes"
}

/// The browser process of a visible session.
fn chromium(server: &Server) -> Option<Process> {
    let all = Process::in_sandboxes(&server.run_dir()).into_iter();
    let mut main = all.filter(|process| {
        let command = &process.command;
        command.contains("/chromium/chromium ") && !command.contains("--type=")
    });
    main.find(|process| process.command.contains("--start-maximized"))
}

#[tokio::test]
async fn an_extension_is_loaded_by_every_browser_that_requests_it() {
    let site = Site::start(|_| Page::html("<title>a page</title>")).await;
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.client("agent", "sessions:*");

    let added = put(&client, "marker", marker(true)).await.expect(201).json();
    let facts = ["name", "title", "version", "manifest_version", "files"].map(|f| added[f].clone());
    assert_eq!(json!(facts), json!(["marker", "Page marker", "1.2", 3, 2]));
    assert_eq!(client.get(LIST).await.expect(200).json()["extensions"], json!([added]));
    let message = put(&client, "other", b"no archive".to_vec()).await;
    message.expect_error(400, "invalid_extension");
    put(&client, "a.b", marker(true)).await.expect_error(400, "invalid_input");

    // Other owners cannot use it.
    let stranger = server.client("stranger", "sessions:*");
    assert_eq!(stranger.get(LIST).await.json()["extensions"], json!([]));
    let wanted = json!({ "extensions": ["marker"] });
    let message = stranger.post("/api/v1/sessions", &wanted).await;
    let message = message.expect_error(400, "invalid_input");
    assert!(message.starts_with("extensions: ") && message.contains("marker"), "{message}");

    // In both kinds of session, and after a restart of the browser.
    let headless = Desk::create(&client, &wanted).await;
    assert!(marks(&headless, &site).await);
    let plain = Desk::create(&client, &json!({})).await;
    assert!(!marks(&plain, &site).await);
    plain.end().await;
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "extensions": ["marker"] });
    let desk = Desk::create(&client, &spec).await;
    assert_eq!(desk.describe().await["spec"]["extensions"], json!(["marker"]));
    assert!(marks(&desk, &site).await);
    let killed = chromium(&server).expect("a browser");
    killed.kill();
    let back = async || chromium(&server).filter(|now| now.pid != killed.pid);
    assert!(eventually(PATIENCE, back).await.is_some(), "it is restarted");
    assert!(marks(&desk, &site).await, "also with its extension");
    let seen = desk.shell("ls /opt; find / -name mark.js 2>/dev/null").await;
    assert_eq!(seen, "helmdeck\n", "the agent's programs do not see it");

    // If Chromium does not load an extension, its error is reported.
    put(&client, "broken", marker(false)).await.expect(201);
    let wanted = json!({ "extensions": ["broken"] });
    let message = client.post("/api/v1/sessions", &wanted).await;
    let message = message.expect_error(500, "create_failed");
    assert!(message.contains("\"broken\"") && message.contains("mark.js"), "{message}");

    for name in ["broken", "marker", "marker"] {
        client.delete(&format!("{LIST}/{name}")).await.expect(204);
    }
    assert_eq!(client.get(LIST).await.json()["extensions"], Value::Array(Vec::new()));
    let again = json!({ "extensions": ["marker"] });
    client.post("/api/v1/sessions", &again).await.expect_error(400, "invalid_input");
    assert!(marks(&headless, &site).await, "a session that uses it keeps it");
}
