//! Recorded requests.

use std::time::Duration;

use helmdeck_wire::{
    browser::{Har, NetworkLog, NetworkRequest, RequestKind},
    control::Hands,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};

use crate::{
    desk::{Desk, request},
    server::{Reply, Server},
};

async fn read(desk: &Desk, value: Value) -> NetworkLog {
    desk.browser.network(&request(value)).await.unwrap()
}

async fn har(desk: &Desk, value: Value) -> Value {
    let Har { log } = desk.browser.har(&request(value)).await.unwrap();
    check(&log);
    log
}

/// Waits until a request whose address ends like this has ended.
async fn ended(desk: &Desk, url: &str) -> NetworkRequest {
    ended_as(desk, url, |_| true).await
}

async fn ended_as(desk: &Desk, url: &str, is: fn(&NetworkRequest) -> bool) -> NetworkRequest {
    for _ in 0..300 {
        let log = read(desk, json!({ "limit": 1000 })).await;
        let over = |one: &NetworkRequest| one.ms.is_some() && one.url.ends_with(url) && is(one);
        if let Some(found) = log.requests.into_iter().rfind(over) {
            return found;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("no {url} in {:#?}", read(desk, json!({})).await.requests);
}

/// A server with all kinds of responses, and an address that refuses connections.
async fn site() -> (Server, String) {
    let server = Server::start(|path| match path.split('?').next().unwrap_or_default() {
        "/" => Reply::page("<title>Busy</title><script src=/worker.js></script>")
            .header("Set-Cookie: id=s3cret; HttpOnly; Path=/"),
        "/frame" => Reply::page("<script>onmessage = () => fetch('/in-frame')</script>"),
        "/moved" => Reply::page("").status("302 Found").header("Location: /there?a=1%202&b"),
        "/cached" => Reply::page("cached").header("Cache-Control: max-age=1000"),
        "/missing" => Reply::page("no").status("404 Not Found"),
        "/worker.js" => {
            let script = "self.document || (onmessage = () => fetch('/in-worker'))";
            Reply { headers: "Content-Type: text/javascript\r\n".into(), ..Reply::page(script) }
        }
        _ => Reply::page("ok"),
    })
    .await;
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    (server, format!("http://{unused}/refused"))
}

#[tokio::test]
async fn requests_are_listed_and_exported() {
    let (server, refused) = site().await;
    let desk = Desk::start().await;
    desk.go(&server.url("/").replace("http://", "http://ada:pa55word@")).await;
    desk.go(&server.url("/")).await;
    let before = read(&desk, json!({})).await;
    let script = format!(
        "window.frame = document.createElement('iframe'); frame.src = '{}';
         document.body.append(frame); window.worker = new Worker('/worker.js');
         await fetch('/moved'); await fetch('/cached'); await fetch('/cached');
         await fetch('/missing'); await fetch('{refused}').catch(() => 0);
         await fetch('/post', {{ method: 'POST', body: 'word=s3same',
           headers: {{ Authorization: 'Bearer t0ken', 'X-Plain': 'plain' }} }});
         const socket = new WebSocket('{}');
         await new Promise((done) => socket.onerror = done);",
        server.elsewhere("/frame"),
        server.url("/socket").replace("http://", "ws://"),
    );
    desk.execute(json!({ "script": script, "timeout_s": 60 })).await.unwrap();

    let moved = ended(&desk, "/moved").await;
    assert_eq!((moved.status, moved.kind), (Some(302), RequestKind::Fetch));
    let there = ended(&desk, "/there?a=1%202&b").await;
    assert!(there.status == Some(200) && there.id > moved.id, "{there:?}");
    assert_eq!(there.mime_type.as_deref(), Some("text/html"));
    assert!(there.bytes.unwrap() > 2, "{there:?}");
    ended_as(&desk, "/cached", |one| one.from_cache).await;
    ended_as(&desk, "/cached", |one| !one.from_cache).await;
    assert_eq!(ended(&desk, "/missing").await.status, Some(404));
    let failed = ended(&desk, "/refused").await;
    let why = failed.error.unwrap();
    assert!(why.contains("net::ERR_CONNECTION_REFUSED"), "{why}");
    assert_eq!(ended(&desk, "/post").await.method, "POST");
    assert_eq!(ended(&desk, "/socket").await.kind, RequestKind::WebSocket);
    assert_eq!(ended(&desk, "/frame").await.kind, RequestKind::Document);
    // The first requests may happen before the events are enabled.
    loop {
        let ask = "frame.contentWindow.postMessage(1, '*'); worker.postMessage(1)";
        desk.execute(json!({ "script": ask })).await.unwrap();
        let log = read(&desk, json!({ "kind": "fetch", "limit": 1000 })).await.requests;
        let seen = |end: &str| log.iter().any(|one| one.url.ends_with(end) && one.ms.is_some());
        if seen("/in-frame") && seen("/in-worker") {
            break;
        }
        sleep(Duration::from_millis(200)).await;
    }
    desk.wait_for(json!({ "network_idle": true })).await.unwrap();

    // With filters.
    let bad = read(&desk, json!({ "failed": true })).await.requests;
    let bad: Vec<_> = bad.iter().map(|one| one.url.rsplit('/').next().unwrap()).collect();
    assert!(["missing", "refused", "socket"].iter().all(|name| bad.contains(name)), "{bad:?}");
    assert!(!bad.contains(&"post"), "{bad:?}");
    let documents = read(&desk, json!({ "kind": "document", "since": before.next })).await;
    let frame = |one: &NetworkRequest| one.url.ends_with("/frame");
    assert!(documents.requests.iter().any(frame), "{documents:?}");
    assert!(documents.requests.iter().all(|one| one.kind == RequestKind::Document));
    let (mut since, mut seen) = (before.next, Vec::new());
    loop {
        let part = read(&desk, json!({ "since": since, "limit": 3 })).await;
        assert_eq!(part.dropped, 0);
        since = part.next;
        if part.requests.is_empty() {
            break;
        }
        seen.extend(part.requests.into_iter().map(|one| one.url));
    }
    let whole = read(&desk, json!({ "since": before.next, "limit": 1000 })).await;
    assert!(whole.requests.len() > 9, "{whole:?}");
    assert!(whole.requests.iter().all(|one| seen.contains(&one.url)), "{seen:?}");

    exported(&desk, &server).await;
}

async fn exported(desk: &Desk, server: &Server) {
    let log = har(desk, json!({})).await;
    let text = log.to_string();
    for secret in ["s3cret", "s3same", "t0ken", "pa55word", "YWRhOnBhNTV3b3Jk"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let entries = log["entries"].as_array().unwrap();
    let find = |path: &str| {
        let url = |entry: &&Value| entry["request"]["url"].as_str().unwrap().ends_with(path);
        entries.iter().rfind(url).unwrap_or_else(|| panic!("no {path} in {text}"))
    };
    assert!(log["pages"].as_array().unwrap().len() >= 2, "{text}");
    assert!(log["pages"][1]["pageTimings"]["onLoad"].as_f64().unwrap() > 0.0, "{text}");
    let moved = find("/moved");
    assert_eq!(moved["response"]["status"], 302);
    assert_eq!(moved["response"]["redirectURL"], "/there?a=1%202&b");
    assert_eq!(moved["serverIPAddress"], "127.0.0.1");
    let there = find("/there?a=1%202&b");
    let expected = json!([{ "name": "a", "value": "1 2" }, { "name": "b", "value": "" }]);
    assert_eq!(there["request"]["queryString"], expected);
    assert_eq!(there["response"]["content"]["size"], 2);
    assert_eq!(there["request"]["cookies"], json!([{ "name": "id", "value": "•••" }]));
    assert_eq!(find("/refused")["response"]["status"], 0);
    assert!(find("/refused")["response"]["_error"].is_string());
    assert_eq!(find("/cached")["response"]["_transferSize"], 0);
    assert_eq!(find("/socket")["_resourceType"], "websocket");
    let first = entries.iter().find(|entry| entry["request"]["url"] == server.url("/")).unwrap();
    let cookie = &first["response"]["cookies"][0];
    assert_eq!((&cookie["value"], &cookie["httpOnly"]), (&json!("•••"), &json!(true)));
    assert_eq!(header(&find("/post")["request"], "X-Plain"), "plain");
    assert_eq!(header(&find("/post")["request"], "Authorization"), "•••");
    assert!(find("/post")["request"].get("postData").is_none());

    // Everything except passwords.
    let log = har(desk, json!({ "secrets": true })).await;
    let text = log.to_string();
    assert!(text.contains("id=s3cret") && text.contains("Bearer t0ken"), "{text}");
    assert!(!text.contains("pa55word") && !text.contains("YWRhOnBhNTV3b3Jk"), "{text}");
    let entries = log["entries"].as_array().unwrap();
    let posted = entries.iter().find_map(|entry| entry["request"]["postData"]["text"].as_str());
    assert_eq!(posted, Some("word=s3same"));

    // Request bodies sent while a person has control are not recorded.
    let post = "fetch('/theirs', { method: 'POST', body: 'typed' }).then(() => 1)";
    let script = format!("setTimeout(() => {post}, 500)");
    desk.execute(json!({ "script": script })).await.unwrap();
    desk.browser.handed_over(true);
    let looking = desk.browser.in_hands(Hands::Off);
    // The person may use the address bar; bodies are still not recorded.
    let tabs = request(json!({}));
    desk.browser.in_hands(Hands::Person).tabs(&tabs).await.unwrap();
    for _ in 0..300 {
        let log = looking.network(&request(json!({ "limit": 1 }))).await.unwrap();
        if log.requests[0].url.ends_with("/theirs") && log.requests[0].ms.is_some() {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    let log = har(desk, json!({ "secrets": true })).await.to_string();
    assert!(log.contains("/theirs") && !log.contains("typed"), "{log}");
}

fn header<'a>(side: &'a Value, name: &str) -> &'a str {
    let mut headers = side["headers"].as_array().unwrap().iter();
    let named = |header: &&Value| header["name"].as_str().unwrap().eq_ignore_ascii_case(name);
    headers.find(named).unwrap_or_else(|| panic!("no {name} in {side}"))["value"].as_str().unwrap()
}

/// Checks that all fields required by HAR 1.2 are present and have the right type.
fn check(log: &Value) {
    let texts = |value: &Value, names: &[&str]| {
        names.iter().for_each(|name| assert!(value[name].is_string(), "{name}: {value}"));
    };
    let numbers = |value: &Value, names: &[&str]| {
        for name in names {
            assert!(value[name].as_f64().is_some_and(|number| number >= -1.0), "{name}: {value}");
        }
    };
    let pairs = |value: &Value, names: &[&str]| {
        for name in names {
            value[name].as_array().unwrap().iter().for_each(|it| texts(it, &["name", "value"]));
        }
    };
    let date = |value: &Value| {
        let text = value["startedDateTime"].as_str().unwrap();
        assert!(text.len() == 24 && text.ends_with('Z') && text.contains("T"), "{text}");
    };
    assert_eq!(log["version"], "1.2");
    texts(&log["creator"], &["name", "version"]);
    let pages = log["pages"].as_array().unwrap();
    for page in pages {
        texts(page, &["id", "title"]);
        date(page);
        numbers(&page["pageTimings"], &["onContentLoad", "onLoad"]);
    }
    for entry in log["entries"].as_array().unwrap() {
        date(entry);
        assert!(pages.iter().any(|page| page["id"] == entry["pageref"]), "{entry}");
        assert!(entry["cache"].is_object(), "{entry}");
        let (asked, answered) = (&entry["request"], &entry["response"]);
        texts(asked, &["method", "url", "httpVersion"]);
        pairs(asked, &["cookies", "headers", "queryString"]);
        numbers(asked, &["headersSize", "bodySize"]);
        numbers(answered, &["status", "headersSize", "bodySize"]);
        texts(answered, &["statusText", "httpVersion", "redirectURL"]);
        pairs(answered, &["cookies", "headers"]);
        numbers(&answered["content"], &["size"]);
        texts(&answered["content"], &["mimeType"]);
        let timings = &entry["timings"];
        numbers(timings, &["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]);
        let phases = ["blocked", "dns", "connect", "send", "wait", "receive"];
        let sum: f64 = phases.iter().map(|name| timings[name].as_f64().unwrap().max(0.0)).sum();
        assert!((sum - entry["time"].as_f64().unwrap()).abs() < 0.1, "{entry}");
        assert!(["send", "wait", "receive"].iter().all(|it| timings[it].as_f64() >= Some(0.0)));
    }
}
