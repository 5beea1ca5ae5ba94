//! `cargo xtask job-kills`: kills the server amid jobs, and accounts for every one of them.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use helmdeck_testkit::{Client, Desk, Page, Server, Site};
use serde_json::{Value, json};

const USAGE: &str = "\
Usage: cargo xtask job-kills [ROUNDS]

  ROUNDS    How often the server is killed amid ten jobs of five packs (default 10)

Uses target/debug/helmdeck, or HELMDECK_BIN.";

/// Jobs of one round.
const JOBS: usize = 10;

/// Kills the server and prints what became of its jobs.
pub fn run(args: &[OsString]) -> ExitCode {
    let rounds = match args.first().map(|arg| arg.to_str().and_then(|text| text.parse().ok())) {
        None => 10,
        Some(Some(rounds)) => rounds,
        Some(None) => {
            println!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    let wrong = runtime.block_on(all(rounds));
    for line in &wrong {
        println!("WRONG: {line}");
    }
    println!("{rounds} rounds, {} jobs, {} wrong", rounds * JOBS, wrong.len());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn all(rounds: usize) -> Vec<String> {
    let visits: Visits = Arc::default();
    let visited = visits.clone();
    let site = Site::start(move |path| {
        if let Ok(mut visits) = visited.lock() {
            *visits.entry(path.to_owned()).or_default() += 1;
        }
        Page::html("<title>kills</title>")
    })
    .await;
    let mut server = Server::start_with(&[("HELMDECK_EGRESS_ALLOWLIST", "127.0.0.1/32")]);
    let mut wrong = Vec::new();
    println!("| round | killed after | completed | failed | cancelled |\n|---|---|---|---|---|");
    for round in 0..rounds {
        // From "hardly begun" to "mostly done".
        let delay = Duration::from_millis(150 * round as u64);
        let client = server.client("kills", "sessions:*");
        let desk = Desk::create(&client, &json!({ "mode": "headless", "idle_timeout_s": 0 })).await;
        desk.run("mkdir -p /workspace/w").await;
        let mut jobs = Vec::new();
        for number in 0..JOBS {
            let (pack, input) = job(number, &desk.id, &site.url(&mark(round, number)), round);
            let answer = client.post(&format!("/api/v1/packs/{pack}"), &input).await.expect(202);
            jobs.push((number, pack, text(&answer.json(), "job_id")));
        }
        tokio::time::sleep(delay).await;
        let session = desk.id.clone();
        server.kill();
        server.restart();
        let client = server.client("kills", "sessions:*");
        let mut counts = [0; 3];
        let mut completed = BTreeMap::new();
        for (number, pack, id) in jobs {
            let path = format!("/api/v1/jobs/{id}?wait_s=45");
            let ended = client.get(&path).await.expect(200).json();
            let state = text(&ended, "state");
            let reason = ended.get("error").map(|error| text(error, "message"));
            match state.as_str() {
                "completed" => {
                    counts[0] += 1;
                    completed.insert(number, pack);
                }
                "failed" if reason.is_some_and(|reason| !reason.is_empty()) => counts[1] += 1,
                "cancelled" => counts[2] += 1,
                _ => wrong.push(format!("round {round}: {pack} {id} is {state}: {ended}")),
            }
        }
        wrong.extend(check_marks(&client, &session, round, &visits, &completed).await);
        let [completed, failed, cancelled] = counts;
        println!(
            "| {} | {} ms | {completed} | {failed} | {cancelled} |",
            round + 1,
            delay.as_millis()
        );
        client.delete(&format!("/api/v1/sessions/{session}")).await.expect(204);
    }
    wrong
}

/// How often each path of the site was asked for.
type Visits = Arc<Mutex<HashMap<String, usize>>>;

/// What a job of a round leaves: a path of the site, or a name of a file.
fn mark(round: usize, number: usize) -> String {
    format!("/round-{round}-{number}")
}

/// Jobs of five packs. Each leaves a mark, so that a second run shows, and a completed one that never
/// ran: a line in a file, a file, or a visit of the site.
fn job(number: usize, session: &str, url: &str, round: usize) -> (&'static str, Value) {
    let script = format!("sleep 0.5; echo {number} >> /workspace/w/round-{round}; sleep 0.5");
    let code = format!(
        "import time\ntime.sleep(0.5)\nopen('/workspace/w/round-{round}', 'a').write('{number}\\n')"
    );
    match number % 5 {
        0 => (
            "cmd.run",
            json!({
                "_session_id": session, "clone_path": "/workspace/w", "command": ["sh", "-c", script],
                "wait_s": 0,
            }),
        ),
        1 => ("python.run", json!({ "_session_id": session, "code": code, "wait_s": 0 })),
        2 => (
            "fs.write",
            json!({
                "_session_id": session, "clone_path": "/workspace/w", "path": mark(round, number).trim_start_matches('/'),
                "content": "x", "wait_s": 0,
            }),
        ),
        3 => ("browser.screenshot_url", json!({ "url": url, "wait_s": 0 })),
        _ => ("http.fetch", json!({ "url": url, "wait_s": 0 })),
    }
}

/// Compares the marks with what became of the jobs: none ran twice, and a completed one ran.
async fn check_marks(
    client: &Client,
    session: &str,
    round: usize,
    visits: &Visits,
    completed: &BTreeMap<usize, &'static str>,
) -> Vec<String> {
    let path = format!("/api/v1/sessions/{session}/exec");
    let command = format!("cd /workspace/w && cat round-{round}; ls");
    let answer = client.post(&path, &json!({ "command": command })).await;
    if answer.status != 200 {
        return vec![format!("round {round}: the session did not survive: {}", answer.text())];
    }
    let written = text(&answer.json(), "stdout");
    let lines = |wanted: &str| written.lines().filter(|line| *line == wanted).count();
    let visited = |path: &str| {
        visits.lock().ok().and_then(|visits| visits.get(path).copied()).unwrap_or_default()
    };
    let mut wrong = Vec::new();
    for number in 0..JOBS {
        let marks = match number % 5 {
            0 | 1 => lines(&number.to_string()),
            2 => lines(mark(round, number).trim_start_matches('/')),
            _ => visited(&mark(round, number)),
        };
        // A picture may be taken again after a kill.
        let most = if number % 5 == 3 { 3 } else { 1 };
        match completed.get(&number) {
            _ if marks > most => {
                wrong.push(format!("round {round}: job {number} ran {marks} times"))
            }
            Some(pack) if marks == 0 => {
                wrong.push(format!("round {round}: {pack} {number} completed and left no mark"));
            }
            _ => {}
        }
    }
    wrong
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}
