//! `cargo xtask soak`: many sessions with mixed load, to detect leaks.

use std::{
    ffi::OsString,
    process::ExitCode,
    time::{Duration, Instant},
};

use helmdeck_testkit::{Client, Desk, Footprint, Server};
use serde_json::json;

const USAGE: &str = "\
Usage: cargo xtask soak [CYCLES [MINUTES]]

  CYCLES    Sessions created and ended one after the other (default 200)
  MINUTES   Mixed load on eight sessions after that (default 30)

Uses target/release/helmdeck; `make build` makes it.";

/// Sessions under load at the same time.
const SESSIONS: usize = 8;

/// Runs both parts and periodically prints what the server uses.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let mut numbers = args.iter().map(|arg| arg.to_str().and_then(|text| text.parse::<u64>().ok()));
    let (cycles, minutes) =
        (numbers.next().unwrap_or(Some(200)), numbers.next().unwrap_or(Some(30)));
    let (Some(cycles), Some(minutes)) = (cycles, minutes) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let flat = runtime.block_on(async {
        let server = Server::start();
        let client = server.admin();
        let after_cycles = cycle(&server, &client, cycles).await;
        load(&server, &client, Duration::from_secs(minutes * 60)).await;
        let end = Footprint::of(&server);
        show("end", &end);
        end.processes == 0
            && end.files == after_cycles.files
            && end.descriptors <= after_cycles.descriptors + 8
            && end.memory_kb <= after_cycles.memory_kb + 32 * 1024
    });
    println!("{}", if flat { "flat" } else { "NOT FLAT" });
    if flat { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn cycle(server: &Server, client: &Client, cycles: u64) -> Footprint {
    println!("| moment | processes | fds | threads | server KB | files | groups |");
    println!("|---|---|---|---|---|---|---|");
    show("start", &Footprint::of(server));
    for number in 1..=cycles {
        let mode = if number % 4 == 0 { "desktop" } else { "headless" };
        Desk::create(client, &json!({ "mode": mode, "geometry": "800x600" })).await.end().await;
        if number % 20 == 0 || number == cycles {
            show(&format!("cycle {number}"), &Footprint::of(server));
        }
    }
    Footprint::of(server)
}

async fn load(server: &Server, client: &Client, duration: Duration) {
    if duration.is_zero() {
        return;
    }
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "idle_timeout_s": 0 });
    let mut desks = Vec::new();
    for _ in 0..SESSIONS {
        desks.push(Desk::create(client, &spec).await);
    }
    let (began, mut shown, mut actions) = (Instant::now(), Instant::now(), 0_u64);
    while began.elapsed() < duration {
        for (number, desk) in desks.iter().enumerate() {
            let point = json!({ "x": 50 + number, "y": 80 });
            desk.act("click", point).await;
            desk.act("type", json!({ "text": "mixed load ünd 世界 " })).await;
            desk.act("scroll", json!({ "direction": "down" })).await;
            desk.ask("screenshot", json!({ "format": "jpeg" })).await.expect(200);
            desk.act("key", json!({ "keys": "ctrl+l" })).await;
            actions += 5;
        }
        if shown.elapsed() > Duration::from_secs(60) {
            shown = Instant::now();
            let minute = began.elapsed().as_secs() / 60;
            show(&format!("minute {minute}, {actions} actions"), &Footprint::of(server));
        }
    }
    for desk in &desks {
        desk.end().await;
    }
}

fn show(moment: &str, f: &Footprint) {
    let Footprint { processes, descriptors, threads, memory_kb, files, groups } = f;
    println!(
        "| {moment} | {processes} | {descriptors} | {threads} | {memory_kb} | {files} | {groups} |"
    );
}
