//! Navigating, reading pages, and running scripts in them.

use std::time::Duration;

use helmdeck_wire::ErrorCode;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    desk::{Desk, failure},
    server::{Reply, Server},
};

#[tokio::test]
async fn navigation_returns_title_status_and_address() {
    let server = Server::start(|path| match path {
        "/missing" => Reply::page("<title>Nothing</title>").status("404 Not Found"),
        _ => Reply::page("<title>Front &amp; centre</title><p>Hello"),
    })
    .await;
    let desk = Desk::start().await;
    let there = desk.go(&server.url("/a")).await;
    assert_eq!(there.title, "Front & centre");
    assert_eq!((there.status, there.acted.url), (Some(200), server.url("/a")));
    assert_eq!(there.acted.tab, Some(desk.active().await));

    let missing = desk.go(&server.url("/missing")).await;
    assert_eq!((missing.status, missing.title.as_str()), (Some(404), "Nothing"));
    let data = desk.go("data:text/html,<title>d</title>").await;
    assert_eq!((data.status, data.title.as_str()), (None, "d"));
}

#[tokio::test]
async fn the_history_is_walked_both_ways_and_ends() {
    let server = Server::start(|path| Reply::page(format!("<title>{path}</title>"))).await;
    let desk = Desk::start().await;
    desk.go(&server.url("/1")).await;
    desk.go(&server.url("/2")).await;
    desk.go(&server.url("/2#below")).await;
    for (step, url) in [
        ("back", "/2"),
        ("back", "/1"),
        ("forward", "/2"),
        ("reload", "/2"),
        ("forward", "/2#below"),
    ] {
        let there = desk.navigate(json!({ "history": step })).await.unwrap();
        assert_eq!(there.acted.url, server.url(url), "{step}");
    }
    let (code, _) = failure(desk.navigate(json!({ "history": "forward" })).await);
    assert_eq!(code, ErrorCode::NavigationFailed);
    let (code, _) = failure(desk.navigate(json!({})).await);
    assert_eq!(code, ErrorCode::MissingUrl);
}

#[tokio::test]
async fn a_failed_navigation_gives_the_reason() {
    let desk = Desk::start().await;
    for url in ["http://127.0.0.1:1/", "127.0.0.1:1"] {
        let (code, message) = failure(desk.navigate(json!({ "url": url })).await);
        assert_eq!(code, ErrorCode::NavigationFailed);
        assert!(message.contains("net::ERR_"), "{message}");
    }
    let (code, message) = failure(desk.navigate(json!({ "history": "reload" })).await);
    assert_eq!(code, ErrorCode::NavigationFailed, "{message}");
    assert!(message.contains("net::ERR_"), "{message}");
}

#[tokio::test]
async fn a_slow_page_is_waited_for_up_to_the_requested_state() {
    let server = Server::start(|path| match path {
        "/picture" => Reply::page("").after(Duration::from_secs(30)),
        "/never" => Reply::page("").after(Duration::from_secs(600)),
        _ => Reply::page("<title>Text</title>read me<img src=/picture>"),
    })
    .await;
    let desk = Desk::start().await;
    let dom = json!({ "url": server.url("/"), "wait_until": "dom" });
    assert_eq!(desk.navigate(dom).await.unwrap().title, "Text");
    let load = json!({ "url": server.url("/"), "timeout_s": 0.5 });
    let (code, message) = failure(desk.navigate(load).await);
    assert_eq!(code, ErrorCode::Timeout, "{message}");
    assert_eq!(desk.text("body").await, "read me");
    let never = json!({ "url": server.url("/never"), "timeout_s": 0.5 });
    let (code, message) = failure(desk.navigate(never).await);
    assert_eq!(code, ErrorCode::Timeout, "{message}");
}

#[tokio::test]
async fn a_page_is_idle_when_its_requests_are_done() {
    let server = Server::start(|path| match path {
        "/more" => Reply::page("fetched").after(Duration::from_millis(700)),
        _ => Reply::page(
            "<p>loading</p><script>onload = () => fetch('/more').then(r => r.text())
             .then(t => document.querySelector('p').textContent = t)</script>",
        ),
    })
    .await;
    let desk = Desk::start().await;
    let idle = json!({ "url": server.url("/"), "wait_until": "network_idle" });
    desk.navigate(idle).await.unwrap();
    assert_eq!(desk.text("p").await, "fetched");
}

#[tokio::test]
async fn a_script_returns_its_value() {
    let desk = Desk::showing("<title>T</title>").await;
    for (script, value) in [
        ("1 + 1", json!(2)),
        ("document.title;", json!("T")),
        ("{ a: [1, null] }", json!({ "a": [1, null] })),
        ("await new Promise(done => setTimeout(() => done('late'), 50))", json!("late")),
        ("const a = 20; return a + 1", json!(21)),
        ("for (const a of [1, 2]) if (a > 1) return await a", json!(2)),
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("undefined", Value::Null),
        ("() => 1", Value::Null),
        ("window", Value::Null),
        ("10n", Value::Null),
        ("window.set = 5", json!(5)),
        ("window.set", json!(5)),
    ] {
        assert_eq!(desk.value(script).await, value, "{script}");
    }
}

#[tokio::test]
async fn a_failed_script_reports_its_error() {
    let desk = Desk::showing("").await;
    for (script, words) in [
        ("missing + 1", "ReferenceError: missing is not defined"),
        ("throw new Error('no way')", "Error: no way"),
        ("JSON.parse('{')", "SyntaxError"),
        ("return ][", "SyntaxError"),
        ("throw 'text'", "text"),
    ] {
        let (code, message) = failure(desk.execute(json!({ "script": script })).await);
        assert_eq!(code, ErrorCode::ScriptFailed);
        assert!(message.contains(words), "{script}: {message}");
    }
    let endless = json!({ "script": "for (;;);", "timeout_s": 0.5 });
    let (code, _) = failure(desk.execute(endless).await);
    assert_eq!(code, ErrorCode::Timeout);
    assert_eq!(desk.value("'alive'").await, "alive");
}

#[tokio::test]
async fn a_page_is_read_as_text_or_html() {
    let desk = Desk::showing("<p id=a>Some <b>bold</b> text<p hidden>not this").await;
    assert_eq!(desk.extract(json!({})).await.unwrap().content, "Some bold text");
    let whole = desk.extract(json!({ "format": "html" })).await.unwrap().content;
    assert!(whole.starts_with("<html>") && whole.contains("not this"), "{whole}");
    let part = desk.extract(json!({ "selector": "#a", "format": "html" })).await.unwrap();
    assert_eq!(part.content, "<p id=\"a\">Some <b>bold</b> text</p>");
}

#[tokio::test]
async fn a_download_in_place_of_a_page_is_not_a_failure() {
    let server = Server::start(|path| match path {
        "/file" => Reply::page("12345").header("Content-Disposition: attachment; filename=a.bin"),
        _ => Reply::page("<p>still here"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let there = desk.go(&server.url("/file")).await;
    assert_eq!(there.acted.url, server.url("/"));
    let file = &there.acted.downloads[0];
    assert_eq!((file.path.as_str(), file.complete, file.size), ("Downloads/a.bin", true, Some(5)));
    let saved = std::fs::read_to_string(desk.home.path().join(&file.path)).unwrap();
    assert_eq!(saved, "12345");
    assert_eq!(desk.text("p").await, "still here");
    assert_eq!(desk.go(&server.url("/")).await.acted.downloads, []);
}

#[tokio::test]
async fn an_earlier_download_does_not_hide_a_failed_navigation() {
    let server = Server::start(|path| match path {
        "/nothing" => Reply::page("").status("204 No Content"),
        _ => Reply::page("<a id=link download=old.txt href='data:text/plain,old'>Get</a>"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    desk.value("setTimeout(() => link.click(), 500), 0").await;
    let saved = desk.home.path().join("Downloads/old.txt");
    while !saved.exists() {
        sleep(Duration::from_millis(50)).await;
    }
    let (code, message) = failure(desk.navigate(json!({ "url": server.url("/nothing") })).await);
    assert_eq!(code, ErrorCode::NavigationFailed, "{message}");
    let there = desk.go(&server.url("/")).await;
    assert_eq!(there.acted.downloads[0].path, "Downloads/old.txt");
}

#[tokio::test]
async fn a_long_download_is_reported_when_it_is_complete() {
    let server = Server::start(|path| match path {
        "/file" => Reply::page("12345")
            .header("Content-Disposition: attachment; filename=slow.bin")
            .pausing(Duration::from_secs(3)),
        _ => Reply::page("<p>still here"),
    })
    .await;
    let desk = Desk::start().await;
    let begun = desk.go(&server.url("/file")).await.acted.downloads;
    assert_eq!((begun.len(), begun[0].complete), (1, false));
    assert_eq!(desk.go(&server.url("/")).await.acted.downloads, []);
    let saved = desk.home.path().join("Downloads/slow.bin");
    while !saved.exists() {
        sleep(Duration::from_millis(50)).await;
    }
    sleep(Duration::from_millis(200)).await;
    let ended = desk.go(&server.url("/")).await.acted.downloads;
    assert_eq!((ended[0].complete, ended[0].size), (true, Some(5)));
    assert_eq!(desk.go(&server.url("/")).await.acted.downloads, []);
}
