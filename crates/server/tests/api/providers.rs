//! Keys of providers: who adds, uses, tests, replaces and deletes them.

use helmdeck_testkit::{Client, FakeVendors, fake::FakeServer};
use serde_json::{Value, json};

use crate::models::{CHAT, ann, chat, server};

const PATH: &str = "/api/v1/providers/keys";

async fn add(client: &Client, provider: &str, key: &str) -> Value {
    let body = json!({ "provider": provider, "key": key, "label": "work" });
    let made = client.post(PATH, &body).await.expect(201);
    assert!(!made.text().contains(key), "{}", made.text());
    made.json()
}

async fn asks(client: &Client, status: u16) {
    client.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await.expect(status);
}

#[tokio::test]
async fn a_key_that_an_admin_adds_works_at_once_for_everyone_until_it_is_deleted() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &[], &[]).await;
    let (ann, admin) = (ann(&server), server.admin());
    asks(&ann, 503).await;
    let made = add(&admin, "openai", FakeVendors::KEY).await;
    assert_eq!((&made["provider"], &made["label"]), (&json!("openai"), &json!("work")));
    asks(&ann, 200).await;
    let id = made["id"].as_str().unwrap();
    let listed = admin.get(&format!("{PATH}?provider=openai")).await.expect(200).json();
    assert_eq!((&listed["count"], &listed["keys"][0]["id"]), (&json!(1), &json!(id)));
    let tested = admin.post(&format!("{PATH}/{id}/test"), &json!({})).await.expect(200).json();
    assert_eq!(tested["ok"], true, "{tested}");
    let again = json!({ "provider": "openai", "key": "another key" });
    admin.post(PATH, &again).await.expect_error(409, "duplicate");

    let rotate = json!({ "key": "sk-wrong" });
    let path = format!("{PATH}/{id}/rotate");
    let rotated = admin.post(&path, &rotate).await.expect(200).json();
    assert_ne!(rotated["fingerprint"], made["fingerprint"]);
    asks(&ann, 400).await;
    let tested = admin.post("/api/v1/providers/openai/test", &json!({})).await.expect(200).json();
    assert_eq!(tested["ok"], false);
    assert!(tested["error"].as_str().unwrap().contains("401"), "{tested}");
    admin.post(&path, &json!({ "key": FakeVendors::KEY })).await.expect(200);
    asks(&ann, 200).await;
    admin.delete(&format!("{PATH}/{id}")).await.expect(204);
    asks(&ann, 503).await;
}

#[tokio::test]
async fn a_caller_adds_keys_for_itself_only_and_they_come_first() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &[], &[]).await;
    let (bob, admin) = (server.client("bob", "models:use,vault:*"), server.admin());
    add(&bob, "openai", FakeVendors::KEY).await;
    asks(&bob, 200).await;
    asks(&ann(&server), 503).await;
    add(&admin, "openai", "sk-of-the-admin-but-wrong").await;
    asks(&bob, 200).await;
    asks(&ann(&server), 400).await;
    let shared = json!({ "provider": "groq", "key": "some key", "shared": true });
    bob.post(PATH, &shared).await.expect_error(403, "forbidden");
    assert_eq!(bob.get(PATH).await.expect(200).json()["count"], 1);
}

#[tokio::test]
async fn testing_a_key_by_its_id_tests_that_key_and_not_the_one_of_the_caller() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["groq"], &[]).await;
    let (bob, admin) = (server.client("bob", "models:use,vault:*"), server.admin());
    let bobs = add(&bob, "openai", "sk-of-bob-but-wrong").await;
    let admins = add(&admin, "openai", FakeVendors::KEY).await;
    let test = async |client: &Client, id: &Value| {
        let path = format!("{PATH}/{}/test", id.as_str().unwrap());
        client.post(&path, &json!({})).await.expect(200).json()["ok"].clone()
    };
    assert_eq!(test(&admin, &admins["id"]).await, true);
    assert_eq!(test(&admin, &bobs["id"]).await, false);
    assert_eq!(test(&bob, &bobs["id"]).await, false);
    // Others than admins manage, and test, their own only.
    let path = format!("{PATH}/{}/test", admins["id"].as_str().unwrap());
    bob.post(&path, &json!({})).await.expect_error(404, "not_found");
    let listed = admin.get(&format!("{PATH}?provider=groq")).await.expect(200).json();
    assert_eq!(test(&admin, &listed["keys"][0]["id"]).await, true);
}

#[tokio::test]
async fn a_key_in_a_variable_is_listed_and_cannot_be_changed_here() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &["openai"], &[]).await;
    let admin = server.admin();
    let listed = admin.get(PATH).await.expect(200).json();
    assert_eq!(listed["keys"][0]["source"], "environment", "{listed}");
    let id = listed["keys"][0]["id"].as_str().unwrap();
    let refused = admin.delete(&format!("{PATH}/{id}")).await;
    assert!(refused.text().contains("HELMDECK_OPENAI_API_KEY"), "{}", refused.text());
}

#[tokio::test]
async fn a_key_is_only_sent_to_the_host_it_was_added_for() {
    let vendors = FakeVendors::start().await;
    let server = server(&vendors, &[], &[]).await;
    let admin = server.admin();
    let body = json!({
        "name": "openai-key", "type": "api_key", "host_pattern": "api.openai.com",
        "value": FakeVendors::KEY,
    });
    admin.post("/api/v1/vault/credentials", &body).await.expect(201);
    let refused = admin.post(CHAT, &chat("openai/gpt-4o-mini", "hi")).await;
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("may not be sent to 127.0.0.1"), "{message}");
    assert_eq!(vendors.count("openai"), 0);
}

#[tokio::test]
async fn what_is_wrong_with_a_key_is_told_without_repeating_it() {
    let server = FakeServer::start().await;
    let admin = server.admin();
    for (body, field) in [
        (json!({ "provider": "nobody", "key": "hunter22" }), "provider"),
        (json!({ "provider": "ollama", "key": "hunter22" }), "provider"),
        (json!({ "provider": "openai" }), "key"),
        (json!({ "provider": "openai", "key": ["hunter22"] }), "key"),
    ] {
        let refused = admin.post(PATH, &body).await.expect(400);
        assert!(!refused.text().contains("hunter22"), "{}", refused.text());
        assert_eq!(refused.json()["field"], field, "{}", refused.text());
    }
    admin.get(&format!("{PATH}/cred_none")).await.expect_error(404, "not_found");
    // A credential that is not a provider's key is none here.
    let other =
        json!({ "name": "github-key", "type": "api_key", "host_pattern": "a.b", "value": "x1x1" });
    let made = admin.post("/api/v1/vault/credentials", &other).await.expect(201).json();
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    admin.get(&path).await.expect_error(404, "not_found");
}
