//! Recorded console messages.

use std::time::Duration;

use helmdeck_wire::{
    ErrorCode,
    browser::{ConsoleEntry, ConsoleLevel, ConsoleLog},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    chromium::Chromium,
    desk::{Desk, failure, request},
    server::{Reply, Server},
};

const PAGE: &str = r#"<title>Loud</title><script>
  console.log('Hello %s, %d%%', 'Ada', 7, {a: 1, b: ['x']}, [1, 2], new Map([['k', 1]]), null);
  console.info(undefined, 1n, Symbol('s'), document.documentElement);
  console.warn('careful');
  console.debug('details');
  console.assert(1 > 2, 'sums');
  console.error(new TypeError('wrong'));
  console.group('group'); console.groupEnd();
  console.log('x'.repeat(20000));
  new Worker('/worker.js');
  setTimeout(() => { throw new RangeError('too far') });
  Promise.reject('no promise');
</script><img src=/missing.png>"#;

async fn read(desk: &Desk, value: Value) -> ConsoleLog {
    desk.browser.console(&request(value)).await.unwrap()
}

/// Waits for a message that contains this.
async fn line(desk: &Desk, part: &str) -> ConsoleEntry {
    for _ in 0..300 {
        let log = read(desk, json!({ "limit": 1000 })).await;
        if let Some(entry) = log.entries.into_iter().find(|entry| entry.text.contains(part)) {
            return entry;
        }
        sleep(Duration::from_millis(100)).await;
    }
    let log = read(desk, json!({ "limit": 1000 })).await;
    panic!("no {part} in {:#?}", log.entries);
}

#[tokio::test]
async fn console_messages_are_formatted_for_people() {
    let server = Server::start(|path| match path.split('?').next().unwrap_or_default() {
        "/" => Reply::page(PAGE),
        "/frame" => Reply::page("<script>console.warn('from a frame')</script>"),
        "/outer" => {
            let (_, frame) = path.split_once('?').unwrap();
            Reply::page(format!(
                "<script>console.log('outer')</script><iframe src={frame}></iframe>"
            ))
        }
        "/worker.js" => {
            let script = "console.log('from a worker', {w: 1})";
            Reply { headers: "Content-Type: text/javascript\r\n".into(), ..Reply::page(script) }
        }
        _ => Reply::page("").status("404 Not Found"),
    })
    .await;
    let desk = Desk::start().await;
    let tab = desk.active().await;
    desk.go(&server.url("/")).await;

    let hello = line(&desk, "Hello").await;
    let expected = "Hello Ada, 7% {a: 1, b: Array(1)} [1, 2] Map(1) {'k' => 1} null";
    assert_eq!(hello.text, expected);
    assert_eq!((hello.level, hello.line), (ConsoleLevel::Info, Some(2)));
    assert_eq!((hello.url, hello.tab), (Some(server.url("/")), Some(tab.clone())));
    assert_eq!(line(&desk, "Symbol").await.text, "undefined 1n Symbol(s) <html>");
    assert_eq!(line(&desk, "careful").await.level, ConsoleLevel::Warning);
    assert_eq!(line(&desk, "details").await.level, ConsoleLevel::Debug);
    assert_eq!(line(&desk, "sums").await.text, "Assertion failed: sums");
    let wrong = line(&desk, "wrong").await;
    assert!(wrong.text.starts_with("TypeError: wrong\n    at "), "{}", wrong.text);
    assert_eq!(wrong.level, ConsoleLevel::Error);
    assert!(line(&desk, "xxxx").await.text.len() < 9000);
    let thrown = line(&desk, "too far").await;
    assert!(thrown.text.starts_with("Uncaught RangeError: too far\n"), "{}", thrown.text);
    assert_eq!((thrown.level, thrown.line), (ConsoleLevel::Error, Some(11)));
    assert_eq!(line(&desk, "no promise").await.text, "Uncaught (in promise) no promise");
    assert_eq!(line(&desk, "404").await.url, Some(server.url("/missing.png")));
    // The preview is sent only to clients that had subscribed before.
    let worker = line(&desk, "from a worker").await.text;
    assert!(
        ["from a worker {w: 1}", "from a worker Object"].contains(&worker.as_str()),
        "{worker}"
    );

    // A frame of another site, and filters.
    desk.go(&server.url(&format!("/outer?{}", server.elsewhere("/frame")))).await;
    assert_eq!(line(&desk, "from a frame").await.url, Some(server.elsewhere("/frame")));
    let all = read(&desk, json!({ "limit": 1000 })).await;
    let outer = line(&desk, "outer").await.id;
    let since = read(&desk, json!({ "since": outer - 1, "limit": 1, "tab": tab })).await;
    assert_eq!((since.entries[0].text.as_str(), since.next, since.dropped), ("outer", outer, 0));
    let errors = read(&desk, json!({ "level": "error", "limit": 1000 })).await.entries;
    assert!(errors.iter().all(|entry| entry.level == ConsoleLevel::Error) && errors.len() >= 5);
    let worse = all.entries.iter().filter(|entry| entry.level == ConsoleLevel::Error).count();
    assert_eq!(errors.len(), worse);
    let nowhere = desk.browser.console(&request(json!({ "tab": "nonsense" }))).await;
    assert_eq!(failure(nowhere).0, ErrorCode::TabNotFound);

    // A script's messages are recorded when the script has ended.
    desk.execute(json!({ "script": "console.log('just now')" })).await.unwrap();
    let last = read(&desk, json!({ "limit": 1 })).await.entries;
    assert_eq!(last[0].text, "just now");

    // Also those of a browser that ended.
    desk.chromium.kill();
    desk.chromium.cdp.closed().await;
    let home = tempfile::tempdir().unwrap();
    let second = Chromium::start(home.path()).await;
    desk.current.set(second.cdp.clone());
    let log = read(&desk, json!({ "since": all.next })).await;
    let texts: Vec<_> = log.entries.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(texts, ["just now", "the browser was restarted"]);
}

#[tokio::test]
async fn logged_objects_are_released() {
    let desk = Desk::showing("<p>objects").await;
    desk.execute(json!({ "script": "
        window.collected = 0;
        window.gone = new FinalizationRegistry(() => window.collected++);
        for (let n = 0; n < 3000; n++) {
          const object = { n, big: new Array(1000).fill(n) };
          gone.register(object, n);
          console.log(object);
        }" }))
        .await
        .unwrap();
    // The browser itself keeps the last thousand for later clients.
    for _ in 0..100 {
        let script = "gc(); await new Promise((done) => setTimeout(done, 100)); return collected";
        let collected = desk.value(script).await.as_u64().unwrap();
        if collected >= 1500 {
            return;
        }
    }
    panic!("the objects of the console are kept");
}
