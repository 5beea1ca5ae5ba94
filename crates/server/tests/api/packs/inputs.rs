//! Wrong input of every pack.

use helmdeck_testkit::{Client, fake::FakeServer};
use serde_json::{Value, json};

/// A value that no field of a pack accepts in place of this one.
fn of_wrong_type(right: &Value) -> Value {
    if right.is_object() { json!(7) } else { json!({ "wrong": [] }) }
}

async fn refused(client: &Client, pack: &str, input: &Value, field: &str) {
    let answer = client.post(&format!("/api/v1/packs/{pack}"), input).await;
    let (status, body) = (answer.status, answer.text());
    assert_eq!(status, 400, "{pack}: {field}: {body}");
    assert_eq!(answer.json()["field"], field, "{pack}: {body}");
    assert!(answer.json()["message"].as_str().unwrap().contains(field), "{pack}: {body}");
}

#[tokio::test]
async fn every_pack_names_the_field_that_is_unknown_missing_or_of_a_wrong_type() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let listed = ann.get("/api/v1/packs").await.expect(200).json();
    for pack in listed["packs"].as_array().unwrap() {
        let pack = pack["name"].as_str().unwrap();
        let shown = ann.get(&format!("/api/v1/packs/{pack}")).await.expect(200).json();
        let right = shown["examples"][0]["input"].as_object().unwrap();
        let with = |field: &str, value: Value| {
            let mut input = right.clone();
            input.insert(field.to_owned(), value);
            Value::Object(input)
        };
        refused(&ann, pack, &with("no_such_field", json!(1)), "no_such_field").await;
        refused(&ann, pack, &with("wait_s", json!({})), "wait_s").await;
        for field in right.keys().filter(|field| !field.starts_with('_')) {
            refused(&ann, pack, &with(field, of_wrong_type(&right[field])), field).await;
        }
        let required = shown["input_schema"]["required"].as_array().cloned().unwrap_or_default();
        for field in required.iter().map(|field| field.as_str().unwrap()) {
            let mut input = right.clone();
            assert!(input.remove(field).is_some(), "{pack}: its example lacks {field}");
            refused(&ann, pack, &Value::Object(input), field).await;
        }
    }
    assert_eq!(ann.get("/api/v1/jobs").await.expect(200).json()["count"], 0, "nothing ran");
}
