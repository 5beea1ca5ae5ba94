//! Requests of a browser that reports events in any order.

use serde_json::{Value, json, value::RawValue};

use super::*;

fn tab() -> TabId {
    TabId("tab".into())
}

fn tell(network: &mut Network, method: &str, params: Value) {
    tell_of(1, network, method, params);
}

fn tell_of(browser: u64, network: &mut Network, method: &str, params: Value) {
    let params = RawValue::from_string(params.to_string()).unwrap();
    let event = Event { method: format!("Network.{method}"), params: Some(params) };
    network.record_event(browser, &tab(), &event, OffsetDateTime::UNIX_EPOCH);
}

fn begin(network: &mut Network, name: &str, at: f64) {
    let request = json!({ "url": format!("http://u:p@a/{name}"), "method": "GET", "headers": {} });
    let params = json!({
        "requestId": name, "loaderId": "l", "documentURL": "http://a/", "request": request,
        "timestamp": at, "wallTime": 1000.0 + at, "type": "Fetch",
    });
    tell(network, "requestWillBeSent", params);
}

fn list(network: &Network, wanted: Value) -> NetworkLog {
    network.read(&serde_json::from_value(wanted).unwrap())
}

fn urls(log: &NetworkLog) -> Vec<&str> {
    log.requests.iter().map(|request| request.url.as_str()).collect()
}

#[test]
fn changed_requests_are_listed_again() {
    let mut network = Network::default();
    begin(&mut network, "a", 1.0);
    begin(&mut network, "b", 2.0);
    let first = list(&network, json!({}));
    assert_eq!(urls(&first), ["http://a/a", "http://a/b"]);
    assert_eq!(first.requests[0].ms, None);

    tell(
        &mut network,
        "loadingFinished",
        json!({ "requestId": "a", "timestamp": 1.25,
        "encodedDataLength": 7.0 }),
    );
    let since = list(&network, json!({ "since": first.next }));
    assert_eq!(urls(&since), ["http://a/a"]);
    assert_eq!((since.requests[0].ms, since.requests[0].bytes), (Some(250), Some(7)));
    assert!(list(&network, json!({ "since": since.next })).requests.is_empty());

    // In parts, no request is repeated or skipped.
    let part = list(&network, json!({ "since": 0, "limit": 1 }));
    let rest = list(&network, json!({ "since": part.next, "limit": 1 }));
    assert_eq!((urls(&part), urls(&rest)), (vec!["http://a/b"], vec!["http://a/a"]));
}

#[test]
fn extra_headers_are_matched_to_their_hop_in_any_order() {
    let mut network = Network::default();
    let extra = |cookie: &str| json!({ "requestId": "a", "headers": { "Cookie": cookie } });
    let came = |status: u16| json!({ "requestId": "a", "headers": {}, "statusCode": status });
    tell(&mut network, "requestWillBeSentExtraInfo", extra("1"));
    begin(&mut network, "a", 1.0);
    tell(&mut network, "requestWillBeSentExtraInfo", extra("2"));
    tell(&mut network, "responseReceivedExtraInfo", came(302));
    let request = json!({ "url": "http://a/2", "method": "GET", "headers": {} });
    let response = json!({ "status": 302, "headers": {} });
    tell(
        &mut network,
        "requestWillBeSent",
        json!({
            "requestId": "a", "request": request, "timestamp": 2.0, "wallTime": 1002.0,
            "redirectResponse": response, "redirectHasExtraInfo": true,
        }),
    );
    tell(
        &mut network,
        "responseReceived",
        json!({
            "requestId": "a", "timestamp": 3.0, "type": "Fetch", "hasExtraInfo": true,
            "response": { "status": 200, "headers": {} },
        }),
    );
    tell(&mut network, "responseReceivedExtraInfo", came(304));
    let hops: Vec<_> = network.requests.iter().collect();
    let facts =
        |request: &Request| (request.sent.get("cookie").map(str::to_owned), request.status());
    assert_eq!(facts(hops[0]), (Some("1".to_owned()), Some(302)));
    assert_eq!(facts(hops[1]), (Some("2".to_owned()), Some(304)));
    assert_eq!(hops[0].ended, Some(2.0));
}

#[test]
fn a_hop_without_network_passes_extra_headers_to_the_next() {
    let mut network = Network::default();
    begin(&mut network, "a", 1.0);
    tell(
        &mut network,
        "requestWillBeSentExtraInfo",
        json!({ "requestId": "a", "headers": { "Cookie": "2" } }),
    );
    tell(
        &mut network,
        "requestWillBeSent",
        json!({
            "requestId": "a", "request": { "url": "https://a/", "method": "GET", "headers": {} },
            "redirectResponse": { "status": 307 }, "redirectHasExtraInfo": false,
        }),
    );
    assert_eq!(network.requests[1].sent.get("cookie"), Some("2"));
    assert_eq!(network.requests[0].status(), Some(307));
}

#[test]
fn memory_is_bounded_for_any_number_of_requests() {
    let mut network = Network::default();
    for number in 0..(MAX_REQUESTS + 500) {
        begin(&mut network, &number.to_string(), number as f64);
        tell(
            &mut network,
            "requestWillBeSentExtraInfo",
            json!({ "requestId": format!("never {number}"), "headers": {} }),
        );
    }
    assert_eq!(network.requests.len(), MAX_REQUESTS);
    assert_eq!(network.hops.len(), MAX_REQUESTS);
    let log = list(&network, json!({ "limit": 1 }));
    assert_eq!((log.dropped, urls(&log)), (500, vec!["http://a/4499"]));
    assert_eq!(list(&network, json!({ "since": log.next })).dropped, 0);

    let long = "x".repeat(MAX_POSTED);
    for number in 0..MAX_BYTES / MAX_POSTED + 20 {
        let request = json!({ "url": "http://a/", "method": "POST", "postData": long });
        let name = format!("post {number}");
        tell(&mut network, "requestWillBeSent", json!({ "requestId": name, "request": request }));
    }
    assert!(network.bytes <= MAX_BYTES, "{}", network.bytes);
    let measured: usize = network.requests.iter().map(Request::size).sum();
    assert_eq!(network.bytes, measured);
    assert_eq!(network.hops.len(), network.requests.len());
    assert_eq!(network.pages.list().len(), 1);
}

#[test]
fn request_bodies_of_a_person_are_not_recorded() {
    let mut network = Network::default();
    for private in [true, false] {
        network.private = private;
        let request = json!({ "url": "http://a/", "method": "POST", "postData": "password" });
        let name = private.to_string();
        tell(&mut network, "requestWillBeSent", json!({ "requestId": name, "request": request }));
    }
    let posted: Vec<_> = network.requests.iter().map(|request| request.posted.clone()).collect();
    assert_eq!(posted, [None, Some("password".to_owned())]);
}

#[test]
fn open_requests_of_a_closed_tab_fail() {
    let mut network = Network::default();
    begin(&mut network, "a", 1.0);
    network.lost(&TabId("other".into()), "closed");
    assert!(list(&network, json!({ "failed": true })).requests.is_empty());
    network.lost(&tab(), "closed");
    let failed = list(&network, json!({ "failed": true }));
    assert_eq!(failed.requests[0].error.as_deref(), Some("closed"));
}

#[test]
fn request_ids_are_unique_only_within_one_browser() {
    let mut network = Network::default();
    begin(&mut network, "a", 1.0);
    let request = json!({ "url": "http://b/", "method": "GET", "headers": {} });
    let begun = json!({ "requestId": "a", "request": request, "timestamp": 2.0 });
    let headers = json!({ "requestId": "a", "headers": { "Cookie": "b" } });
    let ended = json!({ "requestId": "a", "timestamp": 3.0 });
    tell_of(2, &mut network, "requestWillBeSentExtraInfo", headers);
    tell_of(2, &mut network, "requestWillBeSent", begun);
    tell_of(2, &mut network, "loadingFinished", ended);
    assert_eq!(urls(&list(&network, json!({}))), ["http://a/a", "http://b/"]);
    let facts = |request: &Request| (request.sent.get("cookie").map(str::to_owned), request.ended);
    assert_eq!(facts(&network.requests[0]), (None, None));
    assert_eq!(facts(&network.requests[1]), (Some("b".to_owned()), Some(3.0)));
}
