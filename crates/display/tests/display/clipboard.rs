//! The clipboard, between us and other programs.

use helmdeck_display::Display;
use helmdeck_wire::clipboard::Clipboard;

use crate::world::World;

async fn set(display: &Display, text: &str) {
    let action = Clipboard { text: Some(text.to_owned()) };
    assert_eq!(display.clipboard(&action).await.unwrap().text, text);
}

async fn read(display: &Display) -> String {
    display.clipboard(&Clipboard { text: None }).await.unwrap().text
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_copied_between_programs() {
    let world = World::bare();
    let other = Display::connect(&world.name).unwrap();
    assert_eq!(read(&other).await, "");
    for text in ["héllo 👍", "", "second"] {
        set(&world.display, text).await;
        assert_eq!(read(&world.display).await, text);
        assert_eq!(read(&other).await, text);
    }
    set(&other, "theirs").await;
    assert_eq!(read(&world.display).await, "theirs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_text_is_sent_in_pieces() {
    let world = World::bare();
    let other = Display::connect(&world.name).unwrap();
    let large = "0123456789é".repeat(400_000);
    set(&world.display, &large).await;
    assert!(read(&other).await == large);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_is_gone_when_its_owner_exits() {
    let world = World::bare();
    let other = Display::connect(&world.name).unwrap();
    set(&other, "short-lived").await;
    drop(other);
    for _ in 0..100 {
        if read(&world.display).await.is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the clipboard still has a text");
}
