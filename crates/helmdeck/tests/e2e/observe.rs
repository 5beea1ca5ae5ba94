//! What replies say about the effect of actions, with a real screen and browser.

use std::time::Duration;

use helmdeck_testkit::{Desk, Page, Server, Site, eventually};
use serde_json::{Value, json};

/// Elements at fixed places: 100 pixels apart, so that no change touches another.
const PAGE: &str = "<title>effects</title><style>
    * { font: 16px sans-serif }
    body > * { position: fixed; left: 40px; width: 200px; height: 30px; margin: 0 }
    #spin { left: 700px; top: 40px; width: 40px; height: 40px; display: none;
        background: linear-gradient(red, blue); animation: turn 1s linear infinite }
    @keyframes turn { to { transform: rotate(360deg) } }
    </style>
    <button style='top: 40px' onclick=\"say('saved')\">Save</button>
    <button style='top: 140px' disabled onclick=\"say('never')\">Disabled</button>
    <input style='top: 240px' aria-label=name>
    <a style='top: 340px' href=/next>Next</a>
    <button style='top: 440px' onclick=\"window.open('/next')\">Open</button>
    <button style='top: 40px; left: 340px' onclick=\"alert('hello')\">Ask</button>
    <a style='top: 140px; left: 340px' href=/file>Load</a>
    <button style='top: 240px; left: 340px' onclick=\"fetch('/slow').then(() => say('slow'))\">
        Slow</button>
    <div id=spin></div><p id=said style='top: 540px; width: 500px'></p>
    <script>const say = (text) => said.textContent = text + ' ' + (said.textContent.length)</script>";

/// The centres of its elements.
const SAVE: (i64, i64) = (140, 55);
const DISABLED: (i64, i64) = (140, 155);
const FIELD: (i64, i64) = (140, 255);
const NEXT: (i64, i64) = (60, 350);
const OPEN: (i64, i64) = (140, 455);
const ASK: (i64, i64) = (440, 55);
const LOAD: (i64, i64) = (360, 150);
const SLOW: (i64, i64) = (440, 255);
const EMPTY: (i64, i64) = (900, 500);

async fn site() -> Site {
    Site::start(|path| match path {
        "/" => Page::html(PAGE),
        "/file" => Page::file("a.txt", "content"),
        "/slow" => Page::html("done").after(Duration::from_millis(700)),
        _ => Page::html("<title>next</title><h1>Next"),
    })
    .await
}

/// A page on a desktop, and where it is.
struct Shown<'a> {
    desk: Desk<'a>,
    corner: (i64, i64),
}

impl<'a> Shown<'a> {
    async fn open(desk: Desk<'a>, url: &str) -> Self {
        desk.browser("navigate", json!({ "url": url })).await.expect(200);
        let script = "({ x: screenX + (outerWidth - innerWidth) / 2, \
            y: screenY + outerHeight - innerHeight - (outerWidth - innerWidth) / 2 })";
        let place = desk.browser("execute", json!({ "script": script })).await.expect(200).json();
        let at = |name: &str| place["result"][name].as_f64().unwrap() as i64;
        let shown = Self { corner: (at("x"), at("y")), desk };
        // Until everything that belongs to the start of the desktop is drawn, and the page has the
        // focus instead of the address bar.
        shown.act("click", shown.point(EMPTY), json!({ "quiet_ms": 500 })).await;
        shown
    }

    fn point(&self, (x, y): (i64, i64)) -> Value {
        json!({ "x": self.corner.0 + x, "y": self.corner.1 + y })
    }

    async fn act(&self, action: &str, mut body: Value, settle: Value) -> Value {
        body["settle"] = settle;
        body["observe"] = "diff".into();
        self.desk.act(action, body).await
    }

    /// Clicks and returns what the reply says.
    async fn click(&self, at: (i64, i64)) -> Value {
        self.act("click", self.point(at), json!({})).await
    }

    #[track_caller]
    fn region_is_near(&self, reply: &Value, at: (i64, i64)) {
        let near = |region: &Value| {
            let side = |name: &str| region[name].as_i64().unwrap();
            let (x, y) = (self.corner.0 + at.0, self.corner.1 + at.1);
            (side("x") - 40..side("x") + side("width") + 40).contains(&x)
                && (side("y") - 40..side("y") + side("height") + 40).contains(&y)
        };
        assert!(reply["regions"].as_array().unwrap().iter().any(near), "{reply}");
    }
}

/// A body with `observe`.
fn observed(mut body: Value, observe: &str) -> Value {
    body["observe"] = observe.into();
    body
}

#[track_caller]
fn is(reply: &Value, effect: &str) {
    assert_eq!(reply["effect"], effect, "{reply}");
    assert_eq!(reply["settled"], true, "{reply}");
}

#[tokio::test]
async fn a_reply_says_what_an_action_did() {
    let site = site().await;
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let page = Shown::open(desk, &site.url("/")).await;

    // A text changes: its place is named.
    let reply = page.click(SAVE).await;
    is(&reply, "confirmed");
    page.region_is_near(&reply, (60, 548));
    assert_eq!(reply["acted_at"], page.point(SAVE));
    // Nothing happens, and after three times there is a hint.
    for nth in 1..=3 {
        let reply = page.click(DISABLED).await;
        is(&reply, "no_visible_change");
        assert_eq!((&reply["changed"], reply.get("regions")), (&json!(false), None), "{reply}");
        assert_eq!(reply.get("hint").is_some(), nth == 3, "{reply}");
        if let Some(hint) = reply["hint"].as_str() {
            let parts = ["button \"Disabled\", which is disabled", "near it are", "\"Save\""];
            assert!(parts.iter().all(|part| hint.contains(part)), "{hint}");
        }
    }
    // The focus moves; then only its caret blinks, which does not count.
    is(&page.click(FIELD).await, "focus_moved");
    let blinks = json!({ "quiet_ms": 1300, "timeout_ms": 6000 });
    let reply = page.act("mouse_move", page.point((300, 256)), blinks).await;
    is(&reply, "no_visible_change");
    assert_eq!(reply["periodic"][0]["kind"], "caret", "{reply}");
    is(&page.act("type", json!({ "text": "abc" }), json!({})).await, "value_changed");
    // A text that was entered as typed needs no picture. One that was changed does: an "x" replaces what is selected.
    let auto = |body: Value| async { page.desk.act("type", observed(body, "auto")).await };
    let entered = auto(json!({ "text": "d é😀" })).await;
    assert_eq!(
        (entered["text_entered"].as_bool(), entered.get("picture")),
        (Some(true), None),
        "{entered}"
    );
    page.act("key", json!({ "keys": "ctrl+a" }), json!({})).await;
    let replaced = auto(json!({ "text": "x" })).await;
    assert_eq!(replaced.get("text_entered"), None, "{replaced}");
    assert!(replaced["picture"]["width"].as_u64() < Some(400), "{replaced}");
    // A request of the page is awaited, even while nothing is drawn.
    let reply = page.click(SLOW).await;
    is(&reply, "confirmed");
    page.region_is_near(&reply, (60, 548));
    is(&page.click(LOAD).await, "download");
    let reply = page.click(ASK).await;
    is(&reply, "dialog");
    is(&page.act("key", json!({ "keys": "Return" }), json!({})).await, "confirmed");
    is(&page.click(OPEN).await, "tab_opened");
    is(&page.act("key", json!({ "keys": "ctrl+w" }), json!({})).await, "tab_closed");
    is(&page.click(NEXT).await, "navigated");
    let launch = json!({ "command": "xterm", "args": ["-geometry", "40x10+700+100"] });
    is(&page.act("launch", launch, json!({ "timeout_ms": 10000 })).await, "window_opened");
    is(&page.click(NEXT).await, "focus_moved");
    trace_tells_it(&page.desk).await;
}

/// The trace has the actions with their effects, and pictures of them.
async fn trace_tells_it(desk: &Desk<'_>) {
    let path = format!("/api/v1/sessions/{}/trace", desk.id);
    let trace = desk.client.get(&format!("{path}?limit=1000")).await.expect(200).json();
    let entries = trace["entries"].as_array().unwrap();
    for kind in ["action", "navigated", "tab_opened", "window_opened", "focus_moved", "download"] {
        assert!(entries.iter().any(|entry| entry["kind"] == kind), "{kind}: {entries:#?}");
    }
    let typed = entries.iter().find(|entry| entry["action"] == "type").unwrap();
    assert_eq!(typed["detail"], json!({ "characters": 3 }));
    let saved = entries.iter().find(|entry| entry["effect"] == "confirmed").unwrap();
    for picture in ["before", "after"] {
        let id = saved[picture].as_str().unwrap();
        let picture = desk.client.get(&format!("{path}/{id}")).await.expect(200);
        assert!(picture.body.starts_with(&[0xff, 0xd8]));
    }
    // Pictures and windows are noted after the reply; then nothing is new.
    let mut next = trace["next"].clone();
    let nothing_new = async || {
        let since = format!("{path}?since={next}");
        let more = desk.client.get(&since).await.expect(200).json();
        next = more["next"].clone();
        (more["entries"] == json!([])).then_some(())
    };
    eventually(Duration::from_secs(10), nothing_new).await.expect("the trace does not end");
}

#[tokio::test]
async fn a_program_that_opens_its_window_late_is_awaited() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let launch = async |script: &str| {
        let body =
            json!({ "command": "sh", "args": ["-c", script], "settle": {}, "observe": "diff" });
        desk.act("launch", body).await
    };
    is(&launch("sleep 0.7; exec xterm -geometry 40x10+700+100").await, "window_opened");
    // A program without a window does not keep the action waiting for long.
    let reply = launch("exec sleep 60").await;
    is(&reply, "no_visible_change");
}

#[tokio::test]
async fn a_spinner_does_not_keep_an_action_waiting_and_pictures_are_as_small_as_possible() {
    let site = site().await;
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let page = Shown::open(desk, &site.url("/")).await;
    let show = json!({ "script": "spin.style.display = 'block'" });
    page.desk.browser("execute", show).await.expect(200);
    let reply = page.click(DISABLED).await;
    is(&reply, "no_visible_change");
    assert_eq!(reply["periodic"][0]["kind"], "spinner", "{reply}");

    let auto = async |at: (i64, i64)| {
        let mut body = page.point(at);
        body["observe"] = "auto".into();
        page.desk.act("click", body).await
    };
    let first = page.desk.ask("screenshot", json!({})).await.expect(200);
    let id = first.headers["x-helmdeck-screenshot-id"].to_str().unwrap().to_owned();
    let same = auto(DISABLED).await;
    assert_eq!((&same["unchanged_since"], same.get("picture")), (&json!(id), None), "{same}");
    let part = auto(SAVE).await;
    let picture = &part["picture"];
    assert!(picture["width"].as_i64().unwrap() < 700, "{picture}");
}

#[tokio::test]
async fn a_session_without_a_screen_says_the_same() {
    let site = site().await;
    let server = Server::start_with(&[Site::REACHABLE]);
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({})).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    let click = async |selector: &str| {
        let body = json!({ "selector": selector, "settle": {}, "observe": "auto" });
        desk.browser("click", body).await.expect(200).json()
    };
    let reply = click("text=Save").await;
    is(&reply, "confirmed");
    assert!(reply["picture"]["data"].is_string(), "{reply}");
    let body = json!({ "selector": "input", "text": "abc", "settle": {}, "observe": "diff" });
    is(&desk.browser("type", body).await.expect(200).json(), "value_changed");
    is(&click("text=Ask").await, "dialog");
    is(&click("text=Load").await, "download");
    let slow = click("text=Slow").await;
    is(&slow, "confirmed");
    assert!(slow["settle_ms"].as_i64().unwrap() >= 600, "{slow}");
    is(&click("text=Open").await, "tab_opened");
    desk.browser("tabs", json!({ "action": "close" })).await.expect(200);
    is(&click("text=Next").await, "navigated");
}
