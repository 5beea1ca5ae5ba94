//! How long actions take, printed; the limits are far off, for machines that are busy.

use std::time::{Duration, Instant};

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
