//! What pages see of the browser, and which hosts the browser contacts by itself.

use std::{collections::BTreeSet, time::Duration};

use helmdeck_testkit::{Debugger, Desk, Page, Server, Site, Speaks, Upstream};
use serde_json::{Value, json};

/// What a page and its worker see.
const FACTS: &str = "(async () => {
    const code = 'postMessage([navigator.onLine, navigator.userAgent])';
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    const said = await new Promise(done => worker.onmessage = event => done(event.data));
    const is = query => matchMedia(query).matches;
    return {
        online: [navigator.onLine, said[0]],
        webdriver: navigator.webdriver,
        headless: [navigator.userAgent, said[1]].map(name => name.includes('Headless')),
        hover: is('(hover: hover)') && is('(any-hover: hover)'),
        fine: is('(pointer: fine)') && is('(any-pointer: fine)'),
        touch: is('(any-pointer: coarse)'),
    };
})()";

async fn debugger(server: &Server, desk: &Desk<'_>) -> Debugger {
    let bearer = format!("Bearer {}", server.token("admin", "admin"));
    let door = format!("/api/v1/sessions/{}/cdp", desk.id);
    Debugger::open(server, &door, &[("authorization", &bearer)]).await.unwrap()
}

async fn evaluate(browser: &mut Debugger, page: &str, expression: &str) -> Value {
    let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
    let answer = browser.call(Some(page), "Runtime.evaluate", asked).await;
    answer["result"]["value"].clone()
}

#[tokio::test]
async fn pages_of_a_desktop_see_an_ordinary_browser_that_is_online() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let mut browser = debugger(&server, &desk).await;
    let ordinary = json!({
        "online": [true, true], "webdriver": false, "headless": [false, false],
        "hover": true, "fine": true, "touch": false,
    });
    let page = browser.open_page("data:text/html,<title>mine</title>").await;
    assert_eq!(evaluate(&mut browser, &page, FACTS).await, ordinary);
    // Also in a context that the client created.
    let context = browser.call(None, "Target.createBrowserContext", json!({})).await;
    let params = json!({ "url": "about:blank", "browserContextId": context["browserContextId"] });
    let target = browser.call(None, "Target.createTarget", params).await["targetId"].clone();
    let params = json!({ "targetId": target, "flatten": true });
    let attached = browser.call(None, "Target.attachToTarget", params).await;
    let other = attached["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(evaluate(&mut browser, &other, FACTS).await, ordinary);
    // A client can still take a page offline.
    browser.call(Some(&page), "Network.enable", json!({})).await;
    let conditions = |offline: bool| json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.call(Some(&page), "Network.emulateNetworkConditions", conditions(true)).await;
    assert_eq!(evaluate(&mut browser, &page, "navigator.onLine").await, false);
    browser.call(Some(&page), "Network.emulateNetworkConditions", conditions(false)).await;
    assert_eq!(evaluate(&mut browser, &page, "navigator.onLine").await, true);
}

#[tokio::test]
async fn a_headless_browser_announces_automation_unless_disabled() {
    let server = Server::start();
    let client = server.admin();
    for (spec, announced) in [(json!({}), true), (json!({ "announce_automation": false }), false)] {
        let desk = Desk::create(&client, &spec).await;
        assert_eq!(desk.describe().await["spec"]["announce_automation"], announced);
        let mut browser = debugger(&server, &desk).await;
        let page = browser.open_page("about:blank").await;
        let facts = evaluate(&mut browser, &page, FACTS).await;
        assert_eq!(facts["webdriver"], announced, "{facts}");
        assert_eq!(facts["headless"], json!([announced, announced]), "{facts}");
        assert_eq!(facts["online"], json!([true, true]), "{facts}");
        assert_eq!((&facts["hover"], &facts["fine"]), (&json!(true), &json!(true)), "{facts}");
    }
}

/// A form with every kind of field that Chromium fills, saves or reports.
const FORM: &str = "<!doctype html><title>form</title><form method=post action=/sent>
    <input name=name autocomplete=name><input name=email type=email autocomplete=email>
    <input name=street autocomplete=street-address><input name=zip autocomplete=postal-code>
    <input name=card autocomplete=cc-number><input name=expires autocomplete=cc-exp>
    <input name=user autocomplete=username>
    <input name=password type=password autocomplete=current-password>
    <button>send</button></form>";

#[tokio::test]
async fn idle_and_form_filling_sessions_contact_no_host_except_the_page() {
    // Chromium looks for updates and accounts at its start, for dictionaries with the first field,
    // and reports forms when they are seen and sent. All of this happens within this time.
    const WATCHED: Duration = Duration::from_secs(8);
    let server = Server::start_with(&[Site::REACHABLE]);
    let site = Site::start(|path| match path {
        "/sent" => Page::html("<title>sent</title>"),
        _ => Page::html(FORM),
    })
    .await;
    // Every connection of the sessions passes it, so it knows every host.
    let upstream = Upstream::start("127.0.0.1", Speaks::Http, site.address(), None).await;
    let proxy = json!({ "server": upstream.server(Speaks::Http) });
    let client = server.admin();
    let desktop = json!({ "mode": "desktop", "geometry": "1280x800", "idle_timeout_s": 0,
                          "proxy": proxy });
    let headless = json!({ "mode": "headless", "idle_timeout_s": 0, "proxy": proxy });
    let (idle, busy, unseen) = tokio::join!(
        Desk::create(&client, &desktop),
        Desk::create(&client, &desktop),
        Desk::create(&client, &headless),
    );
    for (desk, url) in [(&unseen, "http://one.test/form"), (&busy, "http://two.test/form")] {
        desk.browser("navigate", json!({ "url": url })).await.expect(200);
    }
    for (name, text) in [
        ("name", "Ann Example"),
        ("email", "ann@example.com"),
        ("street", "1 Main Street"),
        ("zip", "12345"),
        ("card", "4111111111111111"),
        ("expires", "12/30"),
        ("user", "ann"),
        ("password", "correct horse"),
    ] {
        let field = json!({ "selector": format!("[name={name}]"), "text": text });
        busy.browser("type", field).await.expect(200);
    }
    busy.browser("click", json!({ "selector": "button" })).await.expect(200);
    busy.titled("sent").await;
    tokio::time::sleep(WATCHED).await;
    let counts = async |desk: &Desk<'_>| desk.describe().await["egress"].clone();
    assert_eq!(counts(&idle).await, json!({ "allowed": 0, "denied": 0, "failed": 0 }));
    for desk in [&busy, &unseen] {
        let egress = counts(desk).await;
        assert_eq!((&egress["denied"], &egress["failed"]), (&json!(0), &json!(0)), "{egress}");
    }
    let asked = upstream.asked().await;
    let hosts: BTreeSet<_> = asked.iter().filter_map(|target| target.split(':').next()).collect();
    assert_eq!(hosts, BTreeSet::from(["one.test", "two.test"]), "{asked:?}");
}
