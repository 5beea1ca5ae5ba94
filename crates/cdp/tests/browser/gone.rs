//! Calls fail at once when their target or browser ends: no test here reaches a deadline.

use helmdeck_cdp::CdpError;
use serde_json::json;
use tokio::join;

use crate::chromium::{Chromium, NEVER};

#[tokio::test]
async fn a_call_ends_with_its_page() {
    let chromium = Chromium::start().await;
    for expression in [NEVER, "for (;;);"] {
        let (page, other) = (chromium.page().await, chromium.page().await);
        let slow = "new Promise(done => setTimeout(() => done(1), 300))";
        let (lost, kept, ()) = join!(
            chromium.evaluate(&page, expression),
            chromium.evaluate(&other, slow),
            chromium.close(&page),
        );
        assert!(matches!(lost, Err(CdpError::TargetGone)), "{lost:?}");
        assert_eq!(kept.unwrap(), 1);
        let after = chromium.evaluate(&page, "1").await;
        assert!(matches!(after, Err(CdpError::TargetGone)), "{after:?}");
    }
}

#[tokio::test]
async fn a_call_ends_with_its_session() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let params = json!({ "sessionId": page.session });
    let (lost, detached) = join!(
        chromium.evaluate(&page, NEVER),
        chromium.ask(None, "Target.detachFromTarget", params),
    );
    assert!(matches!(lost, Err(CdpError::TargetGone)), "{lost:?}");
    detached.unwrap();
    let again = chromium.attach(&page.target).await;
    assert_eq!(chromium.evaluate(&again, "1").await.unwrap(), 1);
}

#[tokio::test]
async fn a_call_ends_when_its_page_crashes_and_the_page_can_be_loaded_again() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let (lost, crashed) =
        join!(chromium.evaluate(&page, NEVER), chromium.ask(Some(&page), "Page.crash", json!({})),);
    assert!(matches!(lost, Err(CdpError::TargetGone)), "{lost:?}");
    assert!(matches!(crashed, Err(CdpError::TargetGone)), "{crashed:?}");

    let load = json!({ "url": "data:text/html,again" });
    chromium.ask(Some(&page), "Page.navigate", load).await.unwrap();
    assert_eq!(chromium.evaluate(&page, "location.pathname").await.unwrap(), "text/html,again");

    let (lost, _) = join!(
        chromium.evaluate(&page, NEVER),
        chromium.ask(Some(&page), "Page.navigate", json!({ "url": "chrome://crash" })),
    );
    assert!(matches!(lost, Err(CdpError::TargetGone)), "{lost:?}");
}

#[tokio::test]
async fn all_calls_end_with_the_browser() {
    let chromium = Chromium::start().await;
    let page = chromium.page().await;
    let mut events = chromium.cdp.events(Some(&page.session));
    assert!(!chromium.cdp.is_closed());
    let (one, two, ()) =
        join!(chromium.evaluate(&page, NEVER), chromium.evaluate(&page, NEVER), async {
            chromium.kill()
        },);
    assert!(matches!(one, Err(CdpError::BrowserGone)), "{one:?}");
    assert!(matches!(two, Err(CdpError::BrowserGone)), "{two:?}");
    chromium.cdp.closed().await;
    assert!(chromium.cdp.is_closed());
    assert!(events.next().await.is_none());
    assert!(chromium.cdp.events(None).next().await.is_none());
    let after = chromium.ask(None, "Browser.getVersion", json!({})).await;
    assert!(matches!(after, Err(CdpError::BrowserGone)), "{after:?}");
}

#[tokio::test]
async fn browser_close_is_answered() {
    let chromium = Chromium::start().await;
    chromium.ask(None, "Browser.close", json!({})).await.unwrap();
    chromium.cdp.closed().await;
}
