//! Small live pictures of many sessions.

use std::{collections::HashSet, time::Duration};

use helmdeck_testkit::{Desk, Process, Server, Wall};
use serde_json::json;

const CHROMIUM: &str = "/usr/lib/chromium/chromium ";
/// Far longer than a change takes to be seen.
const STILL: Duration = Duration::from_secs(3);

/// The size in a JPEG's frame header.
fn size(jpeg: &[u8]) -> (u32, u32) {
    let word = |at: usize| u32::from(jpeg[at]) << 8 | u32::from(jpeg[at + 1]);
    let mut at = 2;
    while !matches!(jpeg[at + 1], 0xc0..=0xc2) {
        at += 2 + word(at + 2) as usize;
    }
    (word(at + 7), word(at + 5))
}

#[tokio::test]
async fn the_wall_shows_requested_sessions_whenever_they_change() {
    let server = Server::start();
    let token = server.token("agent", "sessions:*");
    let client = server.bearer(token.clone());
    let desk = Desk::desktop(&client).await;
    desk.browse("<title>calm</title>", "calm").await;
    let headless = Desk::create(&client, &json!({})).await;
    let strange = server.client("other", "sessions:*");
    let theirs = Desk::create(&strange, &json!({})).await;
    let watched = [desk.id.as_str(), &headless.id, &theirs.id, "sess-none"];
    let mut wall = Wall::watch(&server, &token, &watched, 320).await;

    // First all current pictures. Then an unchanged screen sends nothing, except for a clock or a
    // caret that may change once more.
    let mut seen = HashSet::new();
    while let Some((id, jpeg)) = wall.next(STILL).await {
        assert_eq!(size(&jpeg).0, 320, "{id}");
        seen.insert(id);
    }
    assert_eq!(seen, HashSet::from([desk.id.clone(), headless.id.clone()]));
    assert_eq!(headless.describe().await["browser_view"]["status"], "ready", "it has no viewer");

    desk.browse("<title>other</title><body style='background:red'>", "other").await;
    wall.picture(&desk.id).await;
    let page = json!({ "url": "data:text/html,<body style='background:red'>" });
    headless.browser("navigate", page).await.expect(200);
    assert_eq!(size(&wall.picture(&headless.id).await).0, 320);
    while wall.next(STILL).await.is_some() {}

    // In a headless session, the restarted browser is shown, too.
    let processes = Process::in_sandboxes(&server.run_dir());
    let browsers = processes
        .iter()
        .filter(|one| one.command.starts_with(CHROMIUM) && one.command.contains("--headless=new"));
    browsers.for_each(Process::kill);
    wall.picture(&headless.id).await;
}
