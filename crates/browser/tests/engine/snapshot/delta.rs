//! Deltas between snapshots.

use serde_json::json;

use super::desk::{Desk, assert_shows};

const PAGE: &str = r#"<main><h1>List</h1><form aria-label=Add><input aria-label=What>
    <button>Add</button></form><ul id=list><li>one<li>two<li>three</ul>
    <p>Some text that stays as it is.</p><p>And more of that, so that it is worth it.</p></main>"#;

#[tokio::test]
async fn only_changed_lines_are_returned() {
    let (desk, _server) = Desk::showing(PAGE).await;
    let first = desk.snapshot(json!({})).await;
    let same = desk.snapshot(json!({ "since": first.id })).await;
    assert!(same.delta && same.id > first.id);
    assert_eq!(same.snapshot, "nothing has changed\n");

    desk.run(
        "document.querySelector('input').value = 'four'; list.firstChild.remove();
         list.append(Object.assign(document.createElement('li'), { textContent: 'four' }));
         document.querySelector('form').insertAdjacentHTML('beforeend', '<div role=alert>Too many</div>')",
    )
    .await;
    let changed = desk.snapshot(json!({ "since": first.id })).await;
    assert!(changed.delta && !changed.truncated);
    assert_shows(
        &changed.snapshot,
        r#" main
-  - one
   form "Add"
~    textbox "What" [ref=#]: four
+    alert: Too many
+  - four"#,
    );
    // Nothing changed since the newer one, and the older one is still known.
    let since = async |id: u64| desk.snapshot(json!({ "since": id })).await;
    assert_eq!(since(changed.id).await.snapshot, "nothing has changed\n");
    assert_eq!(since(first.id).await.snapshot, changed.snapshot);
}

#[tokio::test]
async fn the_whole_page_is_returned_if_shorter_or_without_a_known_snapshot() {
    let (desk, server) = Desk::showing(PAGE).await;
    let first = desk.snapshot(json!({})).await;
    let unknown = desk.snapshot(json!({ "since": 999 })).await;
    assert!(!unknown.delta && unknown.snapshot == first.snapshot);
    let part = desk.snapshot(json!({ "since": first.id, "selector": "form" })).await;
    assert!(!part.delta && part.snapshot.starts_with("form"));

    desk.run("document.body.innerHTML = '<button>All new</button>'").await;
    let new = desk.snapshot(json!({ "since": first.id })).await;
    assert!(!new.delta);
    assert_shows(&new.snapshot, "button \"All new\" [ref=#]");

    // The same page loaded again is another document.
    desk.go(&server.url("/")).await;
    let again = desk.snapshot(json!({ "since": first.id })).await;
    assert!(!again.delta);

    // Only the latest few are kept.
    for _ in 0..5 {
        desk.snapshot(json!({})).await;
    }
    assert!(!desk.snapshot(json!({ "since": again.id })).await.delta);
}

#[tokio::test]
async fn a_sorted_list_has_changed() {
    let rows: String = (0..9).map(|row| format!("<tr><td>row {row}<td>cell")).collect();
    let (desk, _server) = Desk::showing(&format!("<table id=t aria-label=T>{rows}</table>")).await;
    let first = desk.snapshot(json!({})).await;
    desk.run("t.tBodies[0].append(t.rows[0])").await;
    let moved = desk.snapshot(json!({ "since": first.id })).await;
    assert_eq!((moved.delta, moved.snapshot.as_str()), (true, " table \"T\"\n~  | row 0 | cell\n"));
}
