//! A browser's debugging port, beside its pipe.

use std::time::Duration;

use helmdeck_cdp::{Cdp, CdpError, MAX_REQUEST};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::chromium::{Chromium, SOON, evaluation};

#[tokio::test]
async fn port_and_pipe_work_alike_and_at_the_same_time() {
    let (chromium, port) = Chromium::start_with_port().await;
    let cdp = Cdp::connect(&port, SOON).await.unwrap();
    assert!(cdp.is(&cdp.clone()) && !cdp.is(&chromium.cdp));

    // A page opened over the pipe is read over the port.
    let page = chromium.page().await;
    chromium.evaluate(&page, "document.title = 'shared'").await.unwrap();
    let attach = json!({ "targetId": page.target, "flatten": true });
    let attached: Value = cdp.call(None, "Target.attachToTarget", attach, SOON).await.unwrap();
    let session = attached["sessionId"].as_str().unwrap().into();
    let ask = async |expression: &str| {
        let params = evaluation(expression);
        let answer = cdp.call::<Value>(Some(&session), "Runtime.evaluate", params, SOON).await;
        answer.map(|answer| answer["result"]["value"].clone())
    };
    assert_eq!(ask("document.title").await.unwrap(), "shared");
    let long = 4 << 20;
    let large = ask(&format!("'{}' + 'x'.repeat({long})", "x".repeat(long))).await.unwrap();
    assert_eq!(large.as_str().unwrap().len(), 2 * long);
    let choking = ask(&"x".repeat(MAX_REQUEST)).await;
    assert!(matches!(choking, Err(CdpError::TooLarge)), "{choking:?}");

    // An outside client has a share of it, too.
    let client = cdp.client("", SOON).await.unwrap();
    client.send(r#"{"id":7,"method":"Browser.getVersion"}"#).await.unwrap();
    let answer = client.next().await.unwrap();
    assert!(answer.contains("\"id\":7") && answer.contains("Chrome"), "{answer}");
    drop(client);

    // Disconnecting from a port does not end the browser, and the browser's end is noticed.
    drop(Cdp::connect(&port, SOON).await.unwrap());
    chromium.evaluate(&page, "1").await.unwrap();
    chromium.kill();
    cdp.closed().await;
    assert!(matches!(ask("1").await, Err(CdpError::BrowserGone)));
    let gone = Cdp::connect(&port, SOON).await.err();
    assert!(matches!(gone, Some(CdpError::Unreachable(_))), "{gone:?}");
}

#[tokio::test]
async fn an_address_without_a_browser_is_refused_in_time() {
    for address in ["", "127.0.0.1:1", "wss://127.0.0.1:1/", "file:///etc/passwd", "ws:///x"] {
        let refused = Cdp::connect(address, SOON).await.err();
        assert!(matches!(refused, Some(CdpError::Unreachable(_))), "{address}: {refused:?}");
    }
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    for address in [format!("http://127.0.0.1:{port}"), format!("ws://127.0.0.1:{port}/x")] {
        let late = Cdp::connect(&address, Duration::from_millis(50)).await.err();
        assert!(matches!(late, Some(CdpError::Deadline { .. })), "{address}: {late:?}");
    }
}
