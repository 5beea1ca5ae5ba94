//! Watching and driving the browser as pictures, with a desktop and without.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use helmdeck_testkit::{Caster, Client, Desk, Process, Server, Watcher, eventually, jpeg_size};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

const CHROMIUM: &str = "/usr/lib/chromium/chromium --show";
const SOON: Duration = Duration::from_secs(20);
/// Far longer than input takes.
const A_WHILE: Duration = Duration::from_secs(1);

/// A touch is not made a click: the browser would press and release the mouse some time later, in the
/// middle of what a viewer's mouse does.
const PAGE: &str = "data:text/html;charset=utf-8,<title>cast</title><body style='margin:0;height:4000px'>
    <input id=i style='position:fixed;left:0;top:0;width:300px;height:40px'>
    <button style='position:fixed;left:0;top:60px;width:300px;height:40px' onclick='answer=confirm(1)'>ask</button>
    <script>answer = null; seen = [];
    for (const type of ['keydown', 'keyup', 'mousedown', 'mouseup', 'dblclick', 'touchstart'])
        addEventListener(type, e => seen.push(type), true);
    addEventListener('touchstart', e => e.preventDefault(), { passive: false })</script>";

async fn ticket(client: &Client, desk: &Desk<'_>, wanted: Value) -> Value {
    let path = format!("/api/v1/sessions/{}/tickets", desk.id);
    client.post(&path, &wanted).await.expect(201).json()
}

fn door(desk: &Desk<'_>, ticket: &Value, more: &str) -> String {
    let ticket = ticket["ticket"].as_str().unwrap();
    format!("/api/v1/sessions/{}/cdp-stream?ticket={ticket}{more}", desk.id)
}

/// Waits until an expression is true in the page.
async fn comes_true(desk: &Desk<'_>, expression: &str) {
    let script = format!("document.title = ({expression}) ? 'true' : 'false'");
    let look = async || {
        let answer = desk.browser("execute", json!({ "script": script })).await;
        (answer.json()["result"] == "true").then_some(())
    };
    assert!(eventually(SOON, look).await.is_some(), "{expression}");
}

/// Connects, and closes the connection as one should: the code that it is closed with in turn.
async fn leave(server: &Server, path: &str, bearer: &str) -> u16 {
    let headers = [("authorization", bearer)];
    let mut socket = Watcher::socket(server, path, &headers).await.unwrap();
    socket.next().await.expect("something is said first").unwrap();
    let frame = CloseFrame { code: CloseCode::Normal, reason: "".into() };
    socket.send(Message::Close(Some(frame))).await.unwrap();
    loop {
        match socket.next().await.expect("a frame that closes it") {
            Ok(Message::Close(frame)) => return frame.map_or(1005, |frame| frame.code.into()),
            Ok(_) => {}
            Err(error) => panic!("{path}: {error}"),
        }
    }
}

/// Whoever closes a connection hears that it is closed.
async fn everybody_leaves(server: &Server, desk: &Desk<'_>, bearer: &str) {
    let vnc = (desk.describe().await["mode"] == "desktop").then_some("/vnc");
    for way in ["/cdp-stream", "/cdp"].into_iter().chain(vnc) {
        let path = format!("/api/v1/sessions/{}{way}", desk.id);
        assert_eq!(leave(server, &path, bearer).await, 1000, "{way}");
    }
    assert_eq!(leave(server, "/api/v1/wall", bearer).await, 1000);
}

/// Sends input that does not pass, and is told so once.
async fn only_watches(view: &mut Caster) {
    view.click(20, 20, 1).await;
    let refusal = json!({ "message": "you only watch: take control first" });
    view.until(|view| view.last("error") == &refusal).await;
    view.told.remove("error");
    view.send("Input.dispatchKeyEvent", json!({ "type": "char", "text": "x" })).await;
    view.send("dialog", json!({ "accept": true })).await;
    view.send_text(json!({ "method": "ack" }).to_string()).await;
    view.until(|view| !view.last("error").is_null()).await;
    let ack = json!({ "message": "ack: params: seq is missing" });
    assert_eq!(view.last("error"), &ack, "that it only watches was said once");
    tokio::time::sleep(Duration::from_millis(150)).await;
}

/// Watches, drives and lets go in a session. Who drives has the token of the session's client, whose
/// calls pass meanwhile.
async fn watch_and_drive(server: &Server, spec: Value) {
    let token = server.token("admin", "admin");
    let bearer = format!("Bearer {token}");
    let client = &server.bearer(token);
    let desk = &Desk::create(client, &spec).await;
    assert_eq!(desk.describe().await["browser_view"]["status"], "ready");
    desk.browser("navigate", json!({ "url": PAGE })).await.expect(200);
    let looker = ticket(client, desk, json!({ "role": "view" })).await;
    let mut view = Caster::open(server, &door(desk, &looker, "&ack=true"), &[]).await.unwrap();
    view.until(|view| !view.pictures.is_empty()).await;
    assert_eq!(view.last("control"), &json!({ "may_drive": false }));
    assert_eq!(view.last("status")["status"], "streaming");
    assert_eq!(view.last("frame")["tab"], view.last("tabs")[0]["id"]);
    assert_eq!(desk.describe().await["browser_view"]["status"], "streaming");
    only_watches(&mut view).await;
    for forged in [
        json!({ "method": "Page.navigate", "params": { "url": "about:blank" } }).to_string(),
        json!({ "method": "release_all", "params": {} }).to_string(),
        "nonsense".to_owned(),
    ] {
        view.told.remove("error");
        view.send_text(forged).await;
        view.until(|view| view.last("error")["message"].is_string()).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    view.watch(A_WHILE).await;
    comes_true(desk, "i.value == '' && seen.length == 0").await;

    // With control, and without a desktop, too.
    let drive = format!("/api/v1/sessions/{}/cdp-stream?take=true", desk.id);
    let mut hand = Caster::open(server, &drive, &[("authorization", &bearer)]).await.unwrap();
    hand.until(|hand| hand.last("control")["may_drive"] == true && !hand.pictures.is_empty()).await;
    hand.click(20, 20, 2).await;
    for text in ["h", "🦀", "👩‍👩‍👧‍👦"] {
        hand.send("Input.dispatchKeyEvent", json!({ "type": "char", "text": text })).await;
    }
    let wheel = json!({ "type": "mouseWheel", "x": 400, "y": 300, "deltaX": 0, "deltaY": 300 });
    hand.send("Input.dispatchMouseEvent", wheel).await;
    hand.until(|hand| hand.last("frame")["scroll_y"] == 300.0).await;
    let touch = json!({ "type": "touchStart", "touchPoints": [{ "x": 400, "y": 300 }] });
    hand.send("Input.dispatchTouchEvent", touch).await;
    let touch = json!({ "type": "touchEnd", "touchPoints": [] });
    hand.send("Input.dispatchTouchEvent", touch).await;
    comes_true(desk, "seen.includes('touchstart')").await;
    hand.click(20, 80, 1).await;
    hand.until(|hand| hand.last("dialog")["kind"] == "confirm").await;
    hand.send("dialog", json!({ "accept": true })).await;
    hand.until(|hand| hand.told.get("dialog") == Some(&Value::Null)).await;
    let all =
        "answer && i.value == 'h🦀👩‍👩‍👧‍👦' && seen.includes('dblclick') && seen.includes('touchstart')";
    comes_true(desk, all).await;
    // Who goes in the middle of a press lets go.
    let press = json!({ "type": "mousePressed", "x": 500, "y": 300, "button": "left" });
    hand.send("Input.dispatchMouseEvent", press).await;
    let shift = json!({ "type": "rawKeyDown", "key": "Shift", "code": "ShiftLeft" });
    hand.send("Input.dispatchKeyEvent", shift).await;
    comes_true(desk, "seen.slice(-2).join() == 'mousedown,keydown'").await;
    drop(hand);
    comes_true(desk, "seen.slice(-2).join() == 'mouseup,keyup'").await;
    let actions = client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.text();
    assert!(actions.contains(r#""characters":3"#) && !actions.contains('🦀'), "{actions}");

    everybody_leaves(server, desk, &bearer).await;

    // A browser that dies comes back on the same connection.
    let processes = Process::in_sandboxes(&server.run_dir());
    let chromium = processes.into_iter().find(|one| one.command.starts_with(CHROMIUM));
    chromium.expect("Chromium runs").kill();
    view.until(|view| view.last("status")["status"] == "no_browser").await;
    let pictures = view.pictures.len();
    view.send("ack", json!({ "seq": pictures })).await;
    view.until(|view| view.pictures.len() > pictures).await;
    assert_eq!(view.last("status")["status"], "streaming");
    desk.end().await;
    assert_eq!(view.closed().await, 4000);
}

#[tokio::test]
async fn a_headless_browser_is_watched_and_driven() {
    watch_and_drive(&Server::start(), json!({})).await;
}

#[tokio::test]
async fn the_browser_of_a_desktop_is_watched_and_driven() {
    watch_and_drive(&Server::start(), json!({ "mode": "desktop", "geometry": "1280x800" })).await;
}

#[tokio::test]
async fn a_slow_viewer_sees_the_newest_picture_when_it_asks() {
    let server = Server::start();
    let client = server.admin();
    let bearer = format!("Bearer {}", server.token("admin", "sessions:*"));
    let token = [("authorization", bearer.as_str())];
    let desk = Desk::create(&client, &json!({ "cdp_stream": { "max_width": 640 } })).await;
    let path = format!("/api/v1/sessions/{}/cdp-stream", desk.id);
    let view = ticket(&client, &desk, json!({ "role": "view" })).await;

    let burst = "data:text/html,<body><script>let n = 0; const i = setInterval(() => {
        document.body.style.background = n % 2 ? 'red' : 'blue'; document.body.textContent = Math.random();
        if (++n > 100) { clearInterval(i); document.body.textContent = 'end' } }, 16)</script>";
    let alias = door(&desk, &view, "&ack=true&max_fps=60").replace("/v1/", "/");
    let mut slow = Caster::open(&server, &alias, &[]).await.unwrap();
    slow.until(|slow| !slow.pictures.is_empty()).await;
    desk.browser("navigate", json!({ "url": burst })).await.expect(200);
    comes_true(&desk, "document.body.textContent == 'end'").await;
    slow.watch(A_WHILE).await;
    assert_eq!(slow.pictures.len(), 2, "no third one before it is asked for");
    slow.send("ack", json!({ "seq": 2 })).await;
    slow.watch(A_WHILE).await;
    let mut fresh = Caster::open(&server, &path, &token).await.unwrap();
    fresh.until(|fresh| !fresh.pictures.is_empty()).await;
    assert_eq!(slow.pictures.last(), fresh.pictures.last());
    assert_eq!(jpeg_size(&fresh.pictures[0]).0, 640, "as the session was made");
}
