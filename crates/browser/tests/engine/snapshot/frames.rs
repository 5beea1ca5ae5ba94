//! Nested frames, in any process.

use serde_json::json;

use super::desk::{Desk, assert_shows, ref_of};
use crate::server::{Reply, Server};

async fn framed() -> (Desk, Server) {
    let server = Server::start(|path| {
        Reply::page(match path {
            "/" => {
                "<title>Outer</title><h1>Top</h1><iframe title=Same src=/same></iframe>\
                <iframe title=Empty></iframe><p id=p>End</p><script>
                const there = document.createElement('iframe')
                there.title = 'Other'
                there.src = location.href.replace('127.0.0.1', 'localhost') + 'other'
                p.before(there)</script>"
            }
            "/same" => {
                "<button onclick=\"this.textContent = 'Done'\">Inner</button>\
                <iframe title=Deep srcdoc='<p>deep down</p>'></iframe>"
            }
            _ => "<button onclick=\"this.textContent = 'Done too'\">Foreign</button>",
        })
    })
    .await;
    let desk = Desk::start().await;
    desk.go(&server.url("/")).await;
    (desk, server)
}

#[tokio::test]
async fn frames_appear_at_their_position_on_the_page() {
    let (desk, _server) = framed().await;
    let snapshot = desk.snapshot(json!({})).await;
    assert_eq!(snapshot.title, "Outer");
    assert_shows(
        &snapshot.snapshot,
        r#"
heading "Top" [level=1]
iframe "Same"
  button "Inner" [ref=#]
  iframe "Deep"
    text: deep down
iframe "Empty"
iframe "Other"
  button "Foreign" [ref=#]
text: End"#
            .trim_start(),
    );
}

#[tokio::test]
async fn refs_and_parts_work_in_frames() {
    let (desk, _server) = framed().await;
    let snapshot = desk.text().await;
    for (name, done) in [("Inner", "\"Done\""), ("Foreign", "\"Done too\"")] {
        let name = ref_of(&snapshot, name);
        desk.click(&format!("ref={name}")).await.unwrap();
        assert_eq!(ref_of(&desk.text().await, done), name);
    }
    let part = desk.snapshot(json!({ "selector": "text=Done too" })).await.snapshot;
    assert_shows(&part, "button \"Done too\" [ref=#] [focused]");
    let part = desk.snapshot(json!({ "selector": "iframe[title=Same]" })).await.snapshot;
    assert!(part.starts_with("iframe \"Same\"\n  button \"Done\""), "{part}");
}
