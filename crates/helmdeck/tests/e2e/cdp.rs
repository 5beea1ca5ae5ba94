//! The browser's debugging protocol through the server.

use std::time::Duration;

use helmdeck_testkit::{Client, Debugger, Desk, Process, Server, eventually};
use http::Method;
use serde_json::{Value, json};

const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";
const SOON: Duration = Duration::from_secs(20);

/// A ticket for a session.
async fn ticket(client: &Client, desk: &Desk<'_>, wanted: Value) -> Value {
    let path = format!("/api/v1/sessions/{}/tickets", desk.id);
    client.post(&path, &wanted).await.expect(201).json()
}

/// Path and query of one of our URLs.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").expect("an address").1;
    &rest[rest.find('/').expect("a path")..]
}

#[tokio::test]
async fn clients_share_the_browser_but_not_their_events() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let reusable = json!({ "role": "control", "reusable": true });
    let ticket = ticket(&client, &desk, reusable).await;
    let url = ticket["cdp_url"].as_str().expect("an address");
    let mut one = Debugger::open(&server, path(url), &[]).await.unwrap();
    let mut two = Debugger::open(&server, path(url), &[]).await.unwrap();

    let page = one.open_page("data:text/html,<title>one</title>").await;
    one.call(Some(&page), "Runtime.enable", json!({})).await;
    let log = json!({ "expression": "console.log('mine'); document.title", "returnByValue": true });
    let seen = one.call(Some(&page), "Runtime.evaluate", log).await;
    assert_eq!(seen["result"]["value"], "one");
    one.call(None, "Target.getTargets", json!({})).await;
    assert!(one.events.iter().any(|event| event["method"] == "Runtime.consoleAPICalled"));

    // The other client sees the same pages, gets no events of the first, and cannot use its
    // session.
    let targets = two.call(None, "Target.getTargets", json!({})).await.to_string();
    assert!(targets.contains("data:text/html,<title>one</title>"), "{targets}");
    let foreign = two.ask(Some(&page), "Runtime.evaluate", json!({ "expression": "1" })).await;
    assert_eq!(foreign["error"]["code"], -32001, "{foreign}");
    assert!(two.events.is_empty(), "{:?}", two.events);

    for method in ["Browser.close", "Browser.crash"] {
        let refused = two.ask(None, method, json!({})).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains("session"), "{refused}");
    }
    let downloads = json!({ "behavior": "allow", "downloadPath": "/elsewhere" });
    two.call(None, "Browser.setDownloadBehavior", downloads).await;

    let actions = client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.text();
    assert_eq!(actions.matches("cdp_connect").count(), 2, "{actions}");
    // Open connections are notified of the end.
    desk.end().await;
    assert_eq!(one.closed().await.0, 4000);
}

#[tokio::test]
async fn the_address_is_discovered_like_chromiums_and_survives_a_restart() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    for slash in ["", "/"] {
        let version = format!("/api/v1/sessions/{}/cdp/json/version{slash}", desk.id);
        let found = client.get(&version).await.expect(200).json();
        assert!(found["Browser"].as_str().unwrap().contains("Chrome"), "{found}");
    }
    let version = format!("/api/v1/sessions/{}/cdp/json/version", desk.id);
    let found = client.get(&version).await.expect(200).json();
    let url = path(found["webSocketDebuggerUrl"].as_str().unwrap()).to_owned();
    let mut before = Debugger::open(&server, &url, &[]).await.unwrap();
    before.open_page("data:text/html,<title>listed</title>").await;
    // With the ticket in the address, no token is needed.
    let ticket = url.split_once("?ticket=").unwrap().1;
    let list = format!("/api/v1/sessions/{}/cdp/json/list?ticket={ticket}", desk.id);
    let stranger = server.stranger();
    let page = eventually(SOON, async || {
        let listed = stranger.get(&list).await.expect(200).json();
        // A page has its title only after it has loaded.
        listed.as_array().unwrap().iter().find(|page| page["title"] == "listed").cloned()
    });
    let page = page.await.expect("the page in the list");
    assert_eq!(page["url"], "data:text/html,<title>listed</title>");
    // Each page has its own socket.
    let socket = page["webSocketDebuggerUrl"].as_str().unwrap();
    assert!(socket.contains(&format!("/cdp/devtools/page/{}?", page["id"].as_str().unwrap())));
    let mut alone = Debugger::open(&server, path(socket), &[]).await.unwrap();
    let title = json!({ "expression": "document.title" });
    let title = alone.call(None, "Runtime.evaluate", title).await;
    assert_eq!(title["result"]["value"], "listed");
    files_are_transferred(&desk, &mut before, &mut alone).await;
    let nowhere = socket.replace(page["id"].as_str().unwrap(), "0");
    let nowhere = Debugger::open(&server, path(&nowhere), &[]).await.unwrap();
    assert_eq!(nowhere.closed().await.0, 4002);

    let chromium = Process::in_sandboxes(&server.run_dir());
    let chromium = chromium.into_iter().find(|process| process.command.starts_with(CHROMIUM));
    chromium.expect("Chromium runs").kill();
    assert_eq!(before.closed().await.0, 4012);
    let mut after = Debugger::open(&server, &url, &[]).await.unwrap();
    after.open_page("data:text/html,again").await;
}

/// A client names its folder to the browser and waits for downloads of the page. A folder is
/// uploaded with its hidden files.
async fn files_are_transferred(desk: &Desk<'_>, browser: &mut Debugger, page: &mut Debugger) {
    let wanted = json!({ "behavior": "allow", "downloadPath": "/elsewhere" });
    browser.call(None, "Browser.setDownloadBehavior", wanted).await;
    page.call(None, "Page.enable", json!({})).await;
    let click = "a = document.createElement('a'); a.href = 'data:text/plain,x';
                 a.download = 'r.txt'; a.click()";
    page.call(None, "Runtime.evaluate", json!({ "expression": click })).await;
    let done = eventually(SOON, async || {
        page.call(None, "Runtime.evaluate", json!({ "expression": "0" })).await;
        page.events.iter().find(|event| event["params"]["state"] == "completed").cloned()
    });
    let done = done.await.expect("the download is complete");
    assert_eq!(done["method"], "Page.downloadProgress");
    assert_eq!(done["params"]["filePath"], "/home/agent/Downloads/r.txt", "{done}");

    for file in ["site/a", "site/.hidden/b"] {
        let path = format!("/api/v1/sessions/{}/files/{file}", desk.id);
        desk.client.send(Method::PUT, &path, &[], "x".into()).await.expect(201);
    }
    let input = "f = document.createElement('input'); f.type = 'file'; f.webkitdirectory = true; f";
    let input = page.call(None, "Runtime.evaluate", json!({ "expression": input })).await;
    let upload = json!({ "files": ["/home/agent/site"], "objectId": input["result"]["objectId"] });
    page.call(None, "DOM.setFileInputFiles", upload).await;
    let names = "[...f.files].map((file) => file.webkitRelativePath).sort().join()";
    let listed = eventually(SOON, async || {
        let names = page.call(None, "Runtime.evaluate", json!({ "expression": names })).await;
        let names = names["result"]["value"].as_str().unwrap_or_default().to_owned();
        (!names.is_empty()).then_some(names)
    });
    assert_eq!(listed.await.expect("the files of the folder"), "site/.hidden/b,site/a");
}

#[tokio::test]
async fn while_a_person_drives_a_client_can_only_look() {
    let server = Server::start();
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let bearer = format!("Bearer {}", server.token("agent", "sessions:*"));
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    let mut browser = Debugger::open(&server, &door, &[("authorization", &bearer)]).await.unwrap();
    let field = "data:text/html,<input autofocus oninput='document.title=this.value'>";
    let page = browser.open_page(field).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let text = json!({ "text": "no" });
    let refused = browser.ask(Some(&page), "Input.insertText", text).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("has control"), "{refused}");
    browser.call(Some(&page), "Page.captureScreenshot", json!({})).await;
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    browser
        .call(
            Some(&page),
            "Runtime.evaluate",
            json!({ "expression": "document.querySelector('input').focus()" }),
        )
        .await;
    browser.call(Some(&page), "Input.insertText", json!({ "text": "yes" })).await;
    // On the visible desktop.
    desk.titled("yes").await;
}
