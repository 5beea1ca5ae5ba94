//! One browser after the other.

use std::time::Duration;

use helmdeck_cdp::{CdpError, Current};
use serde_json::{Value, json};

use crate::chromium::{Chromium, SOON};

#[tokio::test]
async fn whoever_asks_for_the_browser_gets_one_that_is_there() {
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
