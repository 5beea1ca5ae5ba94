//! Cold starts, and memory of the processes.

use std::time::Instant;

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

use super::{memory, table::Samples};

const TIMES: usize = 10;

/// Measures and prints the tables.
pub async fn run(server: &Server) {
    let client = server.admin();
    println!("\n## Cold start to ready ({TIMES} each)\n");
    println!("| mode | p50 ms | p95 ms | slowest ms |\n|---|---|---|---|");
    for mode in ["headless", "desktop"] {
        let mut samples = Samples::default();
        for _ in 0..TIMES {
            let began = Instant::now();
            let desk = Desk::create(&client, &json!({ "mode": mode })).await;
            samples.0.push(began.elapsed().as_secs_f64() * 1000.0);
            desk.end().await;
        }
        let (p50, p95, slowest) = (samples.p50(), samples.p95(), samples.percentile(1.0));
        println!("| {mode} | {p50:.0} | {p95:.0} | {slowest:.0} |");
    }
    let desk = Desk::create(&client, &json!({ "mode": "desktop" })).await;
    // Measure a guest that has worked, not a new one.
    for _ in 0..20 {
        desk.ask("screenshot", json!({})).await.expect(200);
    }
    println!("\n## Memory (proportional set size)\n\n| process | MB |\n|---|---|");
    println!("| server | {:.1} |", memory::megabytes(server.pid()));
    for guest in memory::guests(&server.run_dir()) {
        println!("| guest of a desktop session | {:.1} |", memory::megabytes(guest));
    }
    desk.end().await;
}
