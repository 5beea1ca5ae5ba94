//! Restarts and changes of the current browser.

use std::time::Duration;

use helmdeck_cdp::{CdpError, Current};
use serde_json::{Value, json};

use crate::chromium::{Chromium, SOON};

#[tokio::test]
async fn a_call_waits_for_a_running_browser() {
    let current = Current::new();
    let none = current.get(Duration::from_millis(10)).await.err();
    assert!(matches!(none, Some(CdpError::BrowserGone)), "{none:?}");

    let first = Chromium::start().await;
    current.set(first.cdp.clone());
    let cdp = current.get(SOON).await.unwrap();
    first.kill();
    cdp.closed().await;
    let gone = current.get(Duration::from_millis(10)).await.err();
    assert!(matches!(gone, Some(CdpError::BrowserGone)), "{gone:?}");

    let second = async {
        let second = Chromium::start().await;
        current.set(second.cdp.clone());
        second
    };
    let (found, _second) = tokio::join!(current.get(SOON), second);
    let answer = found.unwrap().call::<Value>(None, "Browser.getVersion", json!({}), SOON).await;
    answer.unwrap();

    current.clear();
    assert!(current.get(Duration::from_millis(10)).await.is_err());
}

#[tokio::test]
async fn the_newest_running_browser_is_current() {
    let current = Current::new();
    let (own, port) = Chromium::start_with_port().await;
    let other = async || helmdeck_cdp::Cdp::connect(&port, SOON).await.unwrap();
    let newest = async || current.get(SOON).await.unwrap();
    current.set(own.cdp.clone());
    assert!(newest().await.is(&own.cdp) && current.is_own(&own.cdp));

    let first = other().await;
    let added = async { current.add(first.clone()) };
    tokio::join!(current.changed(&own.cdp), added);
    assert!(newest().await.is(&first) && !current.is_own(&first));
    let second = other().await;
    current.add(second.clone());
    assert!(newest().await.is(&second));
    // The session's own browser is available all the time.
    assert!(current.own(SOON).await.unwrap().is(&own.cdp));

    // Removing a lower one changes nothing; removing the newest makes the one below current again.
    current.remove(&first);
    assert!(newest().await.is(&second));
    current.add(first.clone());
    let removed = async { current.remove(&first) };
    tokio::join!(current.changed(&first), removed);
    assert!(newest().await.is(&second));
    current.remove(&second);
    assert!(newest().await.is(&own.cdp));

    // They end with the browser; then there is none.
    current.add(second.clone());
    own.kill();
    current.changed(&second).await;
    own.cdp.closed().await;
    assert!(current.get(Duration::from_millis(10)).await.is_err());
}
