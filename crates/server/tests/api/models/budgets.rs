//! Budgets of callers and runs, records and their deletion.

use helmdeck_testkit::{Answer, Client, FakeVendors};
use http::Method;
use serde_json::{Value, json};

use super::{CHAT, ann, chat, server, used};

async fn ask(client: &Client, model: &str, headers: &[(&str, &str)]) -> Answer {
    client.send(Method::POST, CHAT, headers, chat(model, "hi").to_string().into()).await
}

async fn put(client: &Client, path: &str, body: &Value) -> Answer {
    client.send(Method::PUT, path, &[], body.to_string().into()).await
}

#[tokio::test]
async fn a_call_that_could_exceed_a_budget_is_refused_before_it_is_made() {
    let vendors = FakeVendors::start().await;
    let limit = [("HELMDECK_MODEL_DAILY_TOKENS", "200")];
    let server = server(&vendors, &["openai"], &limit).await;
    let (ann, bob) = (ann(&server), server.client("bob", "models:use"));
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(200);
    used(&ann, "gpt-4o-mini", 1).await;
    // 120 tokens are used, and 50 more of output could follow.
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(200);
    used(&ann, "gpt-4o-mini", 2).await;
    let refused = ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(402).json();
    assert_eq!(refused["error"]["code"], "budget_exceeded");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the budget of the caller is 200 tokens: 240 are used"), "{message}");
    assert_eq!(vendors.count("openai"), 2);
    // Another caller has its own. Each answer that one request asks for counts.
    let several = json!({ "n": 100 });
    let mut body = chat("openai/gpt-4o-mini", "hi");
    body.as_object_mut().unwrap().extend(several.as_object().unwrap().clone());
    let refused = bob.post(CHAT, &body).await.expect(402).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("this call could use 50"), "{message}");
    ask(&bob, "openai/gpt-4o-mini", &[]).await.expect(200);
    let mine = ann.get("/api/v1/models/budget").await.expect(200).json();
    assert_eq!((&mine["used_tokens"], &mine["daily_tokens"]), (&json!(240), &json!(200)));
    assert_eq!(mine["own"], false);
    // A day later, it can go on.
    server.clock.advance(std::time::Duration::from_secs(25 * 3600));
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(200);
}

#[tokio::test]
async fn an_admin_sets_and_removes_the_budget_of_a_caller() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let (ann, admin) = (ann(&server), server.admin());
    let path = "/api/v1/models/budgets/ann";
    put(&ann, path, &json!({})).await.expect_error(403, "forbidden");
    let made = put(&admin, path, &json!({ "daily_usd": 0.0 })).await.expect(200).json();
    assert_eq!((&made["daily_usd"], &made["own"]), (&json!(0.0), &json!(true)));
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(402);
    // A model whose price is not known could cost anything.
    put(&admin, path, &json!({ "daily_usd": 5.0 })).await.expect(200);
    let refused = ask(&ann, "openai/unpriced", &[]).await.expect(402).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the price of openai/unpriced is not known"), "{message}");
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(200);
    put(&admin, path, &json!({ "daily_usd": -1 })).await.expect_error(400, "invalid_input");
    assert_eq!(admin.get("/api/v1/models/budgets").await.expect(200).json()["count"], 1);
    admin.delete(path).await.expect(204);
    admin.delete(path).await.expect_error(404, "not_found");
    ask(&ann, "openai/unpriced", &[]).await.expect(200);
    let audit = admin.get("/api/v1/audit?event_type=model.budget_set").await.expect(200).json();
    assert!(audit.to_string().contains("ann"), "{audit}");
}

#[tokio::test]
async fn a_run_has_a_budget_that_no_other_run_or_caller_uses_up() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let (ann, bob) = (ann(&server), server.client("bob", "models:use"));
    let run = [("x-helmdeck-run", "task-1"), ("x-helmdeck-run-tokens", "130")];
    ask(&ann, "openai/gpt-4o-mini", &run).await.expect(200);
    used(&ann, "gpt-4o-mini", 1).await;
    let refused = ask(&ann, "openai/gpt-4o-mini", &run).await.expect(402).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("of the run is 130 tokens"));
    ask(&bob, "openai/gpt-4o-mini", &run).await.expect(200);
    let other = [("x-helmdeck-run", "task-2"), run[1]];
    ask(&ann, "openai/gpt-4o-mini", &other).await.expect(200);
    let money = [("x-helmdeck-run", "task-3"), ("x-helmdeck-run-usd", "0.00001")];
    let refused = ask(&ann, "openai/gpt-4o-mini", &money).await.expect(402).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("this call could cost $"));
    let bad = [("x-helmdeck-run", "a b")];
    ask(&ann, "openai/gpt-4o-mini", &bad).await.expect(400);
}

#[tokio::test]
async fn usage_is_shown_to_its_caller_and_to_admins_and_erased_by_admins() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let (ann, bob, admin) = (ann(&server), server.client("bob", "models:use"), server.admin());
    ask(&ann, "openai/gpt-4o-mini", &[]).await.expect(200);
    ask(&bob, "openai/gpt-4o-mini", &[]).await.expect(200);
    used(&admin, "gpt-4o-mini", 2).await;
    used(&ann, "gpt-4o-mini", 1).await;
    ann.get("/api/v1/models/usage?caller=bob").await.expect_error(403, "forbidden");
    let stats = admin.get("/api/v1/providers/stats?window=1h&caller=bob").await.expect(200).json();
    assert_eq!((&stats["rows"][0]["total"], &stats["count"]), (&json!(1), &json!(1)));
    for bad in ["1w", "100d", "0h", "h"] {
        let path = format!("/api/v1/models/usage?window={bad}");
        ann.get(&path).await.expect_error(400, "invalid_input");
    }
    ann.delete("/api/v1/models/usage?caller=ann").await.expect_error(403, "forbidden");
    let erased = admin.delete("/api/v1/models/usage?caller=ann").await.expect(200).json();
    assert_eq!(erased["calls"], 1);
    assert_eq!(ann.get("/api/v1/models/usage").await.expect(200).json()["count"], 0);
    used(&bob, "gpt-4o-mini", 1).await;
}

#[tokio::test]
async fn what_is_recorded_has_neither_prompt_nor_answer() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let body = chat("openai/gpt-4o-mini", "a prompt that nobody else reads");
    ann(&server).post(CHAT, &body).await.expect(200);
    used(&ann(&server), "gpt-4o-mini", 1).await;
    let mut stored = Vec::new();
    for name in ["helmdeck.db", "helmdeck.db-wal"] {
        stored.extend(std::fs::read(server.data_dir().join(name)).unwrap_or_default());
    }
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.contains("gpt-4o-mini"), "the call itself is there");
    for text in ["nobody else reads", "Hello from openai", FakeVendors::KEY] {
        assert!(!stored.contains(text), "{text}");
    }
}
