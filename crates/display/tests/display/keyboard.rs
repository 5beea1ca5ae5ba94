//! Keys and chords, pressed and released.

use std::time::{Duration, Instant};

use helmdeck_wire::{
    ErrorCode,
    keyboard::{HoldKey, Key, Type},
    pointer::{Button, Drag, Modifier, MouseMove, Px},
    status::Seconds,
};

use crate::{
    witness::{Seen, Witness},
    world::World,
};

const CTRL_L: u8 = 37;
const SHIFT_L: u8 = 50;
const A: u8 = 38;

async fn pressed(world: &World, witness: &Witness, keys: &str) -> Vec<Seen> {
    world.display.key(&Key { keys: keys.to_owned() }).await.unwrap();
    let mut seen = witness.seen();
    seen.retain(|seen| matches!(seen, Seen::Key(_) | Seen::KeyUp(_)));
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn chords_are_pressed_in_order_and_released_in_reverse() {
    use Seen::{Key as Down, KeyUp as Up};
    let world = World::bare();
    let witness = Witness::on(&world.name);
    world.display.mouse_move(&MouseMove { x: Px(9), y: Px(9) }).await.unwrap();
    let copy = [Down(CTRL_L), Down(A), Up(A), Up(CTRL_L)];
    assert_eq!(pressed(&world, &witness, "ctrl+a").await, copy);
    assert_eq!(pressed(&world, &witness, "CTRL+A").await, copy);
    let capital = [Down(SHIFT_L), Down(A), Up(A), Up(SHIFT_L)];
    assert_eq!(pressed(&world, &witness, "A").await, capital);
    assert_eq!(pressed(&world, &witness, "shift+a").await, capital);
    assert_eq!(pressed(&world, &witness, "a a").await, [Down(A), Up(A), Down(A), Up(A)]);
    assert_eq!(pressed(&world, &witness, "Delete").await, [Down(119), Up(119)]);
    assert_eq!(pressed(&world, &witness, "BackSpace").await, [Down(22), Up(22)]);
    let plus = [Down(CTRL_L), Down(SHIFT_L), Down(21), Up(21), Up(SHIFT_L), Up(CTRL_L)];
    assert_eq!(pressed(&world, &witness, "ctrl++").await, plus);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_key_uses_a_spare_key_that_is_restored() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    world.display.mouse_move(&MouseMove { x: Px(9), y: Px(9) }).await.unwrap();
    let before = witness.layout();
    let seen = pressed(&world, &witness, "ctrl+é U+1F600").await;
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert_eq!(witness.layout(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_pressed_when_a_name_is_wrong() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    for (keys, code) in [
        ("a nokey", ErrorCode::InvalidKeys),
        ("", ErrorCode::MissingKeys),
        ("ctrl+", ErrorCode::InvalidKeys),
    ] {
        let error = world.display.key(&Key { keys: keys.to_owned() }).await.unwrap_err();
        assert_eq!(error.code(), code, "{keys}");
    }
    for (text, code) in [("", ErrorCode::MissingText), ("a\u{1b}", ErrorCode::InvalidText)] {
        let typed = Type { text: text.to_owned(), delay_ms: 0 };
        assert_eq!(world.display.type_text(&typed).await.unwrap_err().code(), code, "{text:?}");
    }
    assert_eq!(witness.seen(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_key_is_released_after_its_time_or_when_cancelled() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let hold = |keys: &str, seconds| HoldKey { keys: keys.to_owned(), seconds: Seconds(seconds) };
    let begin = Instant::now();
    world.display.hold_key(&hold("ctrl+shift+a", 0.2)).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(200));
    assert!(!witness.anything_down());

    let display = world.display.clone();
    let action = hold("ctrl+é", 20.0);
    let before = witness.layout();
    let held = tokio::spawn(async move { display.hold_key(&action).await });
    witness.until_down().await;
    held.abort();
    assert!(held.await.unwrap_err().is_cancelled());
    // The next action waits for the cleanup of the cancelled one.
    world.display.mouse_move(&MouseMove { x: Px(1), y: Px(1) }).await.unwrap();
    assert!(!witness.anything_down());
    assert_eq!(witness.layout(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_drag_releases_button_and_modifiers() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let display = world.display.clone();
    let dragged = tokio::spawn(async move {
        let drag = Drag {
            start_x: Some(Px(10)),
            start_y: Some(Px(10)),
            end_x: Some(Px(900)),
            end_y: Some(Px(500)),
            path: vec![],
            button: Button::Left,
            modifiers: vec![Modifier::Ctrl, Modifier::Super],
        };
        display.drag(&drag).await
    });
    witness.until_down().await;
    dragged.abort();
    assert!(dragged.await.unwrap_err().is_cancelled());
    world.display.mouse_move(&MouseMove { x: Px(1), y: Px(1) }).await.unwrap();
    assert!(!witness.anything_down());
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_characters_are_typed_quickly() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    world.display.mouse_move(&MouseMove { x: Px(9), y: Px(9) }).await.unwrap();
    let text = "The quick brown fox jumps over the lazy dog. 0123!".to_owned();
    let action = Type { text, delay_ms: 0 };
    let begin = Instant::now();
    let reply = world.display.type_text(&action).await.unwrap();
    let took = begin.elapsed();
    assert_eq!(reply.length, 50);
    assert!(took < Duration::from_millis(100), "{took:?}");
    println!("typing 50 characters took {took:?}");
    let downs = witness.seen().into_iter().filter(|seen| matches!(seen, Seen::Key(_)));
    assert_eq!(downs.count(), 50 + 2);
}
