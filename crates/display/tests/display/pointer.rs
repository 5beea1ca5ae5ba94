//! Clicks, drags and scrolling, as a program sees them.

use helmdeck_wire::{
    ErrorBody, ErrorCode,
    keyboard::{HoldKey, Key},
    pointer::{
        Button, Click, CursorPosition, Direction, DoubleClick, Drag, Modifier, ModifierClick,
        MouseDown, MouseMove, MouseUp, Point, Px, Scroll, TripleClick,
    },
    status::Seconds,
};
use tokio::sync::mpsc;
use x11rb::{
    CURRENT_TIME, NONE,
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{Allow, ButtonIndex, ConnectionExt as _, EventMask, GrabMode, ModMask},
    },
};

use crate::{
    witness::{Seen, Witness},
    world::World,
};

const SHIFT_AND_CTRL: u16 = 1 | 4;

#[tokio::test(flavor = "multi_thread")]
async fn clicks_arrive_where_they_should() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let display = &world.display;

    for (x, y, button) in [
        (0, 0, Button::Left),
        (1279, 799, Button::Right),
        (5, 7, Button::Middle),
        (9, 9, Button::Back),
    ] {
        let reply = display.click(&Click { x: Px(x), y: Px(y), button }).await.unwrap();
        assert_eq!(reply.button, button.number().to_string());
        let (x, y, n) = (x as i16, y as i16, button.number());
        let seen = witness.seen();
        assert!(
            seen.ends_with(&[Seen::Move(x, y), Seen::Press(n, x, y, 0), Seen::Release(n, x, y)]),
            "{seen:?}"
        );
    }
    display.double_click(&DoubleClick { x: Px(1), y: Px(1), button: Button::Left }).await.unwrap();
    assert_eq!(presses(&witness.seen()), [(1, 0); 2]);
    display.triple_click(&TripleClick { x: Px(1), y: Px(1), button: Button::Left }).await.unwrap();
    assert_eq!(presses(&witness.seen()), [(1, 0); 3]);
    let modifiers = vec![Modifier::Shift, Modifier::Ctrl, Modifier::Ctrl];
    let click = ModifierClick { x: Px(1), y: Px(1), button: Button::Left, modifiers };
    display.modifier_click(&click).await.unwrap();
    assert_eq!(presses(&witness.seen()), [(1, SHIFT_AND_CTRL)]);
    assert!(!witness.anything_down());
}

/// A window manager that intercepts clicks, as most do, and handles the first one only on request.
/// Until then the server holds all later pointer events.
fn slow_manager(world: &World) -> (mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (pressed, hears) = mpsc::channel(1);
    let (tell, mut go_on) = mpsc::channel(1);
    let (x, screen) = x11rb::connect(Some(&world.name)).unwrap();
    let root = x.setup().roots[screen].root;
    let (event, left, any) = (EventMask::BUTTON_PRESS, ButtonIndex::M1, ModMask::ANY);
    let (pointer, keyboard) = (GrabMode::SYNC, GrabMode::ASYNC);
    let grab = x.grab_button(false, root, event, pointer, keyboard, NONE, NONE, left, any);
    grab.unwrap().check().unwrap();
    std::thread::spawn(move || {
        let mut first = true;
        while let Ok(event) = x.wait_for_event() {
            if !matches!(event, Event::ButtonPress(_)) {
                continue;
            }
            if std::mem::take(&mut first) {
                pressed.blocking_send(()).unwrap();
                go_on.blocking_recv();
            }
            x.allow_events(Allow::REPLAY_POINTER, CURRENT_TIME).unwrap();
            x.flush().unwrap();
        }
    });
    (hears, tell)
}

#[tokio::test(flavor = "multi_thread")]
async fn later_keys_do_not_change_clicks_even_with_a_slow_window_manager() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let display = &world.display;
    // Key names are loaded on first use.
    display.key(&Key { keys: "ctrl".to_owned() }).await.unwrap();
    let (mut pressed, go_on) = slow_manager(&world);
    let hands = display.clone();
    let acting = tokio::spawn(async move {
        let clicks = TripleClick { x: Px(10), y: Px(10), button: Button::Left };
        hands.triple_click(&clicks).await.unwrap();
        let ctrl = HoldKey { keys: "ctrl".to_owned(), seconds: Seconds(30.0) };
        hands.hold_key(&ctrl).await.unwrap();
    });
    pressed.recv().await.unwrap();
    // Longer than pressing the key would take without waiting.
    for _ in 0..5000 {
        display.cursor_position(&CursorPosition {}).await.unwrap();
    }
    go_on.send(()).await.unwrap();
    let mut seen = Vec::new();
    while presses(&seen).len() < 3 {
        seen.extend(witness.seen());
    }
    assert_eq!(presses(&seen), [(1, 0); 3]);
    acting.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_stays_down_until_it_is_released() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let down = MouseDown { x: Some(Px(30)), y: Some(Px(40)), button: Button::Left };
    let reply = world.display.mouse_down(&down).await.unwrap();
    assert_eq!((reply.x, reply.y), (Px(30), Px(40)));
    assert!(witness.anything_down());
    world.display.mouse_move(&MouseMove { x: Px(50), y: Px(60) }).await.unwrap();
    let up = MouseUp { x: None, y: None, button: Button::Left };
    let reply = world.display.mouse_up(&up).await.unwrap();
    assert_eq!((reply.x, reply.y), (Px(50), Px(60)));
    assert!(!witness.anything_down());
    let at = world.display.cursor_position(&CursorPosition {}).await.unwrap();
    assert_eq!(at, Point { x: Px(50), y: Px(60) });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drag_moves_in_steps_with_the_button_down() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let mut drag = Drag {
        start_x: Some(Px(100)),
        start_y: Some(Px(100)),
        end_x: Some(Px(400)),
        end_y: Some(Px(300)),
        path: Vec::new(),
        button: Button::Left,
        modifiers: vec![Modifier::Shift],
    };
    let reply = world.display.drag(&drag).await.unwrap();
    assert_eq!((reply.start_x, reply.end_y), (Px(100), Px(300)));
    let seen = witness.seen();
    let press = seen.iter().position(|s| matches!(s, Seen::Press(1, 100, 100, 1))).unwrap();
    let release = seen.iter().position(|s| matches!(s, Seen::Release(1, 400, 300))).unwrap();
    assert!(release - press > 10, "{seen:?}");
    assert!(!witness.anything_down());

    let point = |x, y| Point { x: Px(x), y: Px(y) };
    drag.path = vec![point(10, 10), point(200, 10), point(200, 200)];
    drag.modifiers.clear();
    world.display.drag(&drag).await.unwrap();
    let seen = witness.seen();
    assert!(seen.contains(&Seen::Press(1, 10, 10, 0)), "{seen:?}");
    assert!(seen.contains(&Seen::Move(200, 10)), "{seen:?}");
    assert!(seen.contains(&Seen::Release(1, 200, 200)), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wheel_turns_each_way_and_at_most_fifty_notches() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let scroll = |direction, amount| Scroll {
        x: Some(Px(0)),
        y: Some(Px(0)),
        direction,
        amount,
        modifiers: vec![Modifier::Ctrl],
    };
    let ways = [Direction::Up, Direction::Down, Direction::Left, Direction::Right];
    for (direction, button) in ways.into_iter().zip(4..) {
        let reply = world.display.scroll(&scroll(direction, 3)).await.unwrap();
        assert_eq!(reply.amount, 3);
        assert_eq!(presses(&witness.seen()), [(button, 4); 3]);
    }
    assert_eq!(world.display.scroll(&scroll(Direction::Up, 1000)).await.unwrap().amount, 50);
    assert_eq!(presses(&witness.seen()).len(), 50);
    assert!(!witness.anything_down());
}

#[tokio::test(flavor = "multi_thread")]
async fn points_off_the_screen_are_refused_with_the_screen_size() {
    let world = World::bare();
    let witness = Witness::on(&world.name);
    let click = Click { x: Px(1280), y: Px(0), button: Button::Left };
    let error = ErrorBody::from(world.display.click(&click).await.unwrap_err());
    assert_eq!(error.error, ErrorCode::InvalidCoordinates);
    assert!(error.message.contains("1280x800"), "{}", error.message);

    let scroll =
        |x, amount| Scroll { x, y: None, direction: Direction::Up, amount, modifiers: vec![] };
    let error = world.display.scroll(&scroll(Some(Px(1)), 1)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCoordinates);
    let error = world.display.scroll(&scroll(None, 0)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidAmount);
    let click = ModifierClick { x: Px(1), y: Px(1), button: Button::Left, modifiers: vec![] };
    let error = world.display.modifier_click(&click).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::MissingModifiers);
    let drag: Drag = Drag {
        start_x: Some(Px(1)),
        start_y: Some(Px(1)),
        end_x: None,
        end_y: None,
        path: vec![],
        button: Button::Left,
        modifiers: vec![],
    };
    let error = world.display.drag(&drag).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidCoordinates);
    assert_eq!(witness.seen(), []);
}

/// The pressed buttons, with the modifiers held.
fn presses(seen: &[Seen]) -> Vec<(u8, u16)> {
    let press = |seen: &Seen| match seen {
        Seen::Press(button, _, _, held) => Some((*button, *held)),
        _ => None,
    };
    seen.iter().filter_map(press).collect()
}
