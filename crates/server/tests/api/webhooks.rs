//! Webhooks: delivery, signatures, attempts, dead letters and restarts, with fake guests.

pub mod receiver;

use std::{fs, process::Stdio, time::Duration};

use helmdeck_testkit::{Client, Site, eventually, fake::FakeServer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::{
    mcp::modern,
    packs::{echo, headless, sleep},
};
use receiver::Receiver;

const SOON: Duration = Duration::from_secs(20);
const SECRET: &str = "a webhook secret of the tests";

/// A server that may reach receivers on the loopback.
async fn server() -> FakeServer {
    FakeServer::start_with(&[Site::REACHABLE]).await
}

fn to(receiver: &Receiver, mut input: Value) -> Value {
    input["webhook_url"] = json!(receiver.url());
    input["webhook_secret"] = json!(SECRET);
    input
}

/// Runs `cmd.run` and returns its handle.
async fn run(client: &Client, input: &Value) -> String {
    let job = client.post("/api/v1/packs/cmd.run", input).await.expect(202).json();
    assert_eq!(job["state"], "working", "{job}");
    job["job_id"].as_str().unwrap().to_owned()
}

async fn delivery(client: &Client, job: &str) -> Value {
    let path = format!("/api/v1/webhooks/deliveries?job_id={job}");
    let listed = client.get(&path).await.expect(200).json();
    assert_eq!(listed["count"], 1, "{listed}");
    listed["deliveries"][0].clone()
}

/// Waits until a delivery has this state and number of attempts.
async fn reaches(client: &Client, job: &str, state: &str, attempts: u64) -> Value {
    let reached = async || {
        let delivery = delivery(client, job).await;
        (delivery["state"] == state && delivery["attempts"] == attempts).then_some(delivery)
    };
    let reached = eventually(SOON, reached).await;
    match reached {
        Some(delivery) => delivery,
        None => panic!("not {state} after {attempts}: {}", delivery(client, job).await),
    }
}

#[tokio::test]
async fn a_result_is_delivered_with_both_signatures_and_the_secret_is_nowhere() {
    let (server, receiver) = (server().await, Receiver::start(&[]).await);
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let job = run(&ann, &to(&receiver, echo(&session))).await;
    let message = receiver.message(0).await;
    assert!(message.is_signed_by(SECRET.as_bytes()));
    assert!(!message.is_signed_by(b"another secret"));
    assert_eq!(message.header("x-helmdeck-signature"), message.plain_signature(SECRET));
    for (name, value) in [
        ("content-type", "application/json"),
        ("user-agent", "helmdeck-webhook/1.0"),
        ("x-helmdeck-event", "pack.complete"),
        ("x-helmdeck-job-id", &job),
        ("x-helmdeck-task-id", &format!("pack_{job}")),
        ("x-helmdeck-delivery-attempt", "1"),
    ] {
        assert_eq!(message.header(name), value, "{name}");
    }
    let body = message.json();
    assert_eq!((&body["job_id"], &body["state"]), (&json!(job), &json!("completed")));
    assert_eq!(body["result"]["structuredContent"]["output"]["exit_code"], 0, "{body}");

    let delivery = reaches(&ann, &job, "delivered", 1).await;
    assert_eq!((&delivery["last_status"], &delivery["signed"]), (&json!(204), &json!(true)));
    assert_eq!(delivery["id"], message.header("webhook-id"));
    let shown = ann.get(&format!("/api/v1/jobs/{job}")).await.expect(200).text();
    assert!(!shown.contains(SECRET) && !delivery.to_string().contains(SECRET));
    assert!(!String::from_utf8_lossy(&message.body).contains(SECRET));
    for file in ["helmdeck.db", "helmdeck.db-wal"] {
        let bytes = fs::read(server.data_dir().join(file)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{file}");
    }
}

#[tokio::test]
async fn a_receiver_that_is_down_gets_the_same_message_later() {
    let (server, receiver) = (server().await, Receiver::start(&[500, 503]).await);
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let job = run(&ann, &to(&receiver, echo(&session))).await;
    let first = receiver.message(0).await;
    let waiting = reaches(&ann, &job, "pending", 1).await;
    assert!(waiting["last_error"].as_str().unwrap().contains("500"), "{waiting}");
    server.clock.advance(Duration::from_secs(5));
    let second = receiver.message(1).await;
    assert_eq!(second.header("x-helmdeck-delivery-attempt"), "2");
    reaches(&ann, &job, "pending", 2).await;
    server.clock.advance(Duration::from_secs(30));
    let third = receiver.message(2).await;
    reaches(&ann, &job, "delivered", 3).await;
    assert_eq!((&first.body, &second.body), (&second.body, &third.body));
    assert_eq!(first.header("webhook-id"), third.header("webhook-id"));
    assert!(third.is_signed_by(SECRET.as_bytes()), "with another timestamp");
}

#[tokio::test]
async fn a_refused_message_is_a_dead_letter_that_can_be_replayed_by_its_owner() {
    let (server, receiver) = (server().await, Receiver::start(&[404]).await);
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let session = headless(&ann).await;
    let job = run(&ann, &to(&receiver, echo(&session))).await;
    let dead = reaches(&ann, &job, "dead", 1).await;
    let list = |state: &str| format!("/api/v1/webhooks/deliveries?state={state}");
    for (client, count) in [(&ann, 1), (&bob, 0), (&server.admin(), 1)] {
        assert_eq!(client.get(&list("dead")).await.expect(200).json()["count"], count);
    }
    assert_eq!(ann.get(&list("pending")).await.expect(200).json()["count"], 0);
    let path = format!("/api/v1/webhooks/deliveries/{}/replay", dead["id"].as_str().unwrap());
    bob.post(&path, &json!({})).await.expect_error(404, "not_found");
    let replayed = ann.post(&path, &json!({})).await.expect(200).json();
    assert_eq!(replayed["attempts"], 0, "{replayed}");
    reaches(&ann, &job, "delivered", 1).await;
    assert_eq!(receiver.count(), 2);
}

#[tokio::test]
async fn receivers_of_one_owner_that_hang_do_not_delay_those_of_others() {
    let server = server().await;
    let (hanging, receiver) = (Receiver::silent().await, Receiver::start(&[]).await);
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let (of_ann, of_bob) = (headless(&ann).await, headless(&bob).await);
    for _ in 0..20 {
        let job = run(&ann, &to(&hanging, echo(&of_ann))).await;
        reaches(&ann, &job, "pending", 0).await;
    }
    hanging.message(3).await;
    let job = run(&bob, &to(&receiver, echo(&of_bob))).await;
    reaches(&bob, &job, "delivered", 1).await;
    assert_eq!(hanging.count(), 4, "the others wait for their turn");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (server, receiver) = (server().await, Receiver::start(&[307]).await);
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let job = run(&ann, &to(&receiver, echo(&session))).await;
    let dead = reaches(&ann, &job, "dead", 1).await;
    assert!(dead["last_error"].as_str().unwrap().contains("redirects are not followed"), "{dead}");
    assert_eq!(receiver.count(), 1);
}

#[tokio::test]
async fn a_receiver_in_a_private_network_is_not_reached_unless_it_is_allowed() {
    let (server, receiver) = (FakeServer::start().await, Receiver::start(&[]).await);
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let job = run(&ann, &to(&receiver, echo(&session))).await;
    let dead = reaches(&ann, &job, "dead", 1).await;
    assert!(dead["last_error"].as_str().unwrap().starts_with("egress denied"), "{dead}");
    assert_eq!(receiver.count(), 0);
}

#[tokio::test]
async fn a_delivery_survives_a_kill_of_the_server() {
    let (mut server, receiver) = (server().await, Receiver::start(&[500]).await);
    let session = headless(&server.client("ann", "sessions:*")).await;
    let job = run(&server.client("ann", "sessions:*"), &to(&receiver, echo(&session))).await;
    reaches(&server.client("ann", "sessions:*"), &job, "pending", 1).await;
    server.kill().await;
    server.restart().await;
    server.clock.advance(Duration::from_secs(10));
    let ann = server.client("ann", "sessions:*");
    reaches(&ann, &job, "delivered", 2).await;
    assert!(receiver.message(1).await.is_signed_by(SECRET.as_bytes()));
}

#[tokio::test]
async fn a_job_that_a_kill_interrupted_reports_its_failure() {
    let (mut server, receiver) = (server().await, Receiver::start(&[]).await);
    let session = headless(&server.client("ann", "sessions:*")).await;
    let job = {
        let ann = server.client("ann", "sessions:*");
        let job = run(&ann, &to(&receiver, sleep(&session))).await;
        assert_eq!(delivery(&ann, &job).await["state"], "waiting");
        let id = delivery(&ann, &job).await["id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/webhooks/deliveries/{id}/replay");
        ann.post(&path, &json!({})).await.expect_error(409, "not_ready");
        let began = async || {
            let shown = ann.get(&format!("/api/v1/jobs/{job}")).await.expect(200).json();
            (!shown["started_at"].is_null()).then_some(())
        };
        eventually(SOON, began).await.expect("it begins");
        job
    };
    server.kill().await;
    server.restart().await;
    let message = receiver.message(0).await;
    assert_eq!(message.header("x-helmdeck-event"), "pack.failed");
    let body = message.json();
    assert_eq!((&body["job_id"], &body["error"]["isError"]), (&json!(job), &json!(true)));
    assert!(body["error"]["content"][0]["text"].as_str().unwrap().contains("server stopped"));
}

#[tokio::test]
async fn a_webhook_is_checked_before_anything_runs() {
    let server = server().await;
    let ann = server.client("ann", "sessions:*");
    for (field, webhook) in [
        ("webhook_url", json!({ "webhook_secret": SECRET })),
        ("webhook_url", json!({ "webhook_url": "ftp://a.example/" })),
        ("webhook_url", json!({ "webhook_url": "http://me:pass@a.example/" })),
        ("webhook_secret", json!({ "webhook_url": "http://a.example/", "webhook_secret": "x" })),
        (
            "webhook_secret",
            json!({ "webhook_url": "http://a.example/", "webhook_secret": "whsec_?" }),
        ),
    ] {
        let mut input = echo("sess-none");
        input.as_object_mut().unwrap().extend(webhook.as_object().unwrap().clone());
        let answer = ann.post("/api/v1/packs/cmd.run", &input).await;
        assert_eq!(answer.json()["field"], field, "{webhook} {}", answer.text());
        assert!(!answer.text().contains(SECRET));
        answer.expect_error(400, "invalid_input");
    }
    assert_eq!(ann.get("/api/v1/jobs").await.expect(200).json()["count"], 0);
}

#[tokio::test]
async fn a_repeated_call_is_reported_once_and_only_to_its_own_webhook() {
    let (server, receiver) = (server().await, Receiver::start(&[]).await);
    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut input = to(&receiver, echo(&session));
    input["idempotency_key"] = json!("k1");
    let job = run(&ann, &input).await;
    reaches(&ann, &job, "delivered", 1).await;
    let again = ann.post("/api/v1/packs/cmd.run", &input).await.expect(200).json();
    assert_eq!(again["job_id"], job, "the result is there by now");
    input["webhook_url"] = json!("http://other.example/");
    let answer = ann.post("/api/v1/packs/cmd.run", &input).await;
    assert_eq!(answer.json()["field"], "idempotency_key");
    assert_eq!(receiver.count(), 1);
}

#[tokio::test]
async fn mcp_clients_pass_a_webhook_and_get_a_handle() {
    let (server, receiver) = (server().await, Receiver::start(&[]).await);
    let session = headless(&server.client("ann", "sessions:*")).await;
    let client = modern(&server, "ann");
    let reply = client.call("cmd-run", to(&receiver, echo(&session))).await;
    let task = &reply["_meta"]["modelcontextprotocol.io/related-task"]["taskId"];
    assert_eq!(receiver.message(0).await.header("x-helmdeck-task-id"), task.as_str().unwrap());
    let start = json!({
        "pack": "cmd.run", "input": echo(&session),
        "webhook_url": receiver.url(), "webhook_secret": SECRET,
    });
    client.ok("pack-start", start).await;
    assert!(receiver.message(1).await.is_signed_by(SECRET.as_bytes()));
}

#[tokio::test]
async fn the_example_passes_a_result_on_to_openclaw() {
    let (server, openclaw) = (server().await, Receiver::start(&[]).await);
    let example =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/webhook-openclaw/callback.py");
    let mut callback = Command::new("python3")
        .arg(example)
        .env("HELMDECK_WEBHOOK_SECRET", SECRET)
        .env("OPENCLAW_HOOKS_TOKEN", "hooks-token")
        .env("OPENCLAW_URL", format!("http://{}", openclaw.address))
        .env("CALLBACK_PORT", "0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(callback.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(SOON, lines.next_line()).await.unwrap().unwrap().unwrap();
    let url = line.rsplit(' ').next().unwrap();

    let ann = server.client("ann", "sessions:*");
    let session = headless(&ann).await;
    let mut input = echo(&session);
    input["webhook_url"] = json!(url);
    input["webhook_secret"] = json!(SECRET);
    let job = run(&ann, &input).await;
    reaches(&ann, &job, "delivered", 1).await;
    let passed = openclaw.message(0).await;
    assert_eq!(passed.header("authorization"), "Bearer hooks-token");
    let body = passed.json();
    let text = body["text"].as_str().unwrap();
    assert!(text.contains("cmd.run has ended: completed") && text.contains(&job), "{text}");

    input["webhook_secret"] = json!("not the secret of the receiver");
    let refused = run(&ann, &input).await;
    assert_eq!(reaches(&ann, &refused, "dead", 1).await["last_status"], 401);
    assert_eq!(openclaw.count(), 1);
    callback.kill().await.unwrap();
}
