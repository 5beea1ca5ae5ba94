//! Observing the screen: what changed, when it became quiet, and what remains afterwards.

use std::time::{Duration, Instant};

use helmdeck_display::observe::{Activity, Decision, Kind, Periodic, Quiet, Rect, Settle, Watch};
use helmdeck_wire::{
    keyboard::Type,
    pointer::{Button, Click, MouseMove, Px},
    screen::{Format, Screenshot},
};
use tokio::time::{sleep, timeout_at};
use x11rb::{
    connection::Connection as _,
    protocol::{
        res::ConnectionExt as _,
        xproto::{ConnectionExt as _, CreateGCAux, Rectangle},
    },
    rust_connection::RustConnection,
};

use crate::world::{World, soon};

const QUIET: Quiet = Quiet { quiet: Duration::from_millis(150), timeout: Duration::from_secs(15) };

/// A program that draws on the root window.
struct Painter {
    x: RustConnection,
    root: u32,
    gc: u32,
}

impl Painter {
    fn on(world: &World) -> Self {
        let (x, screen) = RustConnection::connect(Some(&world.name)).unwrap();
        let root = x.setup().roots[screen].root;
        let gc = x.generate_id().unwrap();
        x.create_gc(gc, root, &CreateGCAux::new()).unwrap();
        Self { x, root, gc }
    }

    fn fill(&self, rect: Rect, colour: u32) {
        use x11rb::protocol::xproto::ChangeGCAux;
        self.x.change_gc(self.gc, &ChangeGCAux::new().foreground(colour)).unwrap();
        let rectangle = Rectangle {
            x: rect.x as i16,
            y: rect.y as i16,
            width: rect.width as u16,
            height: rect.height as u16,
        };
        self.x.poly_fill_rectangle(self.root, self.gc, &[rectangle]).unwrap();
        self.x.get_input_focus().unwrap().reply().unwrap();
    }

    /// The number of server resources of all clients.
    fn things(&self) -> u32 {
        let clients = self.x.res_query_clients().unwrap().reply().unwrap().clients;
        let of = |client: u32| {
            let things = self.x.res_query_client_resources(client).unwrap().reply().unwrap();
            things.types.iter().map(|kind| kind.count).sum::<u32>()
        };
        clients.iter().map(|it| it.resource_base).filter(|base| *base != 0).map(of).sum()
    }
}

fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
    Rect { x, y, width, height }
}

/// Waits until the screen is quiet; returns whether it became so, and after how long.
async fn settle(watch: &Watch, rule: Quiet, given: &[Periodic]) -> (bool, Duration) {
    let settle = Settle::new(Instant::now(), rule);
    loop {
        let changed = watch.changed();
        let activity = Activity { changed: watch.last_change(given), ..Activity::default() };
        match settle.decide(Instant::now(), &activity) {
            Decision::Settled => return (true, settle.since().elapsed()),
            Decision::TimedOut => return (false, settle.since().elapsed()),
            Decision::Wait(until) => {
                if let Ok(changed) = timeout_at(until.into(), changed).await {
                    changed.unwrap();
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_found_where_they_are_and_only_those() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let watch = world.display.watch().await.unwrap();
    assert_eq!(watch.changes(&[], &[]).await.unwrap().regions, []);
    let (one, two) = (rect(100, 50, 40, 30), rect(600, 500, 7, 200));
    painter.fill(one, 0x00ff_0000);
    painter.fill(two, 0x0000_ff00);
    // The pointer is no part of the picture.
    world.display.mouse_move(&MouseMove { x: Px(300), y: Px(300) }).await.unwrap();
    let changes = watch.changes(&[], &[]).await.unwrap();
    assert_eq!(changes.regions, [one, two]);
    // What was drawn again as it was did not change.
    let watch = world.display.watch().await.unwrap();
    painter.fill(one, 0x00ff_0000);
    assert_eq!(watch.changes(&[], &[]).await.unwrap().regions, []);
    assert_eq!(watch.last_change(&[]), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_between_the_call_and_the_wait_is_not_missed() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let watch = world.display.watch().await.unwrap();
    let changed = watch.changed();
    painter.fill(rect(100, 50, 40, 30), 0x00ff_0000);
    watch.catch_up().await.unwrap();
    timeout_at(soon(), changed).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_screen_is_quiet_after_the_last_change() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let watch = world.display.watch().await.unwrap();
    let painting = tokio::task::spawn_blocking(move || {
        for nth in 0..8 {
            painter.fill(rect(nth * 100, 100, 50, 50), 0x00ff_ff00);
            std::thread::sleep(Duration::from_millis(50));
        }
        Instant::now()
    });
    let (settled, _) = settle(&watch, QUIET, &[]).await;
    let end = Instant::now();
    let last = painting.await.unwrap() - Duration::from_millis(50);
    assert!(settled);
    // Not before the quiet time is over.
    assert!(end - last >= QUIET.quiet - Duration::from_millis(20), "{:?}", end - last);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_animation_does_not_keep_the_screen_busy_and_is_remembered() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let place = rect(200, 200, 40, 40);
    let animation = std::thread::spawn(move || {
        let mut colour = 1_u32;
        for _ in 0..400 {
            colour = colour.wrapping_mul(2_654_435_761) ^ 0x55;
            painter.fill(place, colour & 0x00ff_ffff);
            std::thread::sleep(Duration::from_millis(16));
        }
    });
    let watch = world.display.watch().await.unwrap();
    let (settled, first) = settle(&watch, QUIET, &[]).await;
    assert!(settled);
    let changes = watch.changes(&[], &[]).await.unwrap();
    assert_eq!(changes.regions, []);
    let kinds: Vec<_> = changes.periodic.iter().map(|place| (place.rect, place.kind)).collect();
    assert_eq!(kinds, [(place, Kind::Spinner)]);
    drop(watch);
    let watch = world.display.watch().await.unwrap();
    let (settled, second) = settle(&watch, QUIET, &[]).await;
    assert!(settled && second < first, "{first:?} {second:?}");
    drop(watch);
    animation.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_the_observer_a_moment_after_a_watch() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let before = painter.things();
    let watch = world.display.watch().await.unwrap();
    assert!(painter.things() > before);
    drop(watch);
    let deadline = soon();
    while painter.things() != before {
        assert!(tokio::time::Instant::now() < deadline, "{before} {}", painter.things());
        sleep(Duration::from_millis(10)).await;
    }
    // It starts again.
    let watch = world.display.watch().await.unwrap();
    painter.fill(rect(0, 0, 5, 5), 0x00ff_ffff);
    assert_eq!(watch.changes(&[], &[]).await.unwrap().regions, [rect(0, 0, 5, 5)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resized_screen_has_changed() {
    let world = World::bare();
    let watch = world.display.watch().await.unwrap();
    let resize = helmdeck_wire::screen::Resize { width: 1000, height: 700 };
    world.display.resize(&resize).await.unwrap();
    let changes = watch.changes(&[], &[]).await.unwrap();
    assert_eq!(changes.regions, [rect(0, 0, 1000, 700)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_fails_when_the_server_ends() {
    let mut world = World::bare();
    let watch = world.display.watch().await.unwrap();
    world.end_server();
    assert!(watch.changed().await.is_err());
    assert!(watch.changes(&[], &[]).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_are_remembered_with_their_scale_and_content() {
    let world = World::bare();
    let painter = Painter::on(&world);
    let shot = Screenshot { max_width: Some(640), ..Screenshot::default() };
    let picture = world.display.screenshot(&shot, Format::Png).await.unwrap();
    let facts = world.display.shots().get(&picture.id).unwrap();
    assert_eq!(facts.on_screen(320, 200), Some((641, 401)));
    let same = async |world: &World| {
        let watch = world.display.watch().await.unwrap();
        let after = watch.changes(&[], &[]).await.unwrap().after;
        world.display.shots().same_as(&helmdeck_display::observe::Prints::of(&after), &[])
    };
    let deadline = soon();
    // The fingerprint is made in the background.
    while same(&world).await.as_ref() != Some(&picture.id) {
        assert!(tokio::time::Instant::now() < deadline);
        sleep(Duration::from_millis(5)).await;
    }
    painter.fill(rect(700, 700, 1, 1), 0x00ff_ffff);
    assert_eq!(same(&world).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_open_are_seen_with_their_title() {
    let (world, _manager) = World::managed().await;
    let before = world.display.seen_windows().await.unwrap();
    let _terminal = world.xterm(&["-title", "hello"]);
    let window = world.window("hello").await;
    let after = world.display.seen_windows().await.unwrap();
    assert_eq!(before.windows, []);
    let [seen] = after.windows.as_slice() else { panic!("{after:?}") };
    assert_eq!((seen.id.to_string(), seen.title.as_str()), (window.id, "hello"));
    assert_eq!((seen.class.as_str(), seen.dialog, seen.panel), ("XTerm", false, false));
    assert_eq!(after.active, Some(seen.id));
}

/// Chromium draws in software here, as in a session.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_with_a_spinner_and_a_caret_becomes_quiet() {
    let (world, _manager) = World::managed().await;
    let page = "<style>i{position:fixed;left:600px;top:200px;width:40px;height:40px;\
        background:linear-gradient(red,blue);animation:t 1s linear infinite}\
        @keyframes t{to{transform:rotate(360deg)}}</style><i></i>\
        <input id=f autofocus style='position:fixed;left:100px;top:100px;width:300px;height:30px'>\
        <title>spin</title>";
    let _chromium = world.chromium(page).await;
    let window = world.window("spin").await;
    let watch = world.display.watch().await.unwrap();
    let at = |x: i32, y: i32| (Px(window.x + x), Px(window.y + y));
    // Into the page, wherever it begins.
    let (x, y) = at(200, 250);
    world.display.click(&Click { x, y, button: Button::Left }).await.unwrap();
    // Longer than the pauses of an animation on a busy machine.
    let patient = Quiet { quiet: Duration::from_millis(400), ..QUIET };
    let (settled, first) = settle(&watch, patient, &[]).await;
    assert!(settled, "{first:?}");
    let changes = watch.changes(&[], &[]).await.unwrap();
    assert!(
        changes.periodic.iter().any(|place| place.kind == Kind::Spinner),
        "{first:?}: {changes:?}"
    );
    drop(watch);
    let watch = world.display.watch().await.unwrap();
    world.display.type_text(&Type { text: "hello".into(), delay_ms: 0 }).await.unwrap();
    let (settled, second) = settle(&watch, patient, &[]).await;
    assert!(settled, "{second:?}");
    let typed = watch.changes(&[], &[]).await.unwrap();
    let [text] = typed.regions[..] else { panic!("{typed:?}") };
    assert!(text.width < 100 && text.height < 40, "{typed:?}");
}
