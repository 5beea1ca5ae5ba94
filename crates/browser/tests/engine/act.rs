//! Clicking and hovering, and what prevents it.

use helmdeck_wire::{ErrorCode, browser::Interact};
use serde_json::json;
use tokio::select;

use crate::{
    desk::{Desk, failure, request},
    server::{Reply, Server},
};

/// A page that records the mouse events of its button.
const BUTTON: &str = "<button id=b style='margin: 30px'>Press</button><script>
    log = []; for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'auxclick'])
    b.addEventListener(kind, e => log.push([kind, e.button, e.detail, e.shiftKey, e.ctrlKey, e.isTrusted].join()))
    </script>";

#[tokio::test]
async fn a_click_reports_what_it_hit() {
    let desk = Desk::showing(BUTTON).await;
    let clicked = desk.click(json!({ "selector": "text=press" })).await.unwrap();
    assert_eq!((clicked.hit.tag.as_str(), clicked.hit.name.as_str()), ("button", "Press"));
    let hit = desk.value("b.getBoundingClientRect().x + b.offsetWidth / 2").await;
    assert_eq!(f64::from(clicked.hit.x), hit.as_f64().unwrap().round());
    assert!(clicked.acted.ok && clicked.acted.url.starts_with("data:"));
    let log = desk.value("log").await;
    assert_eq!(
        log,
        json!([
            "mousedown,0,1,false,false,true",
            "mouseup,0,1,false,false,true",
            "click,0,1,false,false,true"
        ])
    );
}

#[tokio::test]
async fn a_headless_hit_has_page_coordinates_and_no_screen_coordinates() {
    let desk = Desk::showing(
        "<body style='margin:0;height:5000px'><button id=b style='position:absolute;top:3000px;\
         left:200px;width:90px;height:40px'>b</button>",
    )
    .await;
    let hit = desk.click(json!({ "selector": "#b" })).await.unwrap().hit;
    assert_eq!((hit.page.x, hit.page.y, hit.screen), (245, 3020, None));
    let scrolled = desk.value("scrollY").await.as_f64().unwrap();
    assert!(scrolled > 0.0 && (f64::from(hit.y) + scrolled - 3020.0).abs() <= 1.0, "{hit:?}");
}

#[tokio::test]
async fn a_click_uses_the_given_button_count_and_modifiers() {
    let desk = Desk::showing(BUTTON).await;
    let double = json!({ "selector": "#b", "count": 2, "modifiers": ["shift", "ctrl"] });
    desk.click(double).await.unwrap();
    let log = desk.value("log").await;
    assert_eq!(log.as_array().unwrap().last().unwrap(), "dblclick,0,2,true,true,true");
    desk.click(json!({ "selector": "#b", "button": "right" })).await.unwrap();
    let log = desk.value("log").await;
    assert!(log.as_array().unwrap().contains(&json!("contextmenu,2,0,false,false,true")), "{log}");
}

#[tokio::test]
async fn an_element_is_scrolled_to_and_clicked_wherever_it_is() {
    let desk = Desk::showing(
        "<div style='height: 5000px'></div><div style='height: 100px; overflow: auto'>
         <div style='height: 900px'></div><button onclick='this.textContent = 1'>0</button></div>
         <div style='height: 5000px'></div>
         <div style='position: fixed; top: 0; left: 0; right: 0; height: 50%'>header</div>",
    )
    .await;
    desk.click(json!({ "selector": "button" })).await.unwrap();
    assert_eq!(desk.text("button").await, "1");
}

#[tokio::test]
async fn a_click_waits_for_its_element() {
    let desk = Desk::showing(
        "<script>setTimeout(() => {
           document.body.innerHTML = '<button disabled>Later</button>';
           const b = document.querySelector('button');
           b.onclick = () => document.title = 'clicked';
           setTimeout(() => b.disabled = false, 200);
         }, 200)</script><body>",
    )
    .await;
    desk.click(json!({ "selector": "text=Later" })).await.unwrap();
    assert_eq!(desk.value("document.title").await, "clicked");
}

#[tokio::test]
async fn a_click_waits_until_its_element_is_still_and_uncovered() {
    let desk = Desk::showing(
        "<style>@keyframes go { from { margin-left: 0 } to { margin-left: 300px } }
         #b { animation: go 400ms linear; margin-left: 300px } </style>
         <button id=b onclick='document.title = \"hit\"'>Catch me</button>
         <div id=veil style='position: fixed; inset: 0; background: #0008'></div>
         <script>setTimeout(() => veil.remove(), 600)</script>",
    )
    .await;
    let clicked = desk.click(json!({ "selector": "#b" })).await.unwrap();
    assert!(clicked.hit.x > 300);
    assert_eq!(desk.value("document.title").await, "hit");
}

#[tokio::test]
async fn an_obstacle_that_stays_is_named() {
    let desk = Desk::showing(
        "<button id=b>Below</button><button id=d disabled>Off</button>
         <input id=r readonly><button id=h style='display: none'>Hidden</button>
         <div class=overlay style='position: fixed; inset: 0'></div>
         <div id=m style='position: absolute'>moves</div>
         <script>(function go() { m.style.left = Math.random() * 300 + 'px';
           requestAnimationFrame(go) })()</script>",
    )
    .await;
    for (selector, words) in [
        ("#b", "is covered by <div class=\"overlay\">"),
        ("#d", "is disabled"),
        ("#h", "is not visible"),
        ("#m", "is moving"),
    ] {
        let (code, message) =
            failure(desk.click(json!({ "selector": selector, "timeout_s": 0.3 })).await);
        assert_eq!(code, ErrorCode::ElementNotActionable);
        assert!(message.contains(words), "{message}");
    }
    let typing = json!({ "selector": "#r", "text": "a", "timeout_s": 0.3 });
    let (code, message) = failure(desk.type_into(typing).await);
    assert_eq!(code, ErrorCode::ElementNotActionable);
    assert!(message.contains("is read only"), "{message}");
}

#[tokio::test]
async fn an_element_that_is_repeatedly_replaced_is_clicked_when_it_stays() {
    let desk = Desk::showing(
        "<div id=box></div><script>let n = 0; const timer = setInterval(() => {
           box.innerHTML = '<button onclick=\"document.title = ' + n + '\">Go</button>';
           if (++n > 20) clearInterval(timer) }, 20)</script>",
    )
    .await;
    desk.click(json!({ "selector": "text=Go" })).await.unwrap();
    desk.wait_for(json!({ "text": "Go" })).await.unwrap();
}

#[tokio::test]
async fn a_link_is_followed_before_the_reply() {
    let server = Server::start(|path| match path {
        "/" => Reply::page("<a href=/next>Next</a>"),
        _ => Reply::page("<p>arrived"),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    let clicked = desk.click(json!({ "selector": "text=Next" })).await.unwrap();
    assert_eq!(clicked.acted.url, server.url("/next"));
    assert_eq!(desk.text("p").await, "arrived");
}

#[tokio::test]
async fn a_click_may_close_its_page() {
    let desk = Desk::showing("<button onclick='window.open(\"about:blank\")'>Open</button>").await;
    let opened = desk.click(json!({ "selector": "button" })).await.unwrap().acted.opened;
    let tab = &opened[0];
    let html = "document.body.innerHTML = '<button onclick=window.close()>Close me</button>'";
    desk.execute(json!({ "script": html, "tab": tab })).await.unwrap();
    desk.click(json!({ "selector": "button", "tab": tab })).await.unwrap();
    let (code, _) = failure(desk.click(json!({ "selector": "button", "tab": tab })).await);
    assert!(matches!(code, ErrorCode::TabNotFound | ErrorCode::PageCrashed), "{code}");
    assert_eq!(desk.text("button").await, "Open");
}

#[tokio::test]
async fn the_mouse_stays_where_it_was_moved() {
    let desk = Desk::showing(
        "<style>#menu { display: none } #top:hover #menu { display: block }</style>
         <div id=top>Menu<div id=menu><button onclick='document.title = \"item\"'>Item</button></div></div>",
    )
    .await;
    desk.browser.hover(&request(json!({ "selector": "text=Menu" }))).await.unwrap();
    desk.click(json!({ "selector": "text=Item" })).await.unwrap();
    assert_eq!(desk.value("document.title").await, "item");
}

#[tokio::test]
async fn a_cancelled_call_leaves_nothing_pressed() {
    let desk = Desk::showing(BUTTON).await;
    for _ in 0..5 {
        select! {
            biased;
            _ = desk.click(json!({ "selector": "#b" })) => {}
            () = tokio::task::yield_now() => {}
        }
    }
    desk.click(json!({ "selector": "#b" })).await.unwrap();
    let log = desk.value("log.map(e => e.split(',')[0])").await;
    let count = |kind: &str| log.as_array().unwrap().iter().filter(|it| **it == kind).count();
    assert_eq!(count("mousedown"), count("mouseup"));
    assert!(count("click") >= 1);
}

#[tokio::test]
async fn a_download_started_by_a_click_is_reported_and_replaces_no_file() {
    let server = Server::start(|path| match path {
        "/file" => Reply::page("abc").header("Content-Disposition: attachment; filename=b.bin"),
        _ => Reply::page(
            "<a href=/file>Get</a> <a id=blob download=c.txt>Make</a><script>
            blob.href = URL.createObjectURL(new Blob(['12']))</script>",
        ),
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    // On a slow machine, a later reply reports it.
    let told = async |selector: &str, path: &str| {
        let clicked = desk.click(json!({ "selector": selector })).await.unwrap();
        assert_eq!(clicked.acted.url, server.url("/"));
        let mut told = clicked.acted.downloads;
        while !told.iter().any(|download| download.path == path && download.complete) {
            told.extend(desk.extract(json!({})).await.unwrap().acted.downloads);
        }
    };
    told("text=Get", "Downloads/b.bin").await;
    told("text=Make", "Downloads/c.txt").await;
    let first = desk.home.path().join("Downloads/b.bin");
    std::fs::write(&first, "the first, changed by a person").unwrap();
    told("text=Get", "Downloads/b (1).bin").await;
    assert_eq!(std::fs::read_to_string(&first).unwrap(), "the first, changed by a person");
    let second = desk.home.path().join("Downloads/b (1).bin");
    assert_eq!(std::fs::read_to_string(second).unwrap(), "abc");
}

#[tokio::test]
async fn the_older_interact_call_does_the_same() {
    let desk = Desk::showing(
        "<input id=i onfocus='document.title = \"focus\"'><select id=s><option>a<option>b</select>
         <button onclick='document.title = \"click\"'>B</button>",
    )
    .await;
    for (action, selector, value) in [
        ("focus", "#i", None),
        ("type", "#i", Some("text")),
        ("select", "#s", Some("b")),
        ("hover", "button", None),
        ("click", "button", None),
    ] {
        let interact: Interact =
            request(json!({ "action": action, "selector": selector, "value": value }));
        assert!(desk.browser.interact(&interact).await.unwrap().ok, "{action}");
    }
    let state = desk.value("[i.value, s.value, document.title]").await;
    assert_eq!(state, json!(["text", "b", "click"]));
    let missing = request(json!({ "action": "type", "selector": "#i" }));
    let (code, _) = failure(desk.browser.interact(&missing).await);
    assert_eq!(code, ErrorCode::InvalidInput);
}
