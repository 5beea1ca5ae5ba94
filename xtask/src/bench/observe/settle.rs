//! Settling against fixed sleeps: which pictures show the final state, and how long they take.

use std::{
    fs,
    time::{Duration, Instant},
};

use helmdeck_testkit::{Answer, Server, Site};
use serde_json::{Value, json};

use super::{
    super::table::Samples,
    bar,
    interactions::{INTERACTIONS, Interaction},
    picture,
    shown::{Area, Shown, since},
};

/// Everything is over this long after an action.
const OVER: Duration = Duration::from_secs(4);
/// A fresh page is idle after this time.
const FRESH: Duration = Duration::from_millis(700);
/// The fixed sleeps, shortest first.
const SLEEPS: [u64; 3] = [250, 500, 2000];
/// The bar of the median, in milliseconds.
const MEDIAN: f64 = 500.0;
/// Pictures that settling got wrong.
const KEPT: &str = "target/bench-observe";
/// The clock of the panel, at the bottom right of the screen.
const CLOCK: Area = Area { left: 1230, top: 770, right: 1280, bottom: 800 };

/// What one way of waiting achieved.
struct WaitResult {
    name: String,
    times: Samples,
    wrong: Vec<String>,
}

/// A picture, and how long after the beginning of the action it was there.
struct Taken {
    picture: Answer,
    ms: f64,
}

/// Measures and prints the table.
pub async fn run(server: &Server, site: &Site) {
    let client = server.admin();
    let page = Shown::open(&client, "1280x800", &site.url("/next")).await;
    let mut ways: Vec<WaitResult> = std::iter::once("settle".to_owned())
        .chain(SLEEPS.iter().map(|ms| format!("sleep {ms} ms")))
        .map(|name| WaitResult { name, times: Samples::default(), wrong: Vec::new() })
        .collect();
    let mut unsettled = Vec::new();
    let mut in_terminal = false;
    for (number, interaction) in INTERACTIONS.iter().enumerate() {
        if interaction.is_terminal() && !in_terminal {
            open_terminal(&page, site).await;
            in_terminal = true;
        }
        let ignored = fresh(&page, site, interaction).await;
        let (taken, reply) = settled(&page, interaction).await;
        if reply.get("settled") != Some(&Value::Bool(true)) {
            unsettled.push(interaction.name());
        }
        let mut all = vec![taken];
        let last = last_picture(&page, all.first()).await;
        let mut finals = vec![last];
        let ignored_again = fresh(&page, site, interaction).await;
        all.extend(slept(&page, interaction).await);
        finals.push(last_picture(&page, all.last()).await);
        for (at, (way, taken)) in ways.iter_mut().zip(&all).enumerate() {
            let (last, ignored) =
                if at == 0 { (finals.first(), &ignored) } else { (finals.last(), &ignored_again) };
            let Some(last) = last else { continue };
            way.times.0.push(taken.ms);
            if let Some(area) = picture::difference(&taken.picture, last, ignored) {
                let Area { left, top, right, bottom } = area;
                let place = format!("{left},{top} to {right},{bottom}");
                way.wrong.push(format!("{} ({:.0} ms; {place})", interaction.name(), taken.ms));
                keep(number, &way.name, &taken.picture, last);
            }
        }
        finish(&page).await;
    }
    page.desk.end().await;
    print(&ways, &unsettled);
}

/// Waits by settling.
async fn settled(page: &Shown<'_>, interaction: &Interaction) -> (Taken, Value) {
    let began = Instant::now();
    let reply = interaction.perform(page, &json!({ "settle": {} })).await;
    let picture = page.picture().await;
    (Taken { picture, ms: since(began) }, reply)
}

/// Waits for each of the fixed times. One performance is enough for all of them: a picture changes
/// nothing.
async fn slept(page: &Shown<'_>, interaction: &Interaction) -> Vec<Taken> {
    let began = Instant::now();
    interaction.perform(page, &json!({})).await;
    let done = tokio::time::Instant::now();
    let mut all = Vec::new();
    for ms in SLEEPS {
        tokio::time::sleep_until(done + Duration::from_millis(ms)).await;
        let picture = page.picture().await;
        all.push(Taken { picture, ms: since(began) });
    }
    all
}

/// The final state.
async fn last_picture(page: &Shown<'_>, after: Option<&Taken>) -> Answer {
    let passed = Duration::from_secs_f64(after.map_or(0.0, |taken| taken.ms) / 1000.0);
    tokio::time::sleep(OVER.saturating_sub(passed)).await;
    page.picture().await
}

/// The state before an interaction. Returns what to ignore in pictures.
async fn fresh(page: &Shown<'_>, site: &Site, interaction: &Interaction) -> Vec<Area> {
    if interaction.is_terminal() {
        page.desk.act("key", json!({ "keys": "ctrl+c" })).await;
        page.desk.act("type", json!({ "text": "clear\n" })).await;
        tokio::time::sleep(FRESH).await;
        return vec![CLOCK];
    }
    finish(page).await;
    page.show(&site.url(&interaction.path())).await;
    if interaction.has_caret() {
        page.script("document.querySelector('#field').focus()").await;
    }
    tokio::time::sleep(FRESH).await;
    let mut ignored = page.periodic().await;
    ignored.push(CLOCK);
    ignored
}

/// Closes menus, dialogs and tabs that an interaction opened.
async fn finish(page: &Shown<'_>) {
    page.desk.act("key", json!({ "keys": "Escape" })).await;
    page.close_tabs().await;
}

async fn open_terminal(page: &Shown<'_>, site: &Site) {
    page.show(&site.url("/next")).await;
    let args = ["-geometry", "100x30+100+150", "-e", "env", "PS1=$ ", "bash", "--norc"];
    page.desk.act("launch", json!({ "command": "xterm", "args": args })).await;
    page.desk.take_keyboard("XTerm").await;
}

/// Keeps the pictures of a wrong result, to look at.
fn keep(number: usize, way: &str, taken: &Answer, last: &Answer) {
    let _ = fs::create_dir_all(KEPT);
    let way = way.replace(' ', "-");
    let _ = fs::write(format!("{KEPT}/{number:02}-{way}-taken.png"), &taken.body);
    let _ = fs::write(format!("{KEPT}/{number:02}-{way}-final.png"), &last.body);
}

fn print(ways: &[WaitResult], unsettled: &[String]) {
    let count = INTERACTIONS.len();
    println!("\n## Settling against fixed sleeps, {count} interactions\n");
    println!("| way | wrong pictures | median ms | p95 ms | bar |\n|---|---|---|---|---|");
    let sleeps = ways.iter().skip(1).map(|way| way.wrong.len()).min().unwrap_or(0);
    for (at, way) in ways.iter().enumerate() {
        let bars = if at == 0 {
            let fewer = bar("fewer than any sleep", way.wrong.len() < sleeps);
            format!("{fewer}; {}", bar("median < 500 ms", way.times.p50() < MEDIAN))
        } else {
            "–".to_owned()
        };
        let (p50, p95) = (way.times.p50(), way.times.p95());
        println!("| {} | {} | {p50:.0} | {p95:.0} | {bars} |", way.name, way.wrong.len());
    }
    for way in ways {
        println!("\nWrong with {}: {}", way.name, listed(&way.wrong));
    }
    println!("\nNot settled in time: {}", listed(unsettled));
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join("; ") }
}
