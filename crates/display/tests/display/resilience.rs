//! Hostile programs, and servers that hang or end.

use std::time::{Duration, Instant};

use helmdeck_wire::{
    ErrorCode,
    clipboard::Clipboard,
    keyboard::Type,
    pointer::{Button, Click, Px},
    screen::{Format, Screenshot},
};
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{witness::Witness, world::World};

const CLICK: Click = Click { x: Px(5), y: Px(5), button: Button::Left };

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_grabs_the_server_does_not_stop_us() {
    let world = World::bare();
    let display = &world.display;
    let hostile = Witness::on(&world.name);
    hostile.x.grab_server().unwrap();
    hostile.x.get_input_focus().unwrap().reply().unwrap();
    let begin = Instant::now();
    display.click(&CLICK).await.unwrap();
    display.screenshot(&Screenshot::default(), Format::Png).await.unwrap();
    display.type_text(&Type { text: "abcé".to_owned(), delay_ms: 0 }).await.unwrap();
    let text = Some("text".to_owned());
    display.clipboard(&Clipboard { text }).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clipboard_works_after_a_program_kills_its_connection() {
    let world = World::bare();
    let text = || Clipboard { text: Some("text".to_owned()) };
    world.display.clipboard(&text()).await.unwrap();
    let hostile = Witness::on(&world.name);
    let clipboard = hostile.x.intern_atom(false, b"CLIPBOARD").unwrap().reply().unwrap().atom;
    let owner = hostile.x.get_selection_owner(clipboard).unwrap().reply().unwrap().owner;
    hostile.x.kill_client(owner).unwrap();
    hostile.x.get_input_focus().unwrap().reply().unwrap();
    assert_eq!(world.display.clipboard(&text()).await.unwrap().text, "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ended_is_a_lost_display() {
    let mut world = World::bare();
    world.display.click(&CLICK).await.unwrap();
    world.end_server();
    let error = world.display.click(&CLICK).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
    let error = world.display.screenshot(&Screenshot::default(), Format::Png).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
    let error = world.display.clipboard(&Clipboard::default()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_server_is_a_lost_display_in_time() {
    let world = World::bare();
    world.freeze_server();
    let begin = Instant::now();
    let display = world.display.clone();
    let click = tokio::spawn(async move { display.click(&CLICK).await });
    // Other tasks continue meanwhile.
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(begin.elapsed() < Duration::from_secs(1));
    let error = click.await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}
