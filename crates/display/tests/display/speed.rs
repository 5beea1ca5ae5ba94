//! Cost of pictures in processor time, which does not depend on how busy the machine is.

use std::time::Duration;

use helmdeck_display::FrameRequest;
use helmdeck_wire::screen::{Format, Screenshot};

use crate::world::World;

const PICTURES: u8 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_thumbnail_costs_less_than_a_picture_of_the_whole_screen() {
    let world = World::sized("1920x1080");
    let display = &world.display;
    let _terminal = world.xterm(&["-geometry", "300x75+0+0", "-e", "seq 1 4000; sleep 60"]);
    let request = FrameRequest { max_width: 480, max_fps: 60.0, quality: 70 };
    let mut frames = display.subscribe(request).await.unwrap();
    frames.next().await.unwrap();
    let before = processor_time();
    for nth in 0..PICTURES {
        display.paint_root([nth, 0, 0]).await.unwrap();
        frames.next().await.unwrap();
    }
    let thumbnails = processor_time() - before;
    drop(frames);
    let before = processor_time();
    for nth in 0..PICTURES {
        display.paint_root([nth, 0, 0]).await.unwrap();
        display.screenshot(&Screenshot::default(), Format::Jpeg).await.unwrap();
    }
    let screenshots = processor_time() - before;
    assert!(thumbnails < screenshots, "{thumbnails:?}, {screenshots:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn watching_an_unchanged_screen_uses_no_processor_time() {
    let world = World::sized("1920x1080");
    let request = FrameRequest { max_width: 480, max_fps: 60.0, quality: 70 };
    let mut frames = world.display.subscribe(request).await.unwrap();
    frames.next().await.unwrap();
    let (watched, begin) = (Duration::from_secs(1), processor_time());
    assert!(tokio::time::timeout(watched, frames.next()).await.is_err());
    let took = processor_time() - begin;
    // Far less than polling would use.
    assert!(took < watched / 10, "{took:?}");
}

/// The processor time of all our threads, including ended ones.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32
}
