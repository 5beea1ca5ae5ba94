//! The frame bus: who gets which frames, when, and what remains afterwards.

use std::{collections::BTreeMap, time::Duration};

use helmdeck_display::{DisplayError, Frame, FrameRequest, FrameSubscription};
use helmdeck_wire::{
    ErrorCode,
    screen::{Format, Resize, Screenshot},
};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use x11rb::{
    connection::Connection as _,
    protocol::{
        damage::ConnectionExt as _,
        res::ConnectionExt as _,
        xproto::{ChangeWindowAttributesAux, ConnectionExt as _},
    },
    rust_connection::RustConnection,
};

use crate::world::{World, soon};

const THUMBNAIL: FrameRequest = FrameRequest { max_width: 320, max_fps: 60.0, quality: 80 };
/// Long enough to notice a frame that should not come.
const STILL: Duration = Duration::from_secs(2);

const RED: [u8; 3] = [0xc0, 0x10, 0x10];
const GREEN: [u8; 3] = [0x10, 0xc0, 0x10];
const BLUE: [u8; 3] = [0x10, 0x10, 0xc0];

/// The next frame or an error, in time.
async fn next(frames: &mut FrameSubscription) -> Result<Frame, DisplayError> {
    timeout_at(soon(), frames.next()).await.unwrap()
}

async fn no_more(frames: &mut FrameSubscription) {
    let extra = timeout(STILL, frames.next()).await;
    assert!(extra.is_err(), "{:?}", extra.map(|frame| frame.map(|frame| frame.sequence)));
}

/// The colour in the lower right corner, away from the pointer.
fn colour(frame: &Frame) -> [u8; 3] {
    let mut decoder = jpeg_decoder::Decoder::new(&frame.jpeg[..]);
    let pixels = decoder.decode().unwrap();
    let info = decoder.info().unwrap();
    assert_eq!((u32::from(info.width), u32::from(info.height)), (frame.width, frame.height));
    *pixels.last_chunk().unwrap()
}

#[track_caller]
fn shows(frame: &Frame, expected: [u8; 3]) {
    let seen = colour(frame);
    let near = seen.iter().zip(expected).all(|(seen, expected)| seen.abs_diff(expected) < 8);
    assert!(near, "{seen:?} is not {expected:?}");
}

/// An ordinary X client that can inspect the others.
struct Neighbour {
    x: RustConnection,
    root: u32,
}

impl Neighbour {
    fn on(world: &World) -> Self {
        let (x, screen) = RustConnection::connect(Some(&world.name)).unwrap();
        let root = x.setup().roots[screen].root;
        Self { x, root }
    }

    /// The number of server resources of each connection, by its first resource id.
    fn things(&self) -> BTreeMap<u32, u32> {
        let clients = self.x.res_query_clients().unwrap().reply().unwrap().clients;
        let things = |client: u32| {
            let things = self.x.res_query_client_resources(client).unwrap().reply().unwrap();
            things.types.iter().map(|kind| kind.count).sum()
        };
        // The first client is the server itself.
        let clients = clients.iter().map(|it| it.resource_base).filter(|base| *base != 0);
        clients.map(|client| (client, things(client))).collect()
    }

    fn paint(&self, [red, green, blue]: [u8; 3]) {
        let colour = u32::from_be_bytes([0, red, green, blue]);
        let aux = ChangeWindowAttributesAux::new().background_pixel(colour);
        self.x.change_window_attributes(self.root, &aux).unwrap();
        self.x.clear_area(false, self.root, 0, 0, 0, 0).unwrap();
        self.x.get_input_focus().unwrap().reply().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_frame_comes_at_once_and_later_ones_with_changes() {
    let world = World::bare();
    world.display.paint_root(RED).await.unwrap();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    let first = next(&mut frames).await.unwrap();
    assert_eq!((first.width, first.height), (320, 200));
    shows(&first, RED);
    world.display.paint_root(GREEN).await.unwrap();
    let second = next(&mut frames).await.unwrap();
    assert!(second.sequence > first.sequence);
    shows(&second, GREEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_screen_makes_no_frames() {
    let world = World::bare();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    next(&mut frames).await.unwrap();
    no_more(&mut frames).await;
    // Cancelling a wait loses nothing.
    world.display.paint_root(GREEN).await.unwrap();
    shows(&next(&mut frames).await.unwrap(), GREEN);
    no_more(&mut frames).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_respect_the_rate_and_end_with_the_last_change() {
    let world = World::bare();
    let slow = FrameRequest { max_fps: 5.0, ..THUMBNAIL };
    let mut frames = world.display.subscribe(slow).await.unwrap();
    let neighbour = Neighbour::on(&world);
    let begin = Instant::now();
    let painting = tokio::task::spawn_blocking(move || {
        while begin.elapsed() < Duration::from_secs(3) {
            neighbour.paint(RED);
            neighbour.paint(GREEN);
        }
        neighbour.paint(BLUE);
    });
    let (mut count, mut last) = (0_u32, None);
    while let Ok(frame) = timeout(STILL, frames.next()).await {
        let (frame, elapsed) = (frame.unwrap(), begin.elapsed());
        count += 1;
        // Frame n may come after n - 1 intervals.
        assert!(f64::from(count - 1) * 0.2 <= elapsed.as_secs_f64(), "{count} in {elapsed:?}");
        last = Some(frame);
    }
    painting.await.unwrap();
    assert!(count > 2, "{count}");
    shows(&last.unwrap(), BLUE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_subscriber_gets_the_newest_picture_only() {
    let world = World::bare();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    let first = next(&mut frames).await.unwrap();
    for colour in [RED, GREEN, BLUE] {
        world.display.paint_root(colour).await.unwrap();
        sleep(Duration::from_millis(100)).await;
    }
    let second = next(&mut frames).await.unwrap();
    // No frame was requested meanwhile, so nothing was captured.
    assert_eq!(second.sequence, first.sequence + 1);
    shows(&second, BLUE);
    no_more(&mut frames).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_share_captures_and_encoding() {
    let world = World::bare();
    let mut one = world.display.subscribe(THUMBNAIL).await.unwrap();
    let mut same = world.display.subscribe(THUMBNAIL).await.unwrap();
    let whole = FrameRequest { max_width: 5000, ..THUMBNAIL };
    let mut whole = world.display.subscribe(whole).await.unwrap();
    for nth in 1..=3 {
        world.display.paint_root([nth * 50, 0, 0]).await.unwrap();
        let (a, b) = (next(&mut one).await.unwrap(), next(&mut same).await.unwrap());
        let c = next(&mut whole).await.unwrap();
        // Each capture has a number, so there was one capture per round.
        assert_eq!([a.sequence, b.sequence, c.sequence], [u64::from(nth); 3]);
        assert_eq!(a.jpeg.as_ptr(), b.jpeg.as_ptr());
        assert_eq!((c.width, c.height), (1280, 800));
        shows(&c, [nth * 50, 0, 0]);
    }
    assert_eq!(world.display.sequence(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_the_bus_without_subscribers() {
    let world = World::bare();
    let neighbour = Neighbour::on(&world);
    let before = neighbour.things();
    let mut one = world.display.subscribe(THUMBNAIL).await.unwrap();
    let mut two = world.display.subscribe(THUMBNAIL).await.unwrap();
    let first = next(&mut one).await.unwrap();
    next(&mut two).await.unwrap();
    let during = neighbour.things();
    let busy = before.iter().filter(|(client, count)| during[client] != **count).count();
    assert_eq!((during.len(), busy), (before.len(), 1), "{before:?} {during:?}");
    drop(one);
    neighbour.paint(GREEN);
    next(&mut two).await.unwrap();
    // The same for a subscriber that is dropped while it waits.
    let waiting = tokio::spawn(async move { two.next().await.map(|frame| frame.sequence) });
    sleep(Duration::from_millis(100)).await;
    waiting.abort();
    let deadline = soon();
    while neighbour.things() != before {
        assert!(Instant::now() < deadline, "{before:?} {:?}", neighbour.things());
        sleep(Duration::from_millis(10)).await;
    }
    let mut again = world.display.subscribe(THUMBNAIL).await.unwrap();
    assert!(next(&mut again).await.unwrap().sequence > first.sequence);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_since_a_frame_are_known_while_subscribed() {
    let world = World::bare();
    let display = &world.display;
    assert_eq!(display.sequence(), 0);
    assert!(display.changed_since(0).await.unwrap());
    let mut frames = display.subscribe(THUMBNAIL).await.unwrap();
    for colour in [RED, GREEN] {
        let frame = next(&mut frames).await.unwrap();
        assert!(!display.changed_since(frame.sequence).await.unwrap());
        assert!(display.changed_since(frame.sequence - 1).await.unwrap());
        display.paint_root(colour).await.unwrap();
        assert!(display.changed_since(frame.sequence).await.unwrap());
        // Asking does not consume the change.
        assert!(display.changed_since(frame.sequence).await.unwrap());
    }
    let last = next(&mut frames).await.unwrap();
    shows(&last, GREEN);
    drop(frames);
    assert!(display.changed_since(last.sequence).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_share_the_picture_until_something_is_drawn() {
    let world = World::bare();
    let display = &world.display;
    let shot = Screenshot::default();
    let mut frames = display.subscribe(THUMBNAIL).await.unwrap();
    let frame = next(&mut frames).await.unwrap();
    let first = display.screenshot(&shot, Format::Png).await.unwrap();
    let second = display.screenshot(&shot, Format::Png).await.unwrap();
    assert_eq!(display.sequence(), frame.sequence);
    assert_eq!(first.bytes.as_ptr(), second.bytes.as_ptr());
    for colour in [RED, GREEN, BLUE] {
        display.paint_root(colour).await.unwrap();
        let picture = display.screenshot(&shot, Format::Jpeg).await.unwrap();
        let (width, height) = (picture.width, picture.height);
        shows(&Frame { sequence: 0, width, height, jpeg: picture.bytes }, colour);
    }
    assert_eq!(display.sequence(), frame.sequence + 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_the_bus_a_moment_after_a_screenshot() {
    let world = World::bare();
    let neighbour = Neighbour::on(&world);
    let before = neighbour.things();
    for _ in 0..3 {
        world.display.screenshot(&Screenshot::default(), Format::Png).await.unwrap();
    }
    assert_ne!(neighbour.things(), before);
    let deadline = soon();
    while neighbour.things() != before {
        assert!(Instant::now() < deadline, "{before:?} {:?}", neighbour.things());
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_stay_correct_if_a_program_destroys_the_damage_object() {
    let world = World::bare();
    let hostile = Neighbour::on(&world);
    hostile.x.damage_query_version(1, 1).unwrap().reply().unwrap();
    let before = hostile.things();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    next(&mut frames).await.unwrap();
    let during = hostile.things();
    let bus = during.iter().find(|(client, count)| before[client] != **count).unwrap().0;
    let destroyed = |id: &u32| hostile.x.damage_destroy(*id).unwrap().check().is_ok();
    assert!((*bus..*bus + 1000).any(|id| destroyed(&id)));
    hostile.paint(GREEN);
    let picture = world.display.screenshot(&Screenshot::default(), Format::Jpeg).await.unwrap();
    let (width, height) = (picture.width, picture.height);
    shows(&Frame { sequence: 0, width, height, jpeg: picture.bytes }, GREEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_follow_the_size_of_the_screen() {
    let world = World::bare();
    let whole = FrameRequest { max_width: 5000, ..THUMBNAIL };
    let mut frames = world.display.subscribe(whole).await.unwrap();
    next(&mut frames).await.unwrap();
    for (width, height) in [(1920, 1080), (640, 480), (2560, 1440)] {
        world.display.resize(&Resize { width, height }).await.unwrap();
        let mut frame = next(&mut frames).await.unwrap();
        // Another change may have come before the resize.
        while (frame.width, frame.height) != (width, height) {
            frame = next(&mut frames).await.unwrap();
        }
        colour(&frame);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_subscribers_fail_when_the_server_ends() {
    let mut world = World::bare();
    let mut waiting = world.display.subscribe(THUMBNAIL).await.unwrap();
    let mut later = world.display.subscribe(THUMBNAIL).await.unwrap();
    next(&mut waiting).await.unwrap();
    let wait = tokio::spawn(async move { next(&mut waiting).await.map(|frame| frame.sequence) });
    sleep(Duration::from_millis(100)).await;
    world.end_server();
    let error = wait.await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
    assert_eq!(next(&mut later).await.unwrap_err().code(), ErrorCode::DisplayLost);
    let error = world.display.subscribe(THUMBNAIL).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::DisplayLost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_server_is_an_error_in_time() {
    let world = World::bare();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    world.freeze_server();
    assert_eq!(next(&mut frames).await.unwrap_err().code(), ErrorCode::DisplayLost);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_grabs_the_server_does_not_stop_the_frames() {
    let world = World::bare();
    let hostile = Neighbour::on(&world);
    hostile.x.grab_server().unwrap();
    hostile.paint(RED);
    // Neither new nor existing subscribers are blocked.
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    shows(&next(&mut frames).await.unwrap(), RED);
    hostile.paint(GREEN);
    shows(&next(&mut frames).await.unwrap(), GREEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_continue_after_a_program_kills_the_bus_connection() {
    let world = World::bare();
    let hostile = Neighbour::on(&world);
    let before = hostile.things();
    let mut frames = world.display.subscribe(THUMBNAIL).await.unwrap();
    let first = next(&mut frames).await.unwrap();
    let during = hostile.things();
    let bus = during.iter().find(|(client, count)| before[client] != **count).unwrap();
    // Any resource id of the client will do.
    hostile.x.kill_client(*bus.0).unwrap().check().unwrap();
    hostile.paint(GREEN);
    let mut frame = next(&mut frames).await.unwrap();
    assert!(frame.sequence > first.sequence);
    // The bus may have reconnected before the paint.
    if colour(&frame)[1] < 0x80 {
        frame = next(&mut frames).await.unwrap();
    }
    shows(&frame, GREEN);
}
