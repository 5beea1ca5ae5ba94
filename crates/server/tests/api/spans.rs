//! Spans for OpenTelemetry, as a collector gets them.

use std::time::Duration;

use helmdeck_testkit::{Client, FakeVendors, eventually, fake::FakeServer};
use http::Method;
use serde_json::{Value, json};

use crate::{
    models::{CHAT, chat, server},
    packs::{echo, headless},
    webhooks::receiver::Receiver,
};

const SOON: Duration = Duration::from_secs(20);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

async fn traced(vendors: &FakeVendors, collector: &Receiver) -> FakeServer {
    let endpoint = format!("http://{}", collector.address);
    let more = [
        ("HELMDECK_OTLP_ENDPOINT", endpoint.as_str()),
        ("HELMDECK_OTLP_HEADERS", "authorization=Bearer of-the-collector"),
    ];
    server(vendors, &["openai"], &more).await
}

/// All spans that arrived.
async fn spans(collector: &Receiver) -> Vec<Value> {
    let mut all = Vec::new();
    for index in 0..collector.count() {
        let body = collector.message(index).await.json();
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        all.extend(spans.as_array().unwrap().iter().cloned());
    }
    all
}

/// Waits for a span.
async fn span(collector: &Receiver, name: &str) -> Value {
    let found = async || spans(collector).await.into_iter().find(|span| span["name"] == name);
    match eventually(SOON, found).await {
        Some(span) => span,
        None => panic!("no span {name}: {:?}", spans(collector).await),
    }
}

fn attribute(span: &Value, key: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == key);
    found.map_or(Value::Null, |attribute| attribute["value"].clone())
}

async fn ask(client: &Client, words: &str, headers: &[(&str, &str)]) -> u16 {
    let body = chat("openai/gpt-4o-mini", words).to_string();
    client.send(Method::POST, CHAT, headers, body.into()).await.status
}

#[tokio::test]
async fn a_call_of_a_model_is_a_span_in_the_trace_of_its_caller() {
    let (vendors, collector) = (FakeVendors::start().await, Receiver::start(&[]).await);
    let server = traced(&vendors, &collector).await;
    let ann = server.client("ann", "models:use");
    let parent = format!("00-{TRACE}-{PARENT}-01");
    let status = ask(&ann, "the words of a prompt", &[("traceparent", &parent)]).await;
    assert_eq!(status, 200);

    let call = span(&collector, "chat gpt-4o-mini").await;
    let request = span(&collector, "v1_chat_completions").await;
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!((&call["traceId"], &call["parentSpanId"]), (&json!(TRACE), &request["spanId"]));
    assert_eq!((&request["kind"], &call["kind"]), (&json!(2), &json!(3)));
    assert_eq!(attribute(&request, "http.route"), json!({ "stringValue": CHAT }));
    let status = attribute(&request, "http.response.status_code");
    assert_eq!(status, json!({ "intValue": "200" }));
    assert_eq!(attribute(&call, "gen_ai.provider.name"), json!({ "stringValue": "openai" }));
    let used = attribute(&call, "gen_ai.usage.input_tokens");
    assert_ne!(used["intValue"], json!("0"), "{call}");

    let message = collector.message(0).await;
    assert_eq!(message.header("authorization"), "Bearer of-the-collector");
    assert_eq!(message.header("content-type"), "application/json");
    for index in 0..collector.count() {
        let text = collector.message(index).await.json().to_string();
        assert!(!text.contains("words of a prompt") && !text.contains("sk-"), "{text}");
    }
}

#[tokio::test]
async fn a_job_is_a_span_of_the_request_that_started_it() {
    let (vendors, collector) = (FakeVendors::start().await, Receiver::start(&[]).await);
    let server = traced(&vendors, &collector).await;
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    ann.post("/api/v1/packs/cmd.run", &echo(&session)).await.expect(200);
    let job = span(&collector, "job cmd.run").await;
    let of_job = |span: &Value| span["spanId"] == job["parentSpanId"];
    assert!(
        spans(&collector).await.iter().any(of_job) || {
            let found = async || spans(&collector).await.into_iter().find(of_job);
            eventually(SOON, found).await.is_some()
        }
    );
    assert_eq!(attribute(&job, "helmdeck.pack"), json!({ "stringValue": "cmd.run" }));
    assert!(attribute(&job, "helmdeck.job.id")["stringValue"].is_string(), "{job}");
}

#[tokio::test]
async fn a_collector_that_fails_gets_its_spans_later_and_delays_nothing() {
    let (vendors, collector) = (FakeVendors::start().await, Receiver::start(&[503]).await);
    let server = traced(&vendors, &collector).await;
    assert_eq!(ask(&server.client("ann", "models:use"), "hi", &[]).await, 200);
    let first = collector.message(0).await.json();
    // The same batch again.
    assert_eq!(collector.message(1).await.json(), first);
}
