//! The vault: who sees, manages and uses credentials, and that secrets stay inside.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_store::{
    Store,
    vault::{Destination, Encoding, KeySource, Redactor, Vault, VaultError, VaultSetup, key_file},
};
use helmdeck_testkit::{Answer, Client, fake::FakeServer};
use helmdeck_wire::Caller;
use http::Method;
use serde_json::{Value, json};

use crate::log_capture::Log;

const PATH: &str = "/api/v1/vault/credentials";
const SECRET: &str = "ghp_0123456789abcdefSECRET";

fn wanted(name: &str) -> Value {
    json!({ "name": name, "type": "api_key", "host_pattern": "api.github.com", "value": SECRET })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

async fn put(client: &Client, path: &str, body: &Value) -> Answer {
    client.send(Method::PUT, path, &[], body.to_string().into()).await
}

/// Adds a credential, and returns its path.
async fn added(client: &Client, name: &str) -> String {
    let made = client.post(PATH, &wanted(name)).await.expect(201).json();
    format!("{PATH}/{}", made["id"].as_str().unwrap())
}

/// A vault on the data directory of a server, as a pack in that server has it.
async fn vault_of(dir: &Path) -> Vault {
    let store = Store::open(dir).await.unwrap();
    let key = KeySource::File(key_file(dir));
    Vault::open(&store, VaultSetup { key, old: None, environment: Vec::new() }).await.unwrap()
}

fn agent(subject: &str) -> Caller {
    Caller { subject: subject.into(), scopes: vec!["sessions:*".into()], ..Caller::default() }
}

#[tokio::test]
async fn a_credential_is_added_shown_rotated_and_deleted_without_its_secret() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    let body = with(wanted("github-token"), "metadata", json!({ "note": "read only" }));
    let made = ann.post(PATH, &body).await.expect(201);
    assert!(!made.text().contains(SECRET));
    let made = made.json();
    assert!(made["id"].as_str().unwrap().starts_with("cred_"), "{made}");
    assert_eq!((&made["owner"], &made["type"]), (&json!("ann"), &json!("api_key")));
    assert_eq!(made["metadata"], json!({ "note": "read only" }));
    assert_eq!(made["fingerprint"].as_str().unwrap().len(), 16);
    assert!(made.get("value").is_none() && made.get("path_pattern").is_none());
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(ann.get(&path).await.expect(200).json(), made);
    let list = ann.get(&format!("{PATH}?type=api_key")).await.expect(200).json();
    assert_eq!((&list["count"], &list["credentials"][0]), (&json!(1), &made));
    assert_eq!(ann.get(&format!("{PATH}?type=ssh")).await.json()["count"], 0);

    let base64 = json!({ "plaintext_b64": BASE64_STANDARD.encode("another secret") });
    let rotated = put(&ann, &path, &base64).await.expect(200).json();
    assert_ne!(rotated["fingerprint"], made["fingerprint"]);
    ann.delete(&path).await.expect(204);
    ann.get(&path).await.expect_error(404, "not_found");
    ann.delete(&path).await.expect_error(404, "not_found");
}

#[tokio::test]
async fn what_is_wrong_is_refused_without_repeating_the_secret() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    ann.post(PATH, &wanted("taken")).await.expect(201);
    ann.post(PATH, &wanted("taken")).await.expect_error(409, "duplicate");
    let base64 = |text: &str| {
        let mut body = with(wanted("a"), "plaintext_b64", json!(text));
        body.as_object_mut().unwrap().remove("value");
        body
    };
    for (body, code) in [
        (with(wanted("a"), "value", json!("hun")), "invalid_input"),
        (with(wanted("a"), "value", json!([SECRET])), "invalid_input"),
        (with(wanted("a"), "value", json!(SECRET.repeat(3000))), "invalid_input"),
        (with(wanted("a"), "plaintext_b64", json!("aGFsbG8=")), "invalid_input"),
        (with(wanted("a"), "type", json!("password")), "invalid_input"),
        (with(wanted("a"), "type", json!("totp")), "invalid_input"),
        (with(wanted("a"), "secret", json!(SECRET)), "invalid_input"),
        (with(wanted("a"), "path_pattern", json!("v1")), "invalid_input"),
        (with(wanted("a"), "metadata", json!({ "x": "y".repeat(9000) })), "invalid_input"),
        (wanted("a b"), "invalid_input"),
        (wanted(""), "invalid_input"),
        (base64("not base64 ghp_"), "invalid_plaintext_b64"),
        (json!({ "name": "a", "type": "api_key", "host_pattern": "a.example" }), "invalid_input"),
    ] {
        let refused = ann.post(PATH, &body).await;
        let text = refused.text().to_owned();
        refused.expect_error(400, code);
        assert!(!text.contains("ghp_"), "{text}");
    }
    for pattern in [
        "*",
        "*.com",
        "a.*.com",
        "*example.com",
        "https://a.example",
        "a.example/x",
        "a b.example",
        "user@a.example",
        ".example.com",
        "a..example",
        "bücher.example",
        "a.example:0",
        "a.example:99999",
        "",
    ] {
        let body = with(wanted("a"), "host_pattern", json!(pattern));
        let message = ann.post(PATH, &body).await.expect_error(400, "invalid_input");
        assert!(message.contains("host_pattern"), "{message}");
    }
    for pattern in ["localhost", "127.0.0.1:8080", "*.example.com", "API.Example.com"] {
        let name = pattern.replace(['*', ':'], "x");
        let body = with(wanted(&name), "host_pattern", json!(pattern));
        let made = ann.post(PATH, &body).await.expect(201).json();
        assert_eq!(made["host_pattern"], pattern.to_ascii_lowercase());
    }
}

#[tokio::test]
async fn credentials_do_not_exist_for_anyone_but_their_owner_and_admins() {
    let server = FakeServer::start().await;
    let (ann, bob) = (server.client("ann", "vault:*"), server.client("bob", "vault:*"));
    let path = added(&ann, "github-token").await;
    assert_eq!(bob.get(PATH).await.json()["count"], 0);
    let grant = json!({ "actor_subject": "bob" });
    bob.get(&path).await.expect_error(404, "not_found");
    put(&bob, &path, &json!({ "value": "other" })).await.expect_error(404, "not_found");
    bob.post(&format!("{path}/grants"), &grant).await.expect_error(404, "not_found");
    bob.get(&format!("{path}/grants")).await.expect_error(404, "not_found");
    bob.get(&format!("{path}/usage")).await.expect_error(404, "not_found");
    bob.delete(&path).await.expect_error(404, "not_found");
    let for_ann = with(wanted("x"), "owner", json!("ann"));
    bob.post(PATH, &for_ann).await.expect_error(403, "forbidden");

    let admin = server.admin();
    admin.get(&path).await.expect(200);
    assert_eq!(admin.post(PATH, &for_ann).await.expect(201).json()["owner"], "ann");
    assert_eq!(ann.get(PATH).await.json()["count"], 2);
    // The same name may belong to several owners.
    added(&bob, "github-token").await;
}

#[tokio::test]
async fn an_agents_token_reaches_no_credential() {
    let server = FakeServer::start().await;
    let path = added(&server.client("ann", "vault:*"), "github-token").await;
    let agent = server.client("ann", "sessions:*");
    agent.get(PATH).await.expect_error(403, "forbidden");
    agent.get(&path).await.expect_error(403, "forbidden");
    agent.post(PATH, &wanted("a")).await.expect_error(403, "forbidden");
    let by_name = "/api/v1/tools/vault.credential_list";
    agent.post(by_name, &json!({})).await.expect_error(403, "forbidden");
    let reader = server.client("ann", "vault:read");
    reader.get(&path).await.expect(200);
    reader.delete(&path).await.expect_error(403, "forbidden");
    reader.post("/api/v1/vault/rekey", &json!({})).await.expect_error(403, "forbidden");
}

#[tokio::test]
async fn nothing_is_granted_to_everyone_unless_an_admin_does() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    let path = added(&ann, "github-token").await;
    let grants = format!("{path}/grants");
    let listed = ann.get(&grants).await.expect(200).json();
    assert_eq!(
        (&listed["count"], &listed["grants"][0]["actor_subject"]),
        (&json!(1), &json!("ann"))
    );

    let everyone = json!({ "actor_subject": "*" });
    ann.post(&grants, &everyone).await.expect_error(403, "forbidden");
    ann.post(&grants, &json!({})).await.expect_error(400, "missing_subject");
    ann.post(&grants, &json!({ "actor_subject": "" })).await.expect_error(400, "missing_subject");
    let bob = json!({ "actor_subject": "bob", "actor_client": "ci" });
    assert_eq!(ann.post(&grants, &bob).await.expect(201).json(), json!({ "ok": true }));
    server.admin().post(&grants, &everyone).await.expect(201);
    let listed = ann.get(&grants).await.json();
    let subjects: Vec<_> = listed["grants"].as_array().unwrap().iter().collect();
    assert_eq!(subjects.len(), 3);
    assert!(subjects.iter().any(|it| it["actor_client"] == "ci"), "{listed}");

    ann.delete(&format!("{grants}/bob")).await.expect_error(404, "not_found");
    ann.delete(&format!("{grants}/bob?client=ci")).await.expect(204);
    ann.delete(&format!("{grants}/*")).await.expect(204);
    assert_eq!(ann.get(&grants).await.json()["count"], 1);
}

#[tokio::test]
async fn an_attempt_by_another_caller_or_for_another_host_is_refused_and_listed() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    let path = added(&ann, "github-token").await;
    let vault = vault_of(&server.data_dir()).await;
    let to = |host| Destination { host, port: Some(443), path: "/user" };
    let used = async |by, host| vault.resolve(&agent(by), "github-token", to(host)).await;
    used("ann", "api.github.com").await.unwrap();
    assert!(matches!(used("ann", "evil.example").await, Err(VaultError::NotForHost { .. })));
    let refused = used("bob", "api.github.com").await.unwrap_err();
    assert!(refused.to_string().starts_with("vault: github-token not found"), "{refused}");

    let usage = ann.get(&format!("{path}/usage")).await.expect(200).json();
    let seen: Vec<_> = usage["usage"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let text = |name: &str| it[name].as_str().unwrap().to_owned();
            [text("actor_subject"), text("host_matched"), text("path_matched"), text("result")]
        })
        .collect();
    assert_eq!(
        seen,
        [
            ["bob", "api.github.com", "/user", "denied"],
            ["ann", "evil.example", "/user", "no_match"],
            ["ann", "api.github.com", "/user", "allowed"],
        ]
    );
    assert!(ann.get(&path).await.json()["last_used_at"].is_string());
}

#[tokio::test]
async fn a_variable_of_the_server_is_listed_without_its_value() {
    let server = FakeServer::start_with(&[("HELMDECK_FAL_KEY", SECRET)]).await;
    let ann = server.client("ann", "vault:*");
    let list = ann.get(PATH).await.expect(200);
    assert!(!list.text().contains(SECRET));
    let it = &list.json()["credentials"][0];
    assert_eq!((&it["name"], &it["source"]), (&json!("fal-key"), &json!("environment")));
    assert_eq!(it["host_pattern"], "fal.run");
    let refused = ann.delete(&format!("{PATH}/env_fal-key")).await;
    assert!(refused.expect_error(400, "invalid_input").contains("HELMDECK_FAL_KEY"));
}

#[tokio::test]
async fn the_key_is_replaced_while_the_server_runs_unless_it_is_configured() {
    let mut server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    added(&ann, "github-token").await;
    let before = fs::read(key_file(&server.data_dir())).unwrap();
    let rekeyed = server.admin().post("/api/v1/vault/rekey", &json!({})).await.expect(200).json();
    assert_eq!(rekeyed, json!({ "key_version": 2, "credentials": 1 }));
    assert_ne!(fs::read(key_file(&server.data_dir())).unwrap(), before);
    added(&ann, "second").await;
    server.stop().await;
    server.restart().await;
    let vault = vault_of(&server.data_dir()).await;
    for name in ["github-token", "second"] {
        let secret = vault.resolve(&agent("ann"), name, "api.github.com").await.unwrap();
        assert_eq!(secret.text().unwrap(), SECRET);
    }

    let key = "a".repeat(64);
    let server = FakeServer::start_with(&[("HELMDECK_VAULT_KEY", key.as_str())]).await;
    let refused = server.admin().post("/api/v1/vault/rekey", &json!({})).await;
    let message = refused.expect_error(400, "invalid_input");
    assert!(message.contains("HELMDECK_VAULT_KEY_OLD"), "{message}");
}

#[tokio::test]
async fn a_secret_that_was_used_is_in_no_reply_file_or_log_line() {
    let log = Log::begin();
    let mut server = FakeServer::start().await;
    let ann = server.client("ann", "vault:*");
    let mut replies = Vec::new();
    let made = ann.post(PATH, &wanted("github-token")).await.expect(201);
    let path = format!("{PATH}/{}", made.json()["id"].as_str().unwrap());
    replies.push(made);
    replies.push(ann.post(PATH, &wanted("github-token")).await);
    replies.push(ann.post(PATH, &with(wanted("b"), "host_pattern", json!("*"))).await);
    replies.push(ann.post("/api/v1/tools/vault.credential_create", &wanted("c")).await);
    replies.push(put(&ann, &path, &json!({ "value": SECRET })).await);
    let broken = format!("{{\"value\": \"{SECRET}\", ");
    replies.push(ann.send(Method::POST, PATH, &[], broken.into()).await);

    let vault = vault_of(&server.data_dir()).await;
    let (text, to) = ("Bearer ${vault:github-token}", Destination::from("api.github.com"));
    let mut redactor = Redactor::default();
    let sent = vault.substitute(&agent("ann"), text, Encoding::Plain, to, &mut redactor).await;
    let sent = sent.unwrap();
    assert_eq!(sent, format!("Bearer {SECRET}"));
    assert_eq!(redactor.apply(&format!("echo: {sent}")), "echo: Bearer •••");
    for further in ["", "/grants", "/usage"] {
        replies.push(ann.get(&format!("{path}{further}")).await);
    }
    replies.push(ann.get(PATH).await);
    replies.push(server.admin().post("/api/v1/vault/rekey", &json!({})).await);
    for reply in &replies {
        assert!(!reply.text().contains(SECRET), "{}", reply.text());
    }
    server.stop().await;
    drop(vault);
    let holds = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    let mut files = 0;
    for file in fs::read_dir(server.data_dir()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            files += 1;
            assert!(!holds(&fs::read(&path).unwrap()), "{}", path.display());
        }
    }
    assert!(files >= 2, "the database and the key");
    let log = log.text();
    assert!(log.len() > 1000, "the log is not empty");
    assert!(!holds(log.as_bytes()), "{log}");
}
