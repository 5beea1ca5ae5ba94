//! MCP: what listings cost, what a call adds to REST, many clients at once, and two peers.

mod load;
mod peer;
mod rpc;

use std::{
    fs, io,
    time::{Duration, Instant},
};

use helmdeck_testkit::{Client, Desk, Page, Server, Site};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    memory,
    table::{Samples, bar},
};
use crate::mcp_packages::Packages;
use peer::Peer;
use rpc::{Era, Mcp};

const PEERS: [&str; 2] = ["@playwright/mcp@0.0.83", "chrome-devtools-mcp@1.11.0"];
const PROFILES: [&str; 5] = ["all", "core", "browser", "desktop", "code"];
/// Characters in a token of English and JSON, roughly.
const PER_TOKEN: usize = 4;
const TIMES: usize = 300;
/// Clients that are connected and do nothing.
const IDLE: usize = 100;
const PAGE: &str = "<title>bench</title><button id=more onclick=\"count.textContent++\">More</button> \
                    <output id=count>0</output>";

/// Measures and prints the tables.
pub async fn run(server: &Server) -> io::Result<()> {
    let root = fs::canonicalize(crate::root())?;
    let packages = Packages::install(&root, "bench", &PEERS, &[])?;
    listings(server, &packages).await?;
    overhead(server).await;
    clicks(server, &packages).await?;
    idle(server).await;
    load::run(server).await;
    Ok(())
}

fn token(server: &Server) -> Client {
    server.client("bench", "sessions:*")
}

async fn listings(server: &Server, packages: &Packages) -> io::Result<()> {
    println!("\n## What `tools/list` costs\n");
    println!("| server | tools | bytes | tokens, roughly |\n|---|---|---|---|");
    for profile in PROFILES {
        let mcp = Mcp::open(token(server), profile, Era::Stateless).await;
        line(&format!("helmdeck, profile {profile}"), &mcp.request("tools/list", json!({})).await);
    }
    let mut playwright = Peer::playwright(packages, &[])?;
    line("@playwright/mcp 0.0.83", &playwright.request("tools/list", json!({}))?);
    let mut devtools = Peer::devtools(packages)?;
    line("chrome-devtools-mcp 1.11.0", &devtools.request("tools/list", json!({}))?);
    Ok(())
}

fn line(name: &str, listing: &Value) {
    let tools = listing.get("tools").cloned().unwrap_or_default();
    let (count, bytes) = (tools.as_array().map_or(0, Vec::len), tools.to_string().len());
    println!("| {name} | {count} | {bytes} | {} |", bytes / PER_TOKEN);
}

/// The same calls by REST and by MCP, in turns.
async fn overhead(server: &Server) {
    let rest = token(server);
    let desk = Desk::create(&rest, &json!({ "mode": "desktop", "idle_timeout_s": 0 })).await;
    let stateless = Mcp::open(token(server), "core", Era::Stateless).await;
    let with_session = Mcp::open(token(server), "core", Era::WithSession).await;
    println!("\n## What MCP adds to a call, {TIMES} each\n");
    println!(
        "| call | REST p50 / p95 ms | 2026-07-28 p50 / p95 ms | 2025-11-25 p50 / p95 ms | more than REST, p50 | bar |"
    );
    println!("|---|---|---|---|---|---|");
    let calls = [
        ("click", json!({ "x": 600, "y": 500 })),
        ("cursor_position", json!({})),
        ("screenshot", json!({ "max_width": 800 })),
    ];
    for (action, body) in calls {
        let tool = format!("desktop-{action}");
        let mut args = body.clone();
        if let Some(args) = args.as_object_mut() {
            args.insert("_session_id".to_owned(), json!(desk.id));
        }
        let mut taken = [Samples::default(), Samples::default(), Samples::default()];
        for number in 0..TIMES + 10 {
            let began = Instant::now();
            desk.ask(action, body.clone()).await.expect(200);
            let rest = began.elapsed();
            let began = Instant::now();
            stateless.call(&tool, args.clone()).await;
            let newer = began.elapsed();
            let began = Instant::now();
            with_session.call(&tool, args.clone()).await;
            let older = began.elapsed();
            // The first ones warm up.
            if number >= 10 {
                for (samples, time) in taken.iter_mut().zip([rest, newer, older]) {
                    samples.0.push(time.as_secs_f64() * 1000.0);
                }
            }
        }
        let [rest, newer, older] = &taken;
        let more = newer.p50().max(older.p50()) - rest.p50();
        let bar = bar("≤ 1 ms", more <= 1.0);
        println!(
            "| {action} | {:.2} / {:.2} | {:.2} / {:.2} | {:.2} / {:.2} | {more:.2} ms | {bar} |",
            rest.p50(),
            rest.p95(),
            newer.p50(),
            newer.p95(),
            older.p50(),
            older.p95(),
        );
    }
    desk.end().await;
}

/// The same click on the same page of the same Chromium, by turns.
async fn clicks(server: &Server, packages: &Packages) -> io::Result<()> {
    let site = Site::start(|_| Page::html(PAGE)).await;
    let client = token(server);
    let desk = Desk::create(&client, &json!({ "mode": "headless", "idle_timeout_s": 0 })).await;
    desk.browser("navigate", json!({ "url": site.url("/") })).await.expect(200);
    let ticket = format!("/api/v1/sessions/{}/tickets", desk.id);
    let wanted = json!({ "role": "control", "reusable": true });
    let ticket = client.post(&ticket, &wanted).await.json();
    let endpoint = ticket.get("cdp_url").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mcp = Mcp::open(token(server), "browser", Era::Stateless).await;
    println!("\n## The same click on the same page of the same Chromium, 50 each\n");
    println!(
        "| peer | helmdeck p50 / p95 ms | @playwright/mcp 0.0.83 p50 / p95 ms | ratio of p50 |"
    );
    println!("|---|---|---|---|");
    let endpoint = ["--cdp-endpoint", endpoint.as_str()];
    let without_pause = [&endpoint[..], &["--timeout-settle", "0"]].concat();
    for (name, args) in [("by default", &endpoint[..]), ("without its pause", &without_pause[..])] {
        let mut playwright = Peer::playwright(packages, args)?;
        let (ours, theirs) = clicks_by_turns(&mcp, &desk.id, &mut playwright).await?;
        println!(
            "| {name} | {:.1} / {:.1} | {:.1} / {:.1} | {:.1}× |",
            ours.p50(),
            ours.p95(),
            theirs.p50(),
            theirs.p95(),
            theirs.p50() / ours.p50()
        );
    }
    desk.end().await;
    Ok(())
}

/// How long our clicks and the peer's take, by turns.
async fn clicks_by_turns(
    mcp: &Mcp,
    session: &str,
    peer: &mut Peer,
) -> io::Result<(Samples, Samples)> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for number in 0..60 {
        let began = Instant::now();
        mcp.call("browser-click", json!({ "_session_id": session, "selector": "#more" })).await;
        let mine = began.elapsed();
        let began = Instant::now();
        let params = json!({ "name": "browser_click", "arguments": { "target": "#more" } });
        let answer = peer.request("tools/call", params)?;
        if answer.get("isError") == Some(&json!(true)) {
            return Err(io::Error::other(format!("@playwright/mcp: {answer}")));
        }
        // The first ones warm up.
        if number >= 10 {
            ours.0.push(mine.as_secs_f64() * 1000.0);
            theirs.0.push(began.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Ok((ours, theirs))
}

/// Closed connections are gone after this time.
const CLOSED: Duration = Duration::from_secs(2);

/// The memory of clients that are connected and do nothing.
async fn idle(server: &Server) {
    println!("\n## Memory of {IDLE} idle clients\n\n| protocol | KB per client |\n|---|---|");
    for (name, era) in [
        ("2025-11-25, a session and its stream", Era::WithSession),
        ("2026-07-28, a subscription", Era::Stateless),
    ] {
        // The first clients make the server allocate what all of them share.
        drop(connected(server, era, 10).await);
        sleep(CLOSED).await;
        let before = memory::megabytes(server.pid());
        let files = memory::open_files(server.pid());
        let clients = connected(server, era, IDLE).await;
        let after = memory::megabytes(server.pid());
        let connections = memory::open_files(server.pid()).saturating_sub(files);
        assert!(connections >= IDLE, "only {connections} of {IDLE} clients are connected");
        println!("| {name} | {:.0} |", (after - before) * 1024.0 / IDLE as f64);
        for client in &clients {
            client.close().await;
        }
    }
}

async fn connected(server: &Server, era: Era, count: usize) -> Vec<Mcp> {
    let mut clients = Vec::new();
    let bearer = server.token("bench", "sessions:*");
    for _ in 0..count {
        let mut client = Mcp::open(server.bearer(bearer.clone()), "core", era).await;
        client.listen().await;
        clients.push(client);
    }
    clients
}
