//! Pages and browsers that end during a call.

use std::{sync::Arc, time::Duration};

use helmdeck_browser::{AnyTab, Browser};
use helmdeck_cdp::Current;
use helmdeck_wire::ErrorCode;
use serde_json::json;
use tokio::join;

use crate::{
    chromium::{Chromium, SOON},
    desk::{Desk, failure, request},
};

#[tokio::test]
async fn a_call_ends_with_its_tab_and_others_go_on() {
    let desk = Desk::showing("<p>first").await;
    let first = desk.active().await;
    desk.tabs(json!({ "action": "open" })).await;
    let waiting = desk.wait_for(json!({ "text": "never", "tab": first }));
    let closing = async {
        let params = json!({ "targetId": first.0 });
        let method = "Target.closeTarget";
        desk.chromium.cdp.call::<serde_json::Value>(None, method, params, SOON).await.unwrap();
    };
    let (waited, ()) = join!(waiting, closing);
    let (code, _) = failure(waited);
    assert!(matches!(code, ErrorCode::PageCrashed | ErrorCode::TabNotFound), "{code}");
    assert_eq!(desk.value("1").await, 1);
}

#[tokio::test]
async fn a_crashed_page_is_reported_and_can_be_left() {
    let desk = Desk::showing("<p>first").await;
    let waiting = desk.click(json!({ "selector": "text=never" }));
    let crash = desk.navigate(json!({ "url": "chrome://crash" }));
    let (waited, crashed) = join!(waiting, crash);
    assert_eq!(failure(waited).0, ErrorCode::PageCrashed);
    crashed.unwrap_err();
    let (code, _) = failure(desk.extract(json!({})).await);
    assert_eq!(code, ErrorCode::PageCrashed);
    assert_eq!(desk.go("data:text/html,<title>well</title>again").await.title, "well");
    assert_eq!(desk.text("body").await, "again");
}

#[tokio::test]
async fn a_call_fails_with_its_browser_and_the_next_call_uses_another() {
    let desk = Desk::showing("<p>first").await;
    let waiting = desk.wait_for(json!({ "text": "never" }));
    let (waited, ()) = join!(waiting, async { desk.chromium.kill() });
    assert_eq!(failure(waited).0, ErrorCode::BrowserRestarted);

    let next =
        desk.navigate(json!({ "url": "data:text/html,<title>second</title>", "timeout_s": 60 }));
    let home = tempfile::tempdir().unwrap();
    let restart = async {
        let chromium = Chromium::start(home.path()).await;
        desk.current.set(chromium.cdp.clone());
        chromium
    };
    let (there, _second) = join!(next, restart);
    assert_eq!(there.unwrap().title, "second");
    assert_eq!(desk.tabs(json!({})).await.len(), 1);
}

#[tokio::test]
async fn another_browser_is_current_while_it_runs_and_earlier_state_is_kept() {
    let desk = Desk::showing("<button>ours</button>").await;
    let seen = desk.browser.snapshot(&request(json!({}))).await.unwrap().snapshot;
    let button = seen.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned();
    let tabs = desk.tabs(json!({})).await;

    let home = tempfile::tempdir().unwrap();
    let other = Chromium::start(home.path()).await;
    desk.current.add(other.cdp.clone());
    assert_eq!(desk.go("data:text/html,<title>theirs</title>").await.title, "theirs");
    assert_eq!(desk.tabs(json!({})).await.len(), 1);

    // It lives on without a page: a call that waits for one gets a page of the browser below.
    let mut any = AnyTab::of(&other.cdp, SOON).await.unwrap();
    assert_eq!(any.next().await, Some(true));
    desk.tabs(json!({ "action": "close" })).await;
    let put_away = async {
        assert_eq!(any.next().await, Some(false));
        desk.current.remove(&other.cdp);
    };
    let (read, ()) = join!(desk.extract(json!({ "selector": "button" })), put_away);
    assert_eq!(read.unwrap().content, "ours");
    let page = json!({ "url": "data:text/html,theirs again" });
    let method = "Target.createTarget";
    other.cdp.call::<serde_json::Value>(None, method, page, SOON).await.unwrap();
    assert_eq!(any.next().await, Some(true));
    desk.current.add(other.cdp.clone());
    desk.wait_for(json!({ "text": "theirs again" })).await.unwrap();

    other.kill();
    other.cdp.closed().await;
    assert_eq!(desk.tabs(json!({})).await, tabs);
    desk.click(json!({ "selector": format!("ref={button}") })).await.unwrap();
}

#[tokio::test]
async fn a_call_without_a_browser_fails_within_its_timeout() {
    let browser = Browser::new(Arc::new(Current::new()), "/nonexistent".into());
    let call = request(json!({ "timeout_s": 0.1 }));
    let call = tokio::time::timeout(Duration::from_secs(20), browser.extract(&call));
    assert_eq!(failure(call.await.unwrap()).0, ErrorCode::CdpUnavailable);
}

#[tokio::test]
async fn another_client_of_the_same_browser_is_not_disturbed() {
    let desk = Desk::showing("<p>ours").await;
    let client = desk.chromium.cdp.client("", SOON).await.unwrap();
    desk.tabs(json!({ "action": "open" })).await;
    desk.tabs(json!({ "action": "close" })).await;
    assert_eq!(desk.text("p").await, "ours");
    drop(client);
    assert_eq!(desk.text("p").await, "ours");
}
