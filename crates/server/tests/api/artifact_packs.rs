//! `artifact.*` packs.

use helmdeck_testkit::fake::FakeServer;
use serde_json::json;

use crate::outside::{ask, output};

#[tokio::test]
async fn a_text_is_stored_listed_read_in_parts_and_verified() {
    let server = FakeServer::start().await;
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let text = "# Notes\n\nééé";
    let put = json!({ "content": text, "kind": "markdown", "namespace": "my.notes" });
    let made = output(&ann, "artifact.put", &put).await;
    let key = made["artifact_key"].as_str().unwrap();
    assert!(key.starts_with("my.notes/") && key.ends_with("-document.md"), "{key}");
    assert_eq!((&made["content_type"], &made["size"]), (&json!("text/markdown"), &json!(15)));

    let listed = output(&ann, "artifact.list", &json!({ "namespace": "my.notes" })).await;
    assert_eq!((&listed["count"], &listed["truncated"]), (&json!(1), &json!(false)));
    assert_eq!(listed["artifacts"][0]["artifact_key"], key);
    assert_eq!(output(&bob, "artifact.list", &json!({})).await["count"], 0);

    let read = output(&ann, "artifact.get", &json!({ "artifact_key": key })).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!(text), &json!("utf-8")));
    let part = json!({ "artifact_key": key, "max_bytes": 10 });
    let read = output(&ann, "artifact.get", &part).await;
    assert_eq!((&read["content"], &read["next_offset"]), (&json!("# Notes\n\n"), &json!(9)));
    let rest = json!({ "artifact_key": key, "offset": 9 });
    let read = output(&ann, "artifact.get", &rest).await;
    assert_eq!((&read["content"], &read["truncated"]), (&json!("ééé"), &json!(false)));

    let absent = "my.notes/0123456789abcdef-none.md";
    let expected = json!([
        key, { "artifact_key": key, "size": 15, "sha256": read["sha256"] },
        { "artifact_key": key, "size": 1 }, absent, "nonsense",
    ]);
    let report = output(&ann, "artifact.verify_manifest", &json!({ "expected": expected })).await;
    assert_eq!((&report["all_present"], &report["verified"]), (&json!(false), &json!([key, key])));
    let missing = report["missing"].as_array().unwrap();
    assert_eq!(missing[0]["reason"], "it has 15 bytes instead of 1");
    assert_eq!((&missing[1]["artifact_key"], missing.len()), (&json!(absent), 3));
    let theirs = output(&bob, "artifact.verify_manifest", &json!({ "expected": [key] })).await;
    assert_eq!(theirs["all_present"], false);
}

#[tokio::test]
async fn bytes_are_base64_and_wrong_content_is_refused() {
    let server = FakeServer::start().await;
    let ann = server.client("ann", "sessions:*");
    let put = json!({ "content": "/wAB", "encoding": "base64", "kind": "binary" });
    let made = output(&ann, "artifact.put", &put).await;
    assert_eq!((&made["size"], &made["filename"]), (&json!(3), &json!("file.bin")));
    let key = &made["artifact_key"];
    let read = output(&ann, "artifact.get", &json!({ "artifact_key": key })).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!("/wAB"), &json!("base64")));
    for (pack, input, field) in [
        ("artifact.put", json!({ "content": "*", "encoding": "base64" }), "content"),
        ("artifact.put", json!({ "content": "{", "kind": "json" }), "content"),
        ("artifact.put", json!({ "content": "x", "namespace": "../x" }), "namespace"),
        ("artifact.get", json!({ "artifact_key": "nonsense" }), "artifact_key"),
        ("artifact.get", json!({ "artifact_key": key, "encoding": "utf-8" }), "encoding"),
        ("artifact.get", json!({ "artifact_key": key, "offset": 4 }), "offset"),
        ("artifact.list", json!({ "limit": 0 }), "limit"),
        ("artifact.verify_manifest", json!({ "expected": [] }), "expected"),
    ] {
        let refused = ask(&ann, pack, &input).await;
        assert_eq!(refused.json()["field"], field, "{pack} {input}");
        refused.expect_error(400, "invalid_input");
    }
    let absent = json!({ "artifact_key": "my.notes/0123456789abcdef-none.md" });
    ask(&ann, "artifact.get", &absent).await.expect_error(404, "artifact_not_found");
}
