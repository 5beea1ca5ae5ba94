//! Prints how long actions take. The limits are generous, for busy machines.

use std::time::{Duration, Instant};

use helmdeck_display::FrameRequest;
use helmdeck_wire::{
    keyboard::Type,
    pointer::{Button, Click, Px},
    screen::{Format, Screenshot},
};

use crate::world::{World, soon};

#[tokio::test(flavor = "multi_thread")]
async fn actions_take_milliseconds() {
    let world = World::sized("1920x1080");
    let display = &world.display;
    display.paint_root([30, 40, 50]).await.unwrap();
    let _manager = world.run("openbox", &[]);
    display.wait_for_window_manager(soon()).await.unwrap();
    let script = "seq 1 4000; sleep 60";
    let _terminal = world.xterm(&["-geometry", "300x75+0+0", "-title", "text", "-e", script]);
    world.window("text").await;

    let click = Click { x: Px(500), y: Px(500), button: Button::Left };
    let took = median(async || {
        display.click(&click).await.unwrap();
    })
    .await;
    println!("click: {took:?}");
    assert!(took < Duration::from_millis(50));

    let text = "The quick brown fox jumps over the lazy dog. 0123!".to_owned();
    let text = Type { text, delay_ms: 0 };
    let took = median(async || {
        display.type_text(&text).await.unwrap();
    })
    .await;
    println!("type 50 characters: {took:?}");
    assert!(took < Duration::from_millis(100));

    for format in [Format::Png, Format::Webp, Format::Jpeg] {
        let shot = Screenshot { format: Some(format), ..Screenshot::default() };
        let took = median(async || {
            display.screenshot(&shot, format).await.unwrap();
        })
        .await;
        let size = display.screenshot(&shot, format).await.unwrap().bytes.len();
        println!("screenshot 1920x1080 as {format:?}: {took:?}, {} KB", size / 1000);
        assert!(took < Duration::from_millis(500));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thumbnail_takes_milliseconds() {
    let world = World::sized("1920x1080");
    let display = &world.display;
    let _terminal = world.xterm(&["-geometry", "300x75+0+0", "-e", "seq 1 4000; sleep 60"]);
    let request = FrameRequest { max_width: 480, max_fps: 60.0, quality: 70 };
    let mut frames = display.subscribe(request).await.unwrap();
    frames.next().await.unwrap();
    let (mut took, mut size, before) = (Vec::new(), 0, processor_time());
    for nth in 0..51 {
        display.paint_root([nth, 0, 0]).await.unwrap();
        // Longer than the interval of the rate.
        tokio::time::sleep(Duration::from_millis(30)).await;
        let begin = Instant::now();
        size = frames.next().await.unwrap().jpeg.len();
        took.push(begin.elapsed());
    }
    let processor = (processor_time() - before) / 51;
    took.sort();
    println!("frame of 480 from 1920x1080: {:?}, {} KB", took[25], size / 1000);
    println!("of processor time, without the X server's: {processor:?}");
    assert!(took[25] < Duration::from_millis(500));
}

#[tokio::test(flavor = "multi_thread")]
async fn watching_an_unchanged_screen_uses_no_processor_time() {
    let world = World::sized("1920x1080");
    let request = FrameRequest { max_width: 480, max_fps: 60.0, quality: 70 };
    let mut frames = world.display.subscribe(request).await.unwrap();
    frames.next().await.unwrap();
    let (watched, begin) = (Duration::from_secs(3), processor_time());
    assert!(tokio::time::timeout(watched, frames.next()).await.is_err());
    let took = processor_time() - begin;
    println!("watching a still screen for {watched:?}: {took:?} of processor time");
    // Far less than polling would use.
    assert!(took < watched / 10);
}

/// The processor time of all our threads, including ended ones.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32
}

async fn median(action: impl AsyncFn()) -> Duration {
    let mut took = Vec::new();
    for _ in 0..15 {
        let begin = Instant::now();
        action().await;
        took.push(begin.elapsed());
    }
    took.sort();
    took[7]
}
