//! PDF, exported logins and emulation of a browser.

use std::time::Duration;

use helmdeck_testkit::{Desk, Page, Process, Server, Site, eventually};
use http::Method;
use serde_json::{Value, json};

const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";
/// What a page sees of its reader.
const BELIEVED: &str = "[matchMedia('(prefers-color-scheme: dark)').matches,
    Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language]";
const PLACE: &str = "new Promise((done) => navigator.geolocation.getCurrentPosition(
    ({ coords }) => done([coords.latitude, coords.longitude]), (error) => done(error.message)))";

/// A site that identifies visitors by an HttpOnly cookie.
async fn site() -> Site {
    Site::start(|path| match path {
        "/sign-in" => {
            let page = Page::html("<script>localStorage.who = 'ada'</script>");
            let headers = "set-cookie: sid=topsecret; HttpOnly\r\n";
            Page { headers: page.headers + headers, ..page }
        }
        _ => Page::html(
            "<title>Welcome</title><p id=who></p>
            <script>who.textContent = localStorage.who ?? 'nobody'</script>",
        ),
    })
    .await
}

/// Performs a browser action that must succeed.
async fn act(desk: &Desk<'_>, action: &str, body: Value) -> Value {
    desk.browser(action, body).await.expect(200).json()
}

async fn run(desk: &Desk<'_>, script: &str) -> Value {
    act(desk, "execute", json!({ "script": script })).await["result"].take()
}

async fn print(desk: &Desk<'_>) {
    let pdf = desk.browser("pdf", json!({ "paper": "a4", "pages": "1" })).await.expect(200);
    assert_eq!(pdf.header("content-type"), "application/pdf");
    assert!(pdf.body.starts_with(b"%PDF-"));
    let refused = desk.browser("pdf", json!({ "pages": "3-1" })).await;
    assert!(refused.expect_error(400, "invalid_input").starts_with("pages: "));
    let refused = desk.browser("pdf", json!({ "pages": "9" })).await;
    assert!(refused.expect_error(400, "invalid_input").starts_with("pages: "));
}

#[tokio::test]
async fn an_exported_login_works_in_another_session() {
    let (server, site) = (Server::start_with(&[Site::REACHABLE]), site().await);
    let client = server.admin();
    let first = Desk::create(&client, &json!({})).await;
    act(&first, "navigate", json!({ "url": site.url("/sign-in") })).await;
    print(&first).await;
    let state = act(&first, "export_state", json!({})).await;
    assert_eq!(state["cookies"][0]["value"], "topsecret", "{state}");
    first.end().await;

    let place = json!({ "latitude": 48.5, "longitude": 2.25 });
    let spec = json!({
        "mode": "desktop", "geometry": "1280x800", "timezone": "Asia/Tokyo", "locale": "de-DE",
        "color_scheme": "dark", "geolocation": place,
    });
    let second = Desk::create(&client, &spec).await;
    assert_eq!(second.describe().await["spec"]["color_scheme"], "dark");
    let before = second.windows().await.len();
    let told = act(&second, "import_state", json!({ "state": state })).await;
    assert_eq!(told, json!({ "ok": true, "cookies": 1, "origins": 1 }));
    assert_eq!(act(&second, "tabs", json!({})).await["tabs"].as_array().map(Vec::len), Some(1));
    assert_eq!(second.windows().await.len(), before, "no window was opened");
    act(&second, "navigate", json!({ "url": site.url("/") })).await;
    assert_eq!(act(&second, "extract", json!({ "selector": "#who" })).await["content"], "ada");
    print(&second).await;
    let state = act(&second, "export_state", json!({})).await;
    assert_eq!(state["cookies"][0]["value"], "topsecret", "{state}");
    // A misplaced secret is not quoted, and not recorded.
    let wrong = json!({ "state": { "cookies": "sid=topsecret" } });
    let message = second.browser("import_state", wrong).await.expect_error(400, "invalid_input");
    assert_eq!(message, "state.cookies: expected an array");
    let actions = format!("/api/v1/sessions/{}/actions?limit=100", second.id);
    let actions = client.get(&actions).await.expect(200).text();
    assert!(
        actions.contains("browser_import_state") && !actions.contains("topsecret"),
        "{actions}"
    );
    assert!(!second.log().await.contains("topsecret"));

    // Pages see the emulation that the session was created with, also after a restart of the
    // browser.
    let tokyo = json!([true, "Asia/Tokyo", "de-DE"]);
    assert_eq!(run(&second, BELIEVED).await, tokyo);
    let running = Process::in_sandboxes(&server.run_dir());
    let chromium = running.into_iter().find(|one| one.command.starts_with(CHROMIUM));
    chromium.expect("Chromium runs").kill();
    let file = "<title>place</title>";
    let path = format!("/api/v1/sessions/{}/files/place.html", second.id);
    client.send(Method::PUT, &path, &[], file.into()).await;
    let there = json!({ "url": "file:///home/agent/place.html", "timeout_s": 30 });
    let back = async || {
        let answer = second.browser("navigate", there.clone()).await;
        (answer.status == 200).then_some(())
    };
    eventually(Duration::from_secs(30), back).await.expect("the next browser");
    assert_eq!(run(&second, BELIEVED).await, tokyo);
    assert_eq!(run(&second, PLACE).await, json!([48.5, 2.25]));
    let told = act(&second, "emulate", json!({ "color_scheme": "light" })).await;
    assert_eq!(
        told,
        json!({
            "ok": true, "timezone": "Asia/Tokyo", "locale": "de-DE", "color_scheme": "light",
            "geolocation": { "latitude": 48.5, "longitude": 2.25, "accuracy": 10.0 },
        })
    );
    let refused = second.browser("emulate", json!({ "timezone": "Mars/Olympus" })).await;
    assert!(refused.expect_error(400, "invalid_input").starts_with("timezone: "));
    assert_eq!(run(&second, BELIEVED).await, json!([false, "Asia/Tokyo", "de-DE"]));
}
