//! The page as pictures, and input of viewers.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_browser::{Screen, ScreenMessage, ViewerInput};
use helmdeck_wire::{
    browser::{DialogKind, Tab},
    cast::{CastMessage, OpenDialog, Shown, ViewStatus},
};
use serde_json::{Value, json};
use tokio::{
    join,
    time::{sleep, timeout},
};

use crate::{
    chromium::{Chromium, SOON},
    desk::{Desk, request},
};

/// How long an unchanged page must send nothing.
const STILL: Duration = Duration::from_millis(1500);

/// A viewer, and what it has received.
struct Viewer {
    screen: Screen,
    input: ViewerInput,
    status: Option<ViewStatus>,
    tabs: Vec<Tab>,
    dialog: Option<OpenDialog>,
    shown: Option<Shown>,
    pictures: Vec<Bytes>,
}

fn view(more: Value) -> Value {
    let mut view = json!({ "quality": 70, "max_width": 1280, "max_height": 800, "max_fps": 15 });
    view.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    view
}

impl Viewer {
    fn of(desk: &Desk, more: Value) -> Self {
        let (screen, input) = desk.browser.cast(request(view(more)), 0);
        let (tabs, pictures) = (Vec::new(), Vec::new());
        Self { screen, input, status: None, tabs, dialog: None, shown: None, pictures }
    }

    fn note(&mut self, said: ScreenMessage) {
        match said {
            ScreenMessage::Picture(jpeg) => {
                assert!(jpeg.starts_with(&[0xff, 0xd8]) && jpeg.ends_with(&[0xff, 0xd9]));
                assert!(self.shown.is_some(), "its description comes first");
                self.pictures.push(jpeg);
            }
            ScreenMessage::Words(CastMessage::Status(status)) => self.status = Some(status.status),
            ScreenMessage::Words(CastMessage::Tabs(tabs)) => self.tabs = tabs,
            ScreenMessage::Words(CastMessage::Dialog(dialog)) => self.dialog = dialog,
            ScreenMessage::Words(CastMessage::Frame(shown)) => {
                assert_eq!(shown.seq, self.pictures.len() as u64 + 1);
                self.shown = Some(shown);
            }
            ScreenMessage::Words(told @ (CastMessage::Control(_) | CastMessage::Error(_))) => {
                panic!("{told:?}")
            }
        }
    }

    async fn until(&mut self, done: impl Fn(&Self) -> bool) {
        let watching = async {
            while !done(self) {
                let said = self.screen.next().await;
                self.note(said);
            }
        };
        timeout(SOON, watching).await.unwrap();
    }

    /// Watches until nothing more arrives.
    async fn rest(&mut self) {
        while let Ok(said) = timeout(STILL, self.screen.next()).await {
            self.note(said);
        }
    }

    async fn picture(&mut self) -> Bytes {
        let before = self.pictures.len();
        self.until(|viewer| viewer.pictures.len() > before).await;
        self.last()
    }

    fn last(&self) -> Bytes {
        self.pictures.last().unwrap().clone()
    }

    fn ask(&mut self, asked: Value) {
        self.input.ask(request(asked));
    }
}

/// Waits until an expression is true in the page.
async fn comes_true(desk: &Desk, script: &str) {
    let looking = async {
        while desk.value(script).await != true {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(SOON, looking).await.unwrap_or_else(|_| panic!("{script}"));
}

/// Changes colours for a second or two, and ends with green.
const BURST: &str = "let n = 0; const i = setInterval(() => {
    document.body.style.background = n % 2 ? 'red' : 'blue';
    document.body.textContent = Math.random();
    if (++n > 60) { clearInterval(i); document.body.textContent = 'end';
        document.body.style.background = 'green' } }, 16); 0";

#[tokio::test]
async fn a_page_is_shown_at_once_and_then_when_it_changes() {
    let desk = Desk::showing("<title>one</title><body><h1>still</h1>").await;
    let mut viewer = Viewer::of(&desk, json!({}));
    viewer.picture().await;
    assert_eq!(viewer.status, Some(ViewStatus::Streaming));
    viewer.until(|viewer| viewer.tabs.len() == 1 && viewer.tabs[0].title == "one").await;
    let size = desk.value("[innerWidth, innerHeight]").await;
    let shown = viewer.shown.clone().unwrap();
    assert_eq!(json!([shown.width as u32, shown.height as u32]), size);
    viewer.rest().await;
    let pictures = viewer.pictures.len();
    viewer.rest().await;
    assert_eq!(viewer.pictures.len(), pictures, "a page that does not change sends nothing");

    // A thumbnail cast has the same picture, and sends nothing for an unchanged page either.
    let mut glance = desk.browser.cast_thumbnails(request(view(json!({ "max_fps": 3 }))));
    let mut glimpses = vec![timeout(SOON, glance.next()).await.unwrap()];
    assert_eq!(glimpses[0], viewer.last());
    assert!(timeout(STILL, glance.next()).await.is_err());

    desk.value(BURST).await;
    let glancing = async {
        while let Ok(jpeg) = timeout(STILL, glance.next()).await {
            glimpses.push(jpeg);
        }
    };
    join!(viewer.rest(), glancing);
    assert!(viewer.pictures.len() > pictures + 3, "{}", viewer.pictures.len());
    assert!(glimpses.len() < viewer.pictures.len(), "{}", glimpses.len());
    assert_eq!(glimpses.last(), Some(&viewer.last()));
    // However many pictures were dropped, the last one is the current page.
    let mut other = Viewer::of(&desk, json!({}));
    assert_eq!(other.picture().await, viewer.last());
    // Smaller pictures of the same page are a separate cast, at the same time.
    let mut small = Viewer::of(&desk, json!({ "max_width": 300, "quality": 20 }));
    assert!(small.picture().await.len() < viewer.last().len());
    assert_eq!(small.shown.as_ref().unwrap().width, shown.width);
    viewer.ask(json!({ "view": { "max_width": 300, "quality": 20 } }));
    assert_eq!(viewer.picture().await, small.last());
}

#[tokio::test]
async fn a_slow_viewer_gets_the_newest_picture_only() {
    let desk = Desk::showing("<body>still").await;
    let mut slow = Viewer::of(&desk, json!({}));
    let mut confirming = Viewer::of(&desk, json!({ "ack": true, "max_fps": 60 }));
    slow.picture().await;
    confirming.picture().await;
    desk.value(BURST).await;
    // No picture is taken meanwhile. A viewer that acknowledges nothing gets no third picture.
    confirming.rest().await;
    assert_eq!(confirming.pictures.len(), 2);
    slow.rest().await;
    let mut other = Viewer::of(&desk, json!({}));
    assert_eq!(other.picture().await, slow.last());
    assert!(slow.pictures.len() < 20, "{}", slow.pictures.len());
    confirming.ask(json!({ "ack": { "seq": 2 } }));
    confirming.rest().await;
    assert_eq!(confirming.last(), slow.last());
}

#[tokio::test]
async fn a_viewer_follows_the_active_tab_or_watches_a_hidden_one() {
    let desk = Desk::showing("<title>one</title><body>one").await;
    let first = desk.active().await;
    let mut viewer = Viewer::of(&desk, json!({}));
    viewer.picture().await;
    desk.tabs(json!({ "action": "open", "url": "data:text/html,<title>two</title>two" })).await;
    let second = desk.active().await;
    viewer.until(|viewer| viewer.shown.as_ref().unwrap().tab == second).await;
    viewer.until(|viewer| viewer.tabs.iter().any(|tab| tab.active && tab.title == "two")).await;

    // A hidden tab changes, too.
    viewer.ask(json!({ "view": { "tab": first } }));
    viewer.until(|viewer| viewer.shown.as_ref().unwrap().tab == first).await;
    viewer.rest().await;
    let before = viewer.last();
    let paint = json!({ "script": "document.body.style.background = 'lime'; 0", "tab": first });
    desk.execute(paint).await.unwrap();
    assert_ne!(viewer.picture().await, before);
    desk.tabs(json!({ "action": "close", "tab": first })).await;
    viewer.until(|viewer| viewer.status == Some(ViewStatus::Ready)).await;
    viewer.ask(json!({ "view": { "tab": null } }));
    viewer.until(|viewer| viewer.status == Some(ViewStatus::Streaming)).await;
    viewer.until(|viewer| viewer.shown.as_ref().unwrap().tab == second).await;
    // The structured browser is unaffected by viewers.
    assert_eq!(desk.value("document.title").await, "two");
}

#[tokio::test]
async fn a_cast_resumes_after_a_page_crash_and_a_browser_restart() {
    let desk = Desk::showing("<body>well").await;
    let mut viewer = Viewer::of(&desk, json!({}));
    viewer.picture().await;
    desk.navigate(json!({ "url": "chrome://crash" })).await.unwrap_err();
    viewer.until(|viewer| viewer.status == Some(ViewStatus::Unavailable)).await;
    // Even if it looks the same as before.
    desk.show("<body>well").await;
    viewer.until(|viewer| viewer.status == Some(ViewStatus::Streaming)).await;
    viewer.picture().await;

    desk.current.clear();
    desk.chromium.kill();
    viewer.until(|viewer| viewer.status == Some(ViewStatus::NoBrowser)).await;
    let home = tempfile::tempdir().unwrap();
    let next = Chromium::start(home.path()).await;
    desk.current.set(next.cdp.clone());
    viewer.until(|viewer| viewer.status == Some(ViewStatus::Streaming)).await;
    viewer.picture().await;
}

#[tokio::test]
async fn viewer_input_reaches_the_page_and_is_released() {
    let desk = Desk::showing(
        "<body style='margin:0;height:4000px'><input id=i style='position:fixed;left:0;top:0;width:200px;height:40px'>
         <button id=b style='position:fixed;left:0;top:50px;width:200px;height:40px'
            onclick='answer = prompt(\"name?\", \"me\")'>ask</button>
         <script>let seen = []; let log = e => seen.push(e.type + (e.code || e.button || ''));
         for (const type of ['keydown', 'keyup', 'mousedown', 'mouseup', 'dblclick', 'touchstart', 'touchend', 'touchcancel'])
            addEventListener(type, log, true)</script>",
    )
    .await;
    let mut viewer = Viewer::of(&desk, json!({}));
    viewer.picture().await;
    let mouse = |kind: &str, x: u32, y: u32, count: u32| {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        json!({ "mouse": { "type": kind, "x": x, "y": y, "button": button, "clickCount": count } })
    };
    for (kind, count) in [("mousePressed", 1), ("mouseReleased", 1)] {
        viewer.ask(mouse(kind, 20, 20, count));
    }
    for (kind, count) in [("mousePressed", 2), ("mouseReleased", 2)] {
        viewer.ask(mouse(kind, 20, 20, count));
    }
    let a = json!({ "type": "keyDown", "key": "a", "code": "KeyA", "text": "a", "windowsVirtualKeyCode": 65 });
    viewer.ask(json!({ "key": a }));
    viewer.ask(json!({ "key": { "type": "keyUp", "key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65 } }));
    for text in ["🦀", "👩‍👩‍👧‍👦"] {
        viewer.ask(json!({ "key": { "type": "char", "text": text } }));
    }
    comes_true(&desk, "i.value == 'a🦀👩‍👩‍👧‍👦'").await;
    let wheel = json!({ "type": "mouseWheel", "x": 300, "y": 300, "deltaX": 0, "deltaY": 500 });
    viewer.ask(json!({ "mouse": wheel }));
    viewer.until(|viewer| viewer.shown.as_ref().unwrap().scroll_y == 500.0).await;
    let seen = desk.value("seen.splice(0)").await;
    assert_eq!(
        seen,
        json!([
            "mousedown",
            "mouseup",
            "mousedown",
            "mouseup",
            "dblclick",
            "keydownKeyA",
            "keyupKeyA"
        ])
    );

    // A dialog caused by a person's click waits for the person; nothing hangs meanwhile.
    viewer.ask(mouse("mousePressed", 20, 70, 1));
    viewer.ask(mouse("mouseReleased", 20, 70, 1));
    viewer.until(|viewer| viewer.dialog.is_some()).await;
    let dialog = viewer.dialog.clone().unwrap();
    assert_eq!(
        (dialog.kind, dialog.message.as_str(), dialog.proposal.as_str()),
        (DialogKind::Prompt, "name?", "me")
    );
    for x in 0..100 {
        viewer.ask(mouse("mouseMoved", x, 20, 0));
    }
    viewer.ask(json!({ "dialog": { "accept": true, "text": "you" } }));
    viewer.until(|viewer| viewer.dialog.is_none()).await;
    assert_eq!(desk.value("answer").await, "you");
    // An agent's click answers its own dialogs; viewers are not asked.
    let clicked = desk.click(json!({ "selector": "#b" })).await.unwrap();
    assert_eq!(clicked.acted.dialogs.len(), 1);
    viewer.rest().await;
    assert!(viewer.dialog.is_none());

    desk.value("seen.length = 0").await;
    viewer.ask(mouse("mousePressed", 400, 300, 1));
    viewer.ask(json!({ "key": { "type": "rawKeyDown", "key": "Shift", "code": "ShiftLeft", "windowsVirtualKeyCode": 16 } }));
    comes_true(&desk, "seen.length == 2").await;
    drop(viewer);
    let let_go = "seen.join() == 'mousedown,keydownShiftLeft,mouseup,keyupShiftLeft'";
    comes_true(&desk, let_go).await;

    let mut other = Viewer::of(&desk, json!({}));
    desk.value("seen.length = 0").await;
    let touch =
        |kind: &str, points: Value| json!({ "touch": { "type": kind, "touchPoints": points } });
    other.ask(touch("touchStart", json!([{ "x": 300, "y": 300 }])));
    other.ask(touch("touchEnd", json!([])));
    other.ask(touch("touchStart", json!([{ "x": 300, "y": 300 }])));
    sleep(Duration::from_millis(100)).await;
    drop(other);
    comes_true(&desk, "seen.filter(s => s.startsWith('touch')).join() == 'touchstart,touchend,touchstart,touchcancel'").await;
}

#[tokio::test]
async fn a_button_held_in_a_closed_tab_does_not_block_the_pointer() {
    let page = "<script>downs = 0; addEventListener('mousedown', () => downs++)</script>";
    let desk = Desk::showing(page).await;
    let mut viewer = Viewer::of(&desk, json!({}));
    let press = json!({ "mouse": {
        "type": "mousePressed", "x": 400, "y": 300, "button": "left", "clickCount": 1,
    } });
    let open = json!({ "action": "open", "url": format!("data:text/html,{page}") });
    let tabs = desk.tabs(open).await;
    // People press only what they see.
    let sees = |tab: &Tab| {
        let id = tab.id.clone();
        move |viewer: &Viewer| viewer.shown.as_ref().is_some_and(|shown| shown.tab == id)
    };
    comes_true(&desk, "globalThis.downs === 0").await;
    viewer.until(sees(&tabs[1])).await;
    viewer.ask(press.clone());
    comes_true(&desk, "downs == 1").await;
    desk.tabs(json!({ "action": "close" })).await;
    assert_eq!(desk.value("downs").await, 0);
    viewer.until(sees(&tabs[0])).await;
    viewer.ask(press);
    comes_true(&desk, "downs == 1").await;
}
