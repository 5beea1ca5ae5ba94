//! The structured browser through REST: one script on a difficult site, headless and on a desktop.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Page, Process, Server, Site, eventually};
use serde_json::{Value, json};

const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";
/// Typed text that must not be in the action log. No time or id can contain it.
const CARD: &str = "4111 1111 1111 1111";

/// Late content, a frame, a shadow root, dialogs, a download, a slow page, an endless list.
fn page(path: &str) -> Page {
    match path.split('?').next().unwrap_or_default() {
        "/" => Page::html(
            "<title>Shop</title><h1>Shop</h1>
             <script>setTimeout(() => document.body.insertAdjacentHTML('beforeend',
               '<button onclick=\"location=&quot;/order&quot;\">Order now</button>'), 700)</script>",
        ),
        "/order" => Page::html(
            "<title>Order</title>
             <label>Name <input id=name></label>
             <label>Size <select id=size><option value=s>Small<option value=l>Large</select></label>
             <x-agree></x-agree>
             <iframe src=/card width=400 height=120></iframe>
             <a href=/bill download>Bill</a>
             <button onclick=\"if (confirm('Really?')) location='/slow?name='+
               encodeURIComponent(document.querySelector('#name').value)+'&size='+
               document.querySelector('#size').value\">Buy</button>
             <script>customElements.define('x-agree', class extends HTMLElement {
               constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML =
                 '<label><input type=checkbox onclick=\"document.body.dataset.agreed=1\">I agree</label>' }
             })</script>",
        ),
        "/card" => Page::html(
            "<label>Card <input id=card oninput=\"parent.document.body.dataset.card=this.value\">
             </label>",
        ),
        "/bill" => Page::file("bill.txt", "you owe 5"),
        "/slow" => Page::html(
            "<title>Thanks</title><p id=who></p><div id=list></div>
             <script>
               const query = new URLSearchParams(location.search);
               who.textContent = query.get('name') + ' takes ' + query.get('size');
               let n = 0;
               const more = () => { for (let i = 0; i < 30; i++) {
                 const p = document.createElement('p'); p.textContent = 'Item ' + ++n;
                 p.style.height = '60px'; list.append(p) } };
               more();
               addEventListener('scroll', () => {
                 if (scrollY + innerHeight > document.body.scrollHeight - 200 && n < 90) more() });
             </script>",
        )
        .after(Duration::from_millis(800)),
        _ => Page::html("<title>nothing</title>"),
    }
}

/// Performs a browser action that must succeed.
async fn act(desk: &Desk<'_>, action: &str, body: Value) -> Value {
    desk.browser(action, body).await.expect(200).json()
}

async fn shop(server: &Server, site: &Site, spec: Value) {
    let client = server.admin();
    let desk = Desk::create(&client, &spec).await;
    let gone = act(&desk, "navigate", json!({ "url": site.url("/") })).await;
    assert_eq!((&gone["ok"], &gone["title"]), (&json!(true), &json!("Shop")), "{gone}");
    assert_eq!(gone["vault"]["matched"], false);
    // Appears late, and navigates.
    let clicked = act(&desk, "click", json!({ "selector": "text=Order now" })).await;
    assert_eq!(clicked["hit"]["name"], "Order now", "{clicked}");
    assert_eq!(clicked["url"], site.url("/order"), "{clicked}");
    act(&desk, "type", json!({ "selector": "#name", "text": "Ada Łovelace" })).await;
    let chosen = act(&desk, "select", json!({ "selector": "#size", "values": ["Large"] })).await;
    assert_eq!(chosen["values"], json!(["l"]));
    // In a shadow root, and in a frame.
    act(&desk, "click", json!({ "selector": "role=checkbox[name=\"I agree\"]" })).await;
    act(&desk, "type", json!({ "selector": "#card", "text": CARD })).await;
    let script = "[document.body.dataset.agreed, document.body.dataset.card]";
    let told = act(&desk, "execute", json!({ "script": script })).await;
    assert_eq!(told["result"], json!(["1", CARD]));
    // A snapshot names usable elements.
    let seen = act(&desk, "snapshot", json!({})).await["snapshot"].as_str().unwrap().to_owned();
    let link = seen.lines().find(|line| line.contains("\"Bill\"")).expect("a link");
    let name = link.split_once("[ref=").expect("a ref").1.split(']').next().unwrap();
    let loaded = act(&desk, "click", json!({ "selector": format!("ref={name}") })).await;
    assert_eq!(loaded["downloads"][0]["path"], "Downloads/bill.txt", "{loaded}");
    let file = format!("/api/v1/sessions/{}/files/Downloads/bill.txt", desk.id);
    assert_eq!(client.get(&file).await.expect(200).text(), "you owe 5");
    // Questions are answered with Cancel by default.
    let no = act(&desk, "click", json!({ "selector": "text=Buy" })).await;
    assert_eq!(no["dialogs"][0]["message"], "Really?", "{no}");
    assert_eq!(
        (&no["dialogs"][0]["accepted"], &no["url"]),
        (&json!(false), &json!(site.url("/order")))
    );
    act(&desk, "click", json!({ "selector": "text=Buy", "accept_dialogs": true })).await;
    let thanks = json!({ "text": "Ada Łovelace takes l", "url": "/slow", "timeout_s": 20 });
    act(&desk, "wait_for", thanks).await;
    for _ in 0..8 {
        act(&desk, "execute", json!({ "script": "scrollTo(0, document.body.scrollHeight)" })).await;
        act(&desk, "wait_for", json!({ "network_idle": true })).await;
    }
    act(&desk, "wait_for", json!({ "text": "Item 90" })).await;
    let text = act(&desk, "extract", json!({ "selector": "#who" })).await;
    assert_eq!(
        (&text["content"], &text["format"]),
        (&json!("Ada Łovelace takes l"), &json!("text"))
    );
    let read = act(&desk, "markdown", json!({})).await["content"].as_str().unwrap().to_owned();
    assert!(read.contains("Ada Łovelace takes l") && read.contains("Item 90"), "{read}");
    let picture = desk.browser("screenshot", json!({ "full_page": true })).await.expect(200);
    assert!(picture.body.starts_with(b"\x89PNG"), "the picture is a PNG");
    let (_, height) = picture.header("x-helmdeck-size").split_once('x').expect("a size");
    assert!(height.parse::<u32>().unwrap() > 90 * 60, "{height}");

    // People see the same page.
    if spec["mode"] == "desktop" {
        desk.titled("Thanks").await;
    }
    let actions = format!("/api/v1/sessions/{}/actions?limit=100", desk.id);
    let actions = client.get(&actions).await.expect(200).text();
    assert!(actions.contains("browser_type") && !actions.contains(CARD), "{actions}");
    desk.end().await;
}

#[tokio::test]
async fn a_difficult_site_headless() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(page).await;
    shop(&server, &site, json!({})).await;
}

#[tokio::test]
async fn a_difficult_site_on_the_visible_desktop() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(page).await;
    shop(&server, &site, json!({ "mode": "desktop", "geometry": "1280x800" })).await;
}

#[tokio::test]
async fn a_missing_element_is_reported_with_what_the_page_shows() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let site = Site::start(page).await;
    act(&desk, "navigate", json!({ "url": site.url("/order") })).await;
    let missing = json!({ "selector": "#nowhere", "timeout_s": 2 });
    let message = desk.browser("click", missing).await.expect_error(404, "element_not_found");
    assert!(message.contains("#nowhere") && message.contains("Buy"), "{message}");
    let secure = json!({ "name": "__Host-a", "value": "1", "domain": "example.com", "path": "/" });
    for (action, body, code, field) in [
        ("navigate", json!({}), "missing_url", "url"),
        ("navigate", json!({ "url": "chrome://quit" }), "invalid_input", "url"),
        ("execute", json!({}), "missing_script", "script"),
        ("click", json!({}), "missing_selector", "selector"),
        ("click", json!({ "selector": "role=" }), "invalid_selector", "selector"),
        ("click", json!({ "selector": "a[" }), "invalid_selector", "selector"),
        ("execute", json!({ "script": "nonsense(" }), "script_failed", ""),
        ("interact", json!({ "action": "dance", "selector": "a" }), "invalid_input", "action"),
        ("interact", json!({ "action": "type", "selector": "a" }), "invalid_input", "value"),
        ("click", json!({ "selector": "a", "colour": "red" }), "invalid_input", "colour"),
        ("press", json!({ "keys": "Nonsense" }), "invalid_keys", "keys"),
        ("emulate", json!({ "timezone": "Mars/Olympus" }), "invalid_input", "timezone"),
        ("pdf", json!({ "pages": "7" }), "invalid_input", "pages"),
        (
            "import_state",
            json!({ "state": { "cookies": [secure] } }),
            "invalid_input",
            "state.cookies[0]",
        ),
    ] {
        let refused = desk.browser(action, body).await.expect(400).json();
        assert_eq!(refused["error"], code, "{action}: {refused}");
        assert_eq!(refused["field"].as_str().unwrap_or_default(), field, "{action}: {refused}");
    }
    let nowhere = json!({ "url": "http://127.0.0.1:9/" });
    desk.browser("navigate", nowhere).await.expect_error(502, "navigation_failed");
    let tab = json!({ "selector": "a", "tab": "nonsense" });
    desk.browser("click", tab).await.expect_error(404, "tab_not_found");
}

#[tokio::test]
async fn console_messages_and_requests_of_a_page_can_be_read() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let site = Site::start(|path| match path {
        "/" => Page::html("<script>console.error('broken', { a: 1 }); fetch('/data')</script>"),
        _ => Page::html("data"),
    })
    .await;
    act(&desk, "navigate", json!({ "url": site.url("/"), "wait_until": "network_idle" })).await;
    let said = act(&desk, "console", json!({ "level": "error" })).await;
    let first = &said["entries"][0];
    assert_eq!((&first["text"], &first["line"]), (&json!("broken {a: 1}"), &json!(1)), "{said}");
    let next = json!({ "since": said["next"] });
    assert_eq!(act(&desk, "console", next).await["entries"], json!([]));
    let asked = act(&desk, "network", json!({ "kind": "fetch" })).await;
    let fetched = &asked["requests"][0];
    assert_eq!(fetched["url"], site.url("/data"), "{asked}");
    assert_eq!((&fetched["status"], &fetched["mime_type"]), (&json!(200), &json!("text/html")));
    let har = desk.browser("har", json!({})).await.expect(200);
    assert!(har.header("content-type").starts_with("application/json"));
    let entries = har.json()["log"]["entries"].as_array().unwrap().len();
    assert!(entries >= 2, "{entries}");
    for (action, body) in [
        ("console", json!({ "limit": 0 })),
        ("console", json!({ "level": "loud" })),
        ("network", json!({ "limit": 1001 })),
        ("har", json!({ "bodies": true })),
    ] {
        desk.browser(action, body).await.expect_error(400, "invalid_input");
    }
    desk.end().await;
}

#[tokio::test]
async fn a_browser_crash_during_a_call_is_reported_and_the_browser_restarts() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let site = Site::start(page).await;
    act(&desk, "navigate", json!({ "url": site.url("/") })).await;
    let call = desk.browser("wait_for", json!({ "text": "never", "timeout_s": 60 }));
    let killer = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let running = Process::in_sandboxes(&server.run_dir());
        let chromium = running.into_iter().find(|one| one.command.starts_with(CHROMIUM));
        chromium.expect("Chromium runs").kill();
        Instant::now()
    };
    let (answer, killed) = tokio::join!(call, killer);
    answer.expect_error(502, "browser_restarted");
    let waited = killed.elapsed();
    assert!(waited < Duration::from_secs(1), "{waited:?}");
    let back = json!({ "url": site.url("/order"), "timeout_s": 30 });
    assert_eq!(act(&desk, "navigate", back).await["title"], "Order");
}

#[tokio::test]
async fn a_script_is_stopped_when_its_caller_disconnects() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let (begun, mut hears) = tokio::sync::watch::channel(false);
    let site = Site::start(move |path| {
        begun.send_modify(|begun| *begun |= path == "/begun");
        Page::html("<title>page</title>")
    })
    .await;
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    act(&desk, "navigate", json!({ "url": site.url("/") })).await;
    let script = "const ask = new XMLHttpRequest(); ask.open('GET', '/begun', false); ask.send();
                  while (true) {}";
    let endless = json!({ "session_id": desk.id, "script": script, "timeout_s": 100 });
    let under_way = async { drop(hears.wait_for(|begun| *begun).await.expect("a request")) };
    client.abandon("/api/v1/browser/execute", &endless, under_way).await;
    let told = act(&desk, "execute", json!({ "script": "6 * 7", "timeout_s": 30 })).await;
    assert_eq!(told["result"], 42);
}

#[tokio::test]
async fn while_a_person_drives_agents_can_only_read_the_browser() {
    let server = Server::start_with(&[Site::REACHABLE]);
    let (agent, person) = (server.client("agent", "sessions:*"), server.person());
    let desk = Desk::desktop(&agent).await;
    let site = Site::start(page).await;
    act(&desk, "navigate", json!({ "url": site.url("/order") })).await;
    let control = format!("/api/v1/sessions/{}/control", desk.id);
    person.post(&format!("{control}/take"), &json!({})).await.expect(200);
    let click = json!({ "selector": "text=Buy" });
    desk.browser("click", click.clone()).await.expect_error(409, "control_held");
    desk.browser("execute", json!({ "script": "1" })).await.expect_error(409, "control_held");
    assert!(act(&desk, "snapshot", json!({})).await["snapshot"].as_str().unwrap().contains("Buy"));
    act(&desk, "extract", json!({})).await;
    act(&desk, "console", json!({})).await;
    assert!(act(&desk, "har", json!({})).await["log"]["entries"].is_array());
    let secrets = json!({ "secrets": true });
    desk.browser("har", secrets).await.expect_error(409, "control_held");
    // The person answers dialogs of their own actions.
    let theirs = Desk { client: &person, id: desk.id.clone() };
    let ask =
        json!({ "script": "setTimeout(() => document.title = 'said ' + confirm('Sure?'), 1500)" });
    act(&theirs, "execute", ask).await;
    let open = async || {
        let answer = desk.browser("extract", json!({ "timeout_s": 1 })).await;
        (answer.status == 409).then_some(answer)
    };
    let open = eventually(Duration::from_secs(10), open).await.expect("the dialog is open");
    assert!(open.expect_error(409, "control_held").contains("Sure?"));
    theirs.act("key", json!({ "keys": "Return" })).await;
    desk.titled("said true").await;
    person.post(&format!("{control}/release"), &json!({})).await.expect(200);
    act(&desk, "click", click).await;
}

#[tokio::test]
async fn a_click_reports_its_position_on_the_page_and_on_the_screen() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let page = "data:text/html,<body style='margin:0;height:5000px'><button id=b \
        style='position:absolute;top:3000px;left:200px;width:90px;height:40px' \
        onclick='this.textContent+=event.screenY+\";\"'>b</button>";
    act(&desk, "navigate", json!({ "url": page })).await;
    let hit = act(&desk, "click", json!({ "selector": "#b" })).await["hit"].clone();
    assert_eq!(hit["page"], json!({ "x": 245, "y": 3020 }), "{hit}");
    assert!(hit["y"].as_i64() < Some(1000), "{hit}");
    // The desktop's mouse hits the same pixel.
    desk.act("click", json!({ "x": hit["screen"]["x"], "y": hit["screen"]["y"] })).await;
    let y = hit["screen"]["y"].as_i64().unwrap();
    act(&desk, "wait_for", json!({ "text": format!("b{y};{y};") })).await;
    desk.end().await;
}
