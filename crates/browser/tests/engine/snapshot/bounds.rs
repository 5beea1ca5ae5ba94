//! Snapshots of pages that are too long.

use serde_json::json;

use super::desk::Desk;

#[tokio::test]
async fn a_long_page_keeps_usable_elements_in_view() {
    let long = "many words ".repeat(20);
    let rows: String =
        (0..400).map(|row| format!("<p>Row {row} {long}</p><button>Do {row}</button>")).collect();
    let (desk, _server) = Desk::showing(&format!("<main>{rows}</main>")).await;
    let all = desk.snapshot(json!({ "max_bytes": 1_000_000 })).await;
    assert!(!all.truncated && all.snapshot.contains("\"Do 399\""));

    // Texts are shortened before lines are left out.
    let usual = desk.snapshot(json!({})).await;
    assert!(usual.truncated && usual.snapshot.len() <= 50_000);
    assert!(usual.snapshot.contains("\"Do 399\"") && usual.snapshot.contains("Row 399"));

    let short = desk.snapshot(json!({ "max_bytes": 1000 })).await;
    assert!(short.truncated && short.snapshot.len() <= 1000, "{}", short.snapshot);
    assert!(short.snapshot.starts_with("main\n"), "{}", short.snapshot);
    assert!(short.snapshot.contains("\"Do 0\"") && short.snapshot.contains(" more\n"));
    assert!(!short.snapshot.contains("\"Do 399\""));

    desk.run("scrollTo(0, 1e9)").await;
    let below = desk.snapshot(json!({ "max_bytes": 1000 })).await;
    assert!(below.snapshot.contains("\"Do 399\""), "{}", below.snapshot);
    assert!(!below.snapshot.contains("\"Do 0\""), "{}", below.snapshot);
}

#[tokio::test]
async fn long_lists_of_options_are_cut() {
    let options: String = (0..300).map(|number| format!("<option>Country {number}")).collect();
    let (desk, _server) = Desk::showing(&format!("<select>{options}</select>")).await;
    let text = desk.text().await;
    assert!(text.contains("Country 29 | … 270 more]: Country 0\n"), "{text}");
}
