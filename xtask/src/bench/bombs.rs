//! What a session suffers while its neighbour wants everything.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

use super::table::Samples;

/// How long each bomb is left to work before and while the neighbour is measured.
const FUSE: Duration = Duration::from_secs(2);

/// A name and the shell script that goes off.
const BOMBS: [(&str, &str); 5] = [
    ("fork bomb", ":(){ :|:& };:"),
    ("memory bomb", "a=x; while :; do a=$a$a; done"),
    ("files in memory", "cat /dev/zero > /tmp/fill; cat /dev/zero > ~/fill; sleep 60"),
    (
        "huge window title",
        "printf -v t '%01000000d' 1; while :; do printf '\\033]0;%s\\007' $t; done",
    ),
    ("many windows", "for i in $(seq 200); do xterm -geometry 10x2 & done; sleep 60"),
];

/// Measures and prints the table.
pub async fn run(server: &Server) {
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "memory_limit": "2g",
                       "idle_timeout_s": 0 });
    let neighbour = Desk::create(&client, &spec).await;
    let alone = clicks(&neighbour).await;
    println!("\n## A neighbour's clicks while another session explodes\n");
    println!("| bomb | p50 ms | p95 ms | p95 to alone | what the exploding session says |");
    println!("|---|---|---|---|---|");
    println!("| none | {:.2} | {:.2} | 1.0× | – |", alone.p50(), alone.p95());
    for (name, script) in BOMBS {
        let desk = Desk::create(&client, &spec).await;
        let launch = if name == "huge window title" {
            json!({ "command": "xterm", "args": ["-e", "bash", "-c", script] })
        } else {
            json!({ "command": "bash", "args": ["-c", script] })
        };
        desk.ask("launch", launch).await.expect(200);
        tokio::time::sleep(FUSE).await;
        let during = clicks(&neighbour).await;
        let ratio = during.p95() / alone.p95();
        let said = verdict(&desk).await;
        println!("| {name} | {:.2} | {:.2} | {ratio:.1}× | {said} |", during.p50(), during.p95());
        desk.end().await;
    }
    neighbour.end().await;
}

async fn clicks(desk: &Desk<'_>) -> Samples {
    let mut samples = Samples::default();
    for _ in 0..300 {
        let began = Instant::now();
        desk.ask("click", json!({ "x": 600, "y": 500 })).await.expect(200);
        samples.0.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    samples
}

/// What became of the session with the bomb.
async fn verdict(desk: &Desk<'_>) -> String {
    let session = desk.describe().await;
    let own = Instant::now();
    let answered = desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.status;
    let own = own.elapsed().as_millis();
    let text = |path: &str| session.pointer(path).map_or("?".to_owned(), Value::to_string);
    let bytes = session.pointer("/resources/memory_bytes").and_then(Value::as_u64);
    let megabytes = bytes.unwrap_or(0) >> 20;
    format!(
        "{}, {} processes, {megabytes} MB, {} killed; its own mouse_move: {answered} in {own} ms",
        text("/status"),
        text("/resources/pids"),
        text("/resources/out_of_memory"),
    )
}
