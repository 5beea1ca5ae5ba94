//! Mouse actions on a page.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

/// A point on the page, well below the browser's toolbars.
const ON_PAGE: (i32, i32) = (640, 500);

fn click_page(show: &str) -> String {
    format!(
        "<title>page</title><body style='margin:0;height:3000px;user-select:none' \
         oncontextmenu='return false' {show}>"
    )
}

#[tokio::test]
async fn every_kind_of_click_reaches_the_page_as_what_it_is() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let show = "document.title=[event.button,event.detail,event.shiftKey,event.ctrlKey,\
                event.screenX,event.screenY].join()";
    desk.browse(&click_page(&format!("onmouseup=\"{show}\"")), "page").await;
    let (x, y) = ON_PAGE;
    for (action, body, seen) in [
        ("click", json!({ "x": x, "y": y }), format!("0,1,false,false,{x},{y}")),
        (
            "click",
            json!({ "x": x + 60, "y": y, "button": "right" }),
            format!("2,1,false,false,{},{y}", x + 60),
        ),
        (
            "click",
            json!({ "x": x - 60, "y": y, "button": "middle" }),
            format!("1,1,false,false,{},{y}", x - 60),
        ),
        ("double_click", json!({ "x": x, "y": y + 60 }), format!("0,2,false,false,{x},{}", y + 60)),
        ("triple_click", json!({ "x": x, "y": y - 60 }), format!("0,3,false,false,{x},{}", y - 60)),
        (
            "modifier_click",
            json!({ "x": x + 90, "y": y, "modifiers": ["shift", "ctrl"] }),
            format!("0,1,true,true,{},{y}", x + 90),
        ),
        ("click", json!({ "x": x, "y": y + 90 }), format!("0,1,false,false,{x},{}", y + 90)),
    ] {
        desk.act(action, body).await;
        desk.titled(&seen).await;
    }
}

#[tokio::test]
async fn dragging_over_text_selects_it() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let field = desk.open_field().await;
    desk.act("type", json!({ "text": "drag me along" })).await;
    let body = json!({ "start_x": 700, "start_y": field, "end_x": 1, "end_y": field });
    desk.act("drag", body).await;
    expect_selected(&desk, "drag me along").await;

    desk.act("clipboard", json!({ "text": "" })).await;
    let path =
        json!([{ "x": 700, "y": field }, { "x": 300, "y": field + 2 }, { "x": 1, "y": field }]);
    desk.act("drag", json!({ "path": path })).await;
    expect_selected(&desk, "drag me along").await;
}

#[tokio::test]
async fn clicking_more_than_once_selects_words_and_paragraphs() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let y = desk.open_field().await;
    desk.act("type", json!({ "text": "one two three\nfour" })).await;
    desk.act("double_click", json!({ "x": 15, "y": y })).await;
    expect_selected(&desk, "one").await;
    desk.act("triple_click", json!({ "x": 90, "y": y })).await;
    expect_selected(&desk, "one two three\n").await;
    // Long enough that the next click does not count as a fourth.
    desk.act("wait", json!({ "seconds": 0.7 })).await;
    // Shift extends the selection from the last click to here.
    desk.act("click", json!({ "x": 1, "y": y })).await;
    desk.act("modifier_click", json!({ "x": 1200, "y": y, "modifiers": ["shift"] })).await;
    expect_selected(&desk, "one two three").await;
}

#[tokio::test]
async fn scrolling_moves_the_page_each_way_and_with_ctrl_zooms_it() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let page = "<title>at 0 0</title><body style='width:9000px;height:9000px'><script>\
                onscroll=()=>{document.title='at '+Math.sign(scrollX)+' '+Math.sign(scrollY)};\
                onresize=()=>{document.title='zoomed '+(devicePixelRatio>1)}</script>";
    desk.browse(page, "at 0 0").await;
    let (x, y) = ON_PAGE;
    // Scroll back further than forth: the distance of a notch depends on the previous animation.
    for (direction, amount, seen) in [
        ("down", 5, "at 0 1"),
        ("right", 5, "at 1 1"),
        ("up", 50, "at 1 0"),
        ("left", 50, "at 0 0"),
    ] {
        let body = json!({ "x": x, "y": y, "direction": direction, "amount": amount });
        desk.act("scroll", body).await;
        desk.titled(seen).await;
    }
    let zoom = json!({ "x": x, "y": y, "direction": "up", "amount": 2, "modifiers": ["ctrl"] });
    desk.act("scroll", zoom).await;
    desk.titled("zoomed true").await;
}

#[tokio::test]
async fn a_button_stays_pressed_between_calls_until_it_is_released() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let show = "onmousemove=\"document.title='buttons '+event.buttons\"";
    desk.browse(&click_page(show), "page").await;
    let (x, y) = ON_PAGE;
    desk.act("mouse_down", json!({ "x": x, "y": y })).await;
    desk.act("mouse_move", json!({ "x": x + 30, "y": y })).await;
    desk.titled("buttons 1").await;
    desk.act("mouse_up", json!({})).await;
    desk.act("mouse_move", json!({ "x": x + 60, "y": y })).await;
    desk.titled("buttons 0").await;
}

/// Waits until exactly this is selected. A browser may process keys before clicks, so the selection
/// is copied repeatedly.
async fn expect_selected(desk: &Desk<'_>, text: &str) {
    let copied = async || {
        desk.act("key", json!({ "keys": "ctrl+c" })).await;
        (desk.clipboard().await == text).then_some(())
    };
    if eventually(Duration::from_secs(5), copied).await.is_none() {
        let last = desk.clipboard().await;
        // Overwrite the clipboard first: without a selection, copying leaves it unchanged.
        desk.act("clipboard", json!({ "text": "(nothing)" })).await;
        desk.act("key", json!({ "keys": "ctrl+c" })).await;
        desk.act("wait", json!({ "seconds": 1 })).await;
        assert_eq!(last, text, "selected now: {:?}", desk.clipboard().await);
    }
}
