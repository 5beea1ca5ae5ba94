//! Packs: what a job adds to the bare call, a warm session against a new one, and a long queue.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Client, Desk, Server};
use serde_json::{Value, json};

use super::table::{Samples, bar};

/// Calls of each kind, and those before them that warm up.
const TIMES: usize = 200;
const WARM_UP: usize = 10;
/// New sessions that are measured.
const FRESH: usize = 10;
/// Jobs in the queue.
const QUEUED: usize = 1000;
/// The last job of the queue ends by then.
const DRAINED: Duration = Duration::from_secs(600);

/// Measures and prints the tables.
pub async fn run(server: &Server) {
    overhead(server).await;
    warm_and_fresh(server).await;
    queue(server).await;
}

/// The same command by `exec` and by `cmd.run`, in turns.
async fn overhead(server: &Server) {
    let client = server.client("bench", "sessions:*");
    let desk = Desk::create(&client, &json!({ "mode": "headless", "idle_timeout_s": 0 })).await;
    desk.run("mkdir -p /workspace/bench").await;
    let bare = json!({ "command": ["true"], "cwd": "/workspace/bench" });
    let packed = json!({
        "_session_id": desk.id, "clone_path": "/workspace/bench", "command": ["true"],
    });
    let (mut execs, mut jobs) = (Samples::default(), Samples::default());
    for number in 0..TIMES + WARM_UP {
        let began = Instant::now();
        desk.ask_exec(&bare).await.expect(200);
        let exec = began.elapsed();
        let began = Instant::now();
        client.post("/api/v1/packs/cmd.run", &packed).await.expect(200);
        if number >= WARM_UP {
            execs.0.push(milliseconds(exec));
            jobs.0.push(milliseconds(began.elapsed()));
        }
    }
    desk.end().await;
    let more = jobs.p50() - execs.p50();
    let bar = bar("≤ 3 ms", more <= 3.0);
    println!("\n## What a job adds to a call, {TIMES} each\n");
    println!("| exec p50 / p95 ms | cmd.run p50 / p95 ms | more, p50 | bar |\n|---|---|---|---|");
    println!(
        "| {:.2} / {:.2} | {:.2} / {:.2} | {more:.2} ms | {bar} |",
        execs.p50(),
        execs.p95(),
        jobs.p50(),
        jobs.p95(),
    );
}

async fn warm_and_fresh(server: &Server) {
    let client = server.client("bench", "sessions:*");
    let desk = Desk::create(&client, &json!({ "mode": "headless", "idle_timeout_s": 0 })).await;
    let warm = json!({ "code": "print(1)", "_session_id": desk.id });
    let fresh = json!({ "code": "print(1)" });
    let mut taken = [Samples::default(), Samples::default()];
    for _ in 0..FRESH {
        for (input, samples) in [&warm, &fresh].into_iter().zip(&mut taken) {
            let began = Instant::now();
            client.post("/api/v1/packs/python.run", input).await.expect(200);
            samples.0.push(milliseconds(began.elapsed()));
        }
    }
    desk.end().await;
    let [warm, fresh] = &taken;
    println!("\n## `python.run` in a running session and in a new one, {FRESH} each\n");
    println!("| running p50 / p95 ms | new p50 / p95 ms | ratio |\n|---|---|---|");
    println!(
        "| {:.1} / {:.1} | {:.1} / {:.1} | {:.0}× |",
        warm.p50(),
        warm.p95(),
        fresh.p50(),
        fresh.p95(),
        fresh.p50() / warm.p50(),
    );
}

/// One caller submits 900 jobs, and another one every tenth of 1000.
async fn queue(server: &Server) {
    let (many, few) = (server.client("many", "sessions:*"), server.client("few", "sessions:*"));
    let options = json!({ "mode": "headless", "idle_timeout_s": 0 });
    let (of_many, of_few) =
        (Desk::create(&many, &options).await, Desk::create(&few, &options).await);
    for desk in [&of_many, &of_few] {
        desk.run("mkdir -p /workspace/bench").await;
    }
    let began = Instant::now();
    for number in 0..QUEUED {
        let (client, desk) = if number % 10 == 9 { (&few, &of_few) } else { (&many, &of_many) };
        let input = json!({
            "_session_id": desk.id, "clone_path": "/workspace/bench", "command": ["true"], "wait_s": 0,
        });
        client.post("/api/v1/packs/cmd.run", &input).await.expect(202);
    }
    let submitted = began.elapsed();
    let few_done = drained(&few, began).await;
    let many_done = drained(&many, began).await;
    println!("\n## {QUEUED} queued jobs of two callers, 900 and 100\n");
    println!(
        "| submitted | the 100 are done | the 900 are done | jobs a second |\n|---|---|---|---|"
    );
    println!(
        "| {:.1} s | {:.1} s | {:.1} s | {:.0} |",
        submitted.as_secs_f64(),
        few_done.as_secs_f64(),
        many_done.as_secs_f64(),
        QUEUED as f64 / many_done.as_secs_f64(),
    );
    for desk in [&of_many, &of_few] {
        desk.end().await;
    }
}

/// Waits until no job of a caller works.
async fn drained(client: &Client, began: Instant) -> Duration {
    while began.elapsed() < DRAINED {
        let list = client.get("/api/v1/jobs?state=working&limit=1").await.expect(200).json();
        if list.get("count") == Some(&Value::from(0)) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    began.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
