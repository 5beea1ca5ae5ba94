//! What pictures cost, in processor time: a busy machine does not change it.

use std::time::Duration;

use helmdeck_display::FrameRequest;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn watching_a_still_screen_takes_no_processor_time() {
    let world = World::sized("1920x1080");
    let request = FrameRequest { max_width: 480, max_fps: 60.0, quality: 70 };
    let mut frames = world.display.subscribe(request).await.unwrap();
    frames.next().await.unwrap();
    let (watched, begin) = (Duration::from_secs(1), processor_time());
    assert!(tokio::time::timeout(watched, frames.next()).await.is_err());
    let took = processor_time() - begin;
    // Far from what a look at the screen now and then would take.
    assert!(took < watched / 10, "{took:?}");
}

/// What all our threads have used, also those that are gone.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields: Vec<_> = after_name.split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32
}
