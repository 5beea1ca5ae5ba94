//! Typed text arrives unchanged, in any script and program.

use std::time::Duration;

use helmdeck_testkit::{Desk, Server, eventually};
use serde_json::json;

/// One line for each kind of difficulty.
const LINES: [&str; 9] = [
    "-leading dash --help $HOME `id` \\n",
    "Tom & \"Jerry\" <b>'s</b> ~^`´¨ {[]} | @€",
    "👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ❤️",
    "مرحبا بالعالم، كيف حالك؟",
    "你好,世界。我能吞下玻璃而不伤身体",
    "日本語とｶﾅ 한국어",
    "e\u{301} a\u{308}\u{323} ñ Å Ồ",
    "Привет, Ελλάδα, עולם, ไทย, हिन्दी",
    "\u{1d54f} \u{1f600} \u{200b}zero\u{2009}thin",
];

#[tokio::test]
async fn any_text_typed_into_a_page_reads_back_identical() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let text = LINES.join("\n");
    let reply = desk.act("type", json!({ "text": text })).await;
    assert_eq!(reply["length"], text.chars().count());
    desk.copy_all().await;
    desk.expect_clipboard(&text).await;
}

#[tokio::test]
async fn two_thousand_characters_arrive_in_order() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let all: Vec<char> = LINES.concat().chars().chain('!'..='~').collect();
    // A stride without a common divisor mixes scripts thoroughly.
    let text: String = (0..2000).map(|n| all[n * 7 % all.len()]).collect();
    assert_eq!(text.chars().count(), 2000);
    assert_eq!(desk.act("type", json!({ "text": text })).await["length"], 2000);
    desk.copy_all().await;
    desk.expect_clipboard(&text).await;
}

#[tokio::test]
async fn a_key_can_be_a_character_that_is_on_no_keyboard() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    for keys in ["é", "€", "shift+a", "ﷺ", "😀", "b"] {
        desk.act("key", json!({ "keys": keys })).await;
    }
    desk.copy_all().await;
    desk.expect_clipboard("é€Aﷺ😀b").await;
}

#[tokio::test]
async fn a_tab_moves_to_the_next_field_and_a_newline_submits() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let page = "<title>form</title>\
                <form onsubmit=\"document.title=a.value+'/'+b.value;return false\">\
                <input id=a autofocus><input id=b><button>ok</button></form>";
    desk.browse(page, "form").await;
    desk.act("type", json!({ "text": "ünder\tover\n" })).await;
    desk.titled("ünder/over").await;
}

#[tokio::test]
async fn a_terminal_gets_the_same_text() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let args = json!(["-e", "cat > /home/agent/typed"]);
    desk.act("launch", json!({ "command": "xterm", "args": args })).await;
    desk.take_keyboard("XTerm").await;
    let text = LINES.join("\n") + "\n";
    desk.act("type", json!({ "text": text })).await;
    desk.act("key", json!({ "keys": "ctrl+d" })).await;
    let read = async || Some(desk.shell("cat typed").await).filter(|typed| *typed == text);
    if eventually(Duration::from_secs(5), read).await.is_none() {
        assert_eq!(desk.shell("cat typed").await, text);
    }
}

#[tokio::test]
async fn a_gtk_program_gets_the_same_text() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.act("launch", json!({ "command": "mousepad" })).await;
    desk.take_keyboard("Mousepad").await;
    let text = LINES.join("\n");
    desk.act("type", json!({ "text": text })).await;
    desk.copy_all().await;
    desk.expect_clipboard(&text).await;
}

#[tokio::test]
async fn the_clipboard_can_be_read_and_set() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    desk.open_field().await;
    let text = LINES.join("\n").repeat(40);
    assert_eq!(desk.act("clipboard", json!({ "text": text })).await["text"], text);
    desk.act("key", json!({ "keys": "ctrl+v" })).await;
    desk.act("key", json!({ "keys": "ctrl+End" })).await;
    desk.act("type", json!({ "text": "end" })).await;
    desk.copy_all().await;
    desk.expect_clipboard(&(text + "end")).await;
}

#[tokio::test]
async fn common_key_aliases_are_accepted() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let show = "document.title = [event.ctrlKey, event.shiftKey, event.altKey, event.key].join()";
    desk.browse(&format!("<title>keys</title><body onkeydown=\"{show};return false\">"), "keys")
        .await;
    desk.act("click", json!({ "x": 640, "y": 500 })).await;
    for (keys, seen) in [
        ("Return", "false,false,false,Enter"),
        ("Enter", "false,false,false,Enter"),
        ("ArrowLeft", "false,false,false,ArrowLeft"),
        ("Page_Down", "false,false,false,PageDown"),
        ("PAGEUP", "false,false,false,PageUp"),
        ("BackSpace", "false,false,false,Backspace"),
        ("Escape", "false,false,false,Escape"),
        ("F2", "false,false,false,F2"),
        ("CTRL+SHIFT+b", "true,true,false,B"),
        ("control+alt+k", "true,false,true,k"),
        ("ctrl+plus", "true,"),
        ("space", "false,false,false, "),
    ] {
        desk.act("key", json!({ "keys": keys })).await;
        desk.titled(seen).await;
    }
}
