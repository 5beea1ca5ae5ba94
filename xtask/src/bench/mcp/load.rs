//! Many clients at once.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Client, Desk, Server};
use serde_json::json;

use super::{
    rpc::{Era, Mcp},
    token,
};
use crate::bench::table::Samples;

const CLIENTS: usize = 100;
const SESSIONS: usize = 4;
const DURATION: Duration = Duration::from_secs(60);
/// A model thinks longer between two calls.
const PAUSE: Duration = Duration::from_millis(250);

/// Half of the clients speak each generation of the protocol, on a few desktops.
pub async fn run(server: &Server) {
    let client = token(server);
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "idle_timeout_s": 0 });
    let mut desks = Vec::new();
    for _ in 0..SESSIONS {
        desks.push(Desk::create(&client, &spec).await);
    }
    let bearer = server.token("bench", "sessions:*");
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let client = server.bearer(bearer.clone());
            let desk = desks.get(number % SESSIONS).map(|desk| desk.id.clone()).unwrap_or_default();
            tokio::spawn(work(number, client, desk))
        })
        .collect();
    let (mut all, mut failed) = (Samples::default(), 0);
    for task in tasks {
        match task.await {
            Ok(samples) => all.0.extend(samples.0),
            // A client panics when the server does not answer as it should.
            Err(_) => failed += 1,
        }
    }
    let seconds = DURATION.as_secs();
    println!("\n## {CLIENTS} clients for {seconds} s on {SESSIONS} desktops\n");
    println!(
        "| calls | calls / s | p50 ms | p95 ms | slowest ms | clients with an error |\n|---|---|---|---|---|---|"
    );
    println!(
        "| {} | {} | {:.1} | {:.1} | {:.0} | {failed} |",
        all.0.len(),
        all.0.len() as u64 / seconds,
        all.p50(),
        all.p95(),
        all.percentile(1.0)
    );
    for desk in &desks {
        desk.end().await;
    }
}

async fn work(number: usize, client: Client, desk: String) -> Samples {
    let era = if number.is_multiple_of(2) { Era::Stateless } else { Era::WithSession };
    let mcp = Mcp::open(client, "core", era).await;
    let mut samples = Samples::default();
    let began = Instant::now();
    let calls = ["desktop-click", "desktop-cursor_position", "desktop-screenshot", "session-show"];
    let mut next = calls.iter().cycle().skip(number);
    while began.elapsed() < DURATION
        && let Some(tool) = next.next()
    {
        let mut args = json!({ "_session_id": desk });
        if let Some(args) = args.as_object_mut().filter(|_| *tool == "desktop-click") {
            args.insert("x".to_owned(), json!(100 + number));
            args.insert("y".to_owned(), json!(300));
        }
        let began = Instant::now();
        mcp.call(tool, args).await;
        samples.0.push(began.elapsed().as_secs_f64() * 1000.0);
        tokio::time::sleep(PAUSE).await;
    }
    mcp.close().await;
    samples
}
