//! What observing, trees and finding cost.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Server, Site};
use serde_json::{Value, json};

use super::{
    super::table::Samples,
    bar,
    idle::Used,
    shown::{Shown, since, with},
};

/// Quiet time of the measured clicks, in milliseconds.
const QUIET: u32 = 150;
/// Calls of each kind.
const QUICK: usize = 200;
const SLOW: usize = 40;
/// Screens that are read by OCR.
const SCREENS: usize = 4;
/// How long the idle session is measured.
const IDLE: Duration = Duration::from_secs(20);
/// The button of the page for clicks.
const BUTTON: (i64, i64) = (100, 30);

/// Measures and prints the tables.
pub async fn run(server: &Server, site: &Site) {
    let client = server.admin();
    let page = Shown::open(&client, "1920x1080", &site.url("/click")).await;
    println!("\n## What observing costs, 1920×1080\n");
    println!("| | p50 ms | p95 ms | without the quiet time, p50 ms |\n|---|---|---|---|");
    clicks(&page, site).await;
    println!("\n## What trees and finding cost, 1920×1080\n");
    println!("| | first ms | p50 ms | p95 ms | bar |\n|---|---|---|---|---|");
    trees(&page, site).await;
    reading(&page, site).await;
    page.show(&site.url("/many")).await;
    parts(server, &page, site).await;
    page.show(&site.url("/many")).await;
    tree(&page).await;
    find(&page, &json!({ "text": "n 777", "ocr": false })).await;
    idle(server).await;
    page.desk.end().await;
}

async fn clicks(page: &Shown<'_>, site: &Site) {
    page.show(&site.url("/click")).await;
    let settle = json!({ "quiet_ms": QUIET });
    let kinds = [
        ("click", QUICK, json!({})),
        ("click, `hit`", QUICK, json!({ "hit": true })),
        ("click, `settle`", SLOW, json!({ "settle": settle })),
        ("click, `settle`, `observe: diff`", SLOW, json!({ "settle": settle, "observe": "diff" })),
        ("click, `settle`, `observe: auto`", SLOW, json!({ "settle": settle, "observe": "auto" })),
        (
            "click without effect, `settle`, `observe: diff`",
            SLOW,
            with(page.point((1200, 600)), &json!({ "settle": settle, "observe": "diff" })),
        ),
        // After the others: what they leave behind is in it.
        ("click, again", QUICK, json!({})),
    ];
    for (name, times, options) in kinds {
        let mut samples = Samples::default();
        let waits = options.get("settle").is_some();
        for _ in 0..times {
            let body = with(page.point(BUTTON), &options);
            let began = Instant::now();
            page.desk.ask("click", body).await.expect(200);
            samples.0.push(since(began));
        }
        let (p50, p95) = (samples.p50(), samples.p95());
        let rest = if waits { format!("{:.1}", p50 - f64::from(QUIET)) } else { "–".to_owned() };
        println!("| {name} | {p50:.2} | {p95:.2} | {rest} |");
    }
}

/// A tree and finds on a page with more than a thousand elements in view.
async fn trees(page: &Shown<'_>, site: &Site) {
    page.show(&site.url("/many")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (mut samples, mut size) = (Samples::default(), (0, 0));
    let (first, _) = tree(page).await;
    for _ in 0..SLOW {
        let (ms, seen) = tree(page).await;
        samples.0.push(ms);
        size = seen;
    }
    let name = format!("`desktop/tree`, {} elements, {} KB", size.0, size.1 / 1024);
    row(&name, first, &samples, Some(150.0));
    for (name, wish, limit) in [
        ("`desktop/find` by text, without OCR", json!({ "text": "n 777" }), Some(50.0)),
        (
            "`desktop/find` by role and name, without OCR",
            json!({ "role": "button", "name": "n 777" }),
            Some(50.0),
        ),
        ("`desktop/find` of nothing, without OCR", json!({ "text": "absent" }), Some(50.0)),
    ] {
        let wish = with(wish, &json!({ "ocr": false }));
        let first = find(page, &wish).await.0;
        let mut samples = Samples::default();
        for _ in 0..SLOW {
            samples.0.push(find(page, &wish).await.0);
        }
        row(name, first, &samples, limit);
    }
}

/// Which processes work for a find on that page, and what less than that takes.
async fn parts(server: &Server, page: &Shown<'_>, site: &Site) {
    let (run_dir, wish) = (server.run_dir(), json!({ "text": "n 777", "ocr": false }));
    let before = Used::now(&run_dir);
    for _ in 0..SLOW {
        find(page, &wish).await;
    }
    let used = Used::now(&run_dir).since(before);
    let mut in_page = Samples::default();
    for _ in 0..SLOW {
        let began = Instant::now();
        page.desk.browser("find", json!({ "text": "n 777" })).await.expect(200);
        in_page.0.push(since(began));
    }
    row("`browser/find`: only the page, by its script", f64::NAN, &in_page, None);
    page.show(&site.url("/next")).await;
    let mut small = Samples::default();
    for _ in 0..SLOW {
        small.0.push(find(page, &wish).await.0);
    }
    row("`desktop/find`, a page with two elements", f64::NAN, &small, None);
    let each = |seconds: f64| format!("{:.1} ms", seconds * 1000.0 / SLOW as f64);
    let used: Vec<_> = used.iter().map(|(name, time)| format!("{name} {}", each(*time))).collect();
    println!("\nProcessor time of a `desktop/find` by text: {}.", used.join(", "));
}

/// Text that only the picture has, on screens that were not read before and then again.
async fn reading(page: &Shown<'_>, site: &Site) {
    let (mut first, mut again, mut found) = (Samples::default(), Samples::default(), 0);
    let wish = json!({ "text": "Zanzibar" });
    for number in 0..SCREENS {
        page.show(&site.url(&format!("/text?{number}"))).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (ms, candidates) = find(page, &wish).await;
        first.0.push(ms);
        found += usize::from(candidates > 0);
        for _ in 0..5 {
            again.0.push(find(page, &wish).await.0);
        }
    }
    let name = format!("`desktop/find` by OCR, new screen ({found} of {SCREENS} found)");
    row(&name, first.0.first().copied().unwrap_or(f64::NAN), &first, None);
    row("`desktop/find` by OCR, the same screen", f64::NAN, &again, None);
}

fn row(name: &str, first: f64, samples: &Samples, limit: Option<f64>) {
    let (p50, p95) = (samples.p50(), samples.p95());
    let bar =
        limit.map_or("–".to_owned(), |limit| bar(&format!("p50 ≤ {limit} ms"), p50 <= limit));
    let first = if first.is_nan() { "–".to_owned() } else { format!("{first:.1}") };
    println!("| {name} | {first} | {p50:.1} | {p95:.1} | {bar} |");
}

/// Reads the tree. Returns the time, and the number of elements and bytes.
async fn tree(page: &Shown<'_>) -> (f64, (usize, usize)) {
    let id = &page.desk.id;
    let path = format!("/api/v1/desktop/tree?session_id={id}&max_nodes=10000&max_bytes=5000000");
    let began = Instant::now();
    let answer = page.desk.client.get(&path).await.expect(200);
    let ms = since(began);
    let nodes = answer.json().get("nodes").and_then(Value::as_array).map_or(0, Vec::len);
    (ms, (nodes, answer.body.len()))
}

/// Finds. Returns the time and the number of candidates.
async fn find(page: &Shown<'_>, wish: &Value) -> (f64, usize) {
    let began = Instant::now();
    let answer = page.desk.ask("find", wish.clone()).await.expect(200);
    let ms = since(began);
    (ms, answer.json().get("candidates").and_then(Value::as_array).map_or(0, Vec::len))
}

/// Processor time of an idle session after all of that.
async fn idle(server: &Server) {
    let run_dir = server.run_dir();
    // The observer ends three seconds after the last watch.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (before, began) = (Used::now(&run_dir), Instant::now());
    tokio::time::sleep(IDLE).await;
    let (used, seconds) = (Used::now(&run_dir).since(before), began.elapsed().as_secs_f64());
    println!("\n## Processor time of the idle session afterwards, {} s\n", IDLE.as_secs());
    println!("| processes | percent of one core |\n|---|---|");
    for (name, used) in used {
        println!("| {name} | {:.2} |", used / seconds * 100.0);
    }
}
