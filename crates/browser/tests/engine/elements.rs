//! The elements of a page as a list, with long texts, and waiting for news of a page.

use std::time::Duration;

use helmdeck_browser::{Exposure, PageElement};
use serde_json::json;
use tokio::time::timeout;

use crate::desk::Desk;

const WITHIN: Duration = Duration::from_secs(10);

async fn listed(desk: &Desk, wanted: Option<&str>) -> Vec<PageElement> {
    desk.browser.elements(None, wanted, WITHIN).await.unwrap().elements
}

/// The texts that contain what is wanted, as it is written.
async fn with(desk: &Desk, wanted: &str) -> Vec<String> {
    let all = listed(desk, Some(&wanted.to_lowercase())).await;
    let all = all.into_iter().map(|element| element.name);
    all.filter(|name| name.contains(wanted)).collect()
}

#[tokio::test]
async fn a_wanted_part_of_a_long_text_is_listed() {
    let words = "lorem ipsum ".repeat(30);
    let more = "dolor sit amet ".repeat(120);
    let desk = Desk::showing(&format!(
        "<p>{words} The Needle is here {words}</p><p>{more} A <b>second</b> Thread {more}</p>\
         <div>{more}<p>Inner Needle case</p></div>"
    ))
    .await;
    let found = with(&desk, "The Needle is").await;
    assert!(found.len() == 1 && found[0].chars().count() < 400, "{found:?}");
    // Spread over elements, in a text that is otherwise left to its parts.
    let found = with(&desk, "A second Thread").await;
    assert!(found.len() == 1 && found[0].starts_with('…'), "{found:?}");
    // The innermost element is the one that has it.
    assert_eq!(with(&desk, "Inner Needle").await, ["Inner Needle case"]);
    // Otherwise long texts are cut as before.
    assert!(listed(&desk, None).await.iter().all(|it| !it.name.contains("Needle is")));
}

#[tokio::test]
async fn elements_have_role_name_value_states_and_a_place() {
    let desk = Desk::showing(
        "<label>Mail <input id=mail value=ada required></label>\
         <label><input type=checkbox checked> Gift</label><button disabled>Pay</button>\
         <input type=password value=secret aria-label=Key>\
         <div style='margin-top: 4000px'><button>Deep</button></div>",
    )
    .await;
    let all = listed(&desk, None).await;
    let named = |role: &str, name: &str| {
        let found = all.iter().find(|it| it.role == role && it.name == name);
        found.unwrap_or_else(|| panic!("no {role} {name:?} in {all:#?}"))
    };
    let mail = named("textbox", "Mail");
    assert_eq!((mail.value.as_str(), &mail.states[..]), ("ada", &["required".to_owned()][..]));
    assert_eq!(named("checkbox", "Gift").states, ["checked"]);
    assert_eq!(named("button", "Pay").states, ["disabled"]);
    assert_eq!(named("textbox", "Key").value, "");
    let deep = named("button", "Deep");
    assert_eq!(deep.exposure, Exposure::Away);
    assert!(mail.rect[2] > 50.0 && mail.exposure == Exposure::Visible);
    // A ref names the same element again.
    let again = listed(&desk, None).await;
    assert!(again.iter().any(|it| it.reference == deep.reference && it.name == "Deep"));
}

#[tokio::test]
async fn a_watch_hears_what_happens_between_the_call_and_the_wait() {
    let desk = Desk::showing("<title>One</title>").await;
    let watch = desk.browser.watch(None).await.unwrap();
    let news = watch.news();
    desk.show("<title>Two</title>").await;
    timeout(WITHIN, news).await.unwrap();
}

#[tokio::test]
async fn a_watch_tells_scrolling_focus_and_changes_of_the_document() {
    let desk = Desk::showing(
        "<input id=field><p id=out>a</p><div style='height: 3000px'></div><p id=deep>b</p>",
    )
    .await;
    let watch = desk.browser.watch(None).await.unwrap();
    let quiet = watch.changes().await;
    assert!(!quiet.changed_out_of_view && !quiet.scrolled && !quiet.focus_moved, "{quiet:?}");
    let script = "document.getElementById('deep').textContent = 'c'";
    desk.execute(json!({ "script": script })).await.unwrap();
    assert!(watch.changes().await.changed_out_of_view);
}
