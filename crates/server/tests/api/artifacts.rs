//! Artifacts: owners, uploads, ranges, links, quotas, and what browsers make of them.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_testkit::{Answer, Client, eventually, fake::FakeServer};
use http::Method;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(20);
const HOUR: Duration = Duration::from_secs(3600);
const UPLOAD: &str = "/api/v1/artifacts/upload";

/// Uploads content as the body.
async fn upload(client: &Client, name: &str, kind: &str, content: impl Into<Bytes>) -> Answer {
    let path = format!("{UPLOAD}?filename={name}");
    client.send(Method::POST, &path, &[("content-type", kind)], content.into()).await
}

/// The key of an uploaded text.
async fn stored(client: &Client, name: &str, text: &'static str) -> String {
    let answer = upload(client, name, "text/plain", text).await.expect(201).json();
    answer["artifact_key"].as_str().unwrap().to_owned()
}

async fn download(client: &Client, key: &str) -> Answer {
    client.get(&format!("/api/v1/artifacts/download/{key}")).await
}

async fn names(client: &Client, query: &str) -> Vec<Value> {
    let list = client.get(&format!("/api/v1/artifacts{query}")).await.expect(200).json();
    assert_eq!(list["count"], list["artifacts"].as_array().unwrap().len());
    list["artifacts"].as_array().unwrap().iter().map(|it| it["filename"].clone()).collect()
}

/// The path of a link, without the server's address.
async fn link(client: &Client, key: &str, seconds: u32) -> String {
    let wanted = json!({ "key": key, "ttl_seconds": seconds });
    let link = client.post("/api/v1/artifacts/link", &wanted).await.expect(201).json();
    let url = link["url"].as_str().unwrap();
    url[url.find("/api/").unwrap()..].to_owned()
}

#[tokio::test]
async fn an_artifact_does_not_exist_for_anyone_but_its_owner_and_admins() {
    let mut server = FakeServer::start().await;
    let key = stored(&server.client("ann", "sessions:*"), "a.txt", "hello").await;
    // The index survives a restart.
    server.leave().await;
    server.restart().await;
    let (ann, bob) = (server.client("ann", "sessions:*"), server.client("bob", "sessions:*"));
    let path = format!("/api/v1/artifacts/{key}");
    let hidden = bob.get(&path).await.expect_error(404, "artifact_not_found");
    let absent = path.replace("-a.txt", "-b.txt");
    let absent = bob.get(&absent).await.expect_error(404, "artifact_not_found");
    assert_eq!(hidden.replace("-a.txt", "-b.txt"), absent);
    download(&bob, &key).await.expect_error(404, "artifact_not_found");
    bob.delete(&path).await.expect_error(404, "artifact_not_found");
    let wanted = json!({ "key": key });
    let refused = bob.post("/api/v1/artifacts/link", &wanted).await;
    refused.expect_error(404, "artifact_not_found");
    assert!(names(&bob, "").await.is_empty());

    let shown = ann.get(&path).await.expect(200).json();
    assert_eq!((&shown["owner"], &shown["pack"]), (&json!("ann"), &json!("operator-uploads")));
    assert_eq!(download(&ann, &key).await.expect(200).text(), "hello");
    assert_eq!(names(&server.admin(), "").await, ["a.txt"]);
    assert_eq!(download(&server.admin(), &key).await.expect(200).text(), "hello");
    download(&server.stranger(), &key).await.expect_error(401, "missing_bearer");
    let reader = server.client("ann", "artifacts:read");
    download(&reader, &key).await.expect(200);
    reader.delete(&path).await.expect_error(403, "forbidden");
    upload(&reader, "b", "text/plain", "x").await.expect_error(403, "forbidden");
    ann.delete(&path).await.expect(204);
    download(&ann, &key).await.expect_error(404, "artifact_not_found");
}

#[tokio::test]
async fn a_file_is_uploaded_as_a_form_or_as_the_body() {
    let server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    let form = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../Ü b.png\"\r\n\
                Content-Type: image/png\r\n\r\n\u{0}\r\n--X\r\n--XX--\r\n";
    let kind = [("content-type", "multipart/form-data; boundary=XX")];
    let answer = client.send(Method::POST, UPLOAD, &kind, form.into()).await.expect(201).json();
    assert_eq!(answer["filename"], "Ü b.png");
    assert_eq!((&answer["content_type"], &answer["size"]), (&json!("image/png"), &json!(6)));
    let key = answer["artifact_key"].as_str().unwrap();
    assert!(key.starts_with("operator-uploads/") && key.ends_with("-Ü b.png"), "{key}");
    // The address in the answer is encoded.
    let back = client.get(answer["url"].as_str().unwrap()).await.expect(200);
    assert_eq!(back.body, "\u{0}\r\n--X");

    for (name, sent, kept) in [
        ("a.csv", "application/octet-stream", "text/csv"),
        ("a.csv", "application/x-www-form-urlencoded", "text/csv"),
        ("a.csv", "text/x-mine; charset=utf-8", "text/x-mine; charset=utf-8"),
        ("a", "application/octet-stream", "application/octet-stream"),
    ] {
        let answer = upload(&client, name, sent, "a,b").await.expect(201).json();
        assert_eq!(answer["content_type"], kept, "{name} {sent}");
    }
    for form in
        ["", "--XX--", "--XX\r\n\r\n\r\n--XX--", "--XX\r\ncontent-disposition: x; name=file"]
    {
        let refused = client.send(Method::POST, UPLOAD, &kind, form.into()).await;
        refused.expect_error(400, "invalid_input");
    }
    upload(&client, "a", "nonsense", "x").await.expect_error(400, "invalid_input");
    let unnamed = client.send(Method::POST, UPLOAD, &[], "{}".into()).await.expect(201).json();
    assert_eq!(unnamed["filename"], "file");
}

#[tokio::test]
async fn html_and_svg_are_never_shown_as_pages_of_this_server() {
    let server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    for (name, declared, sent) in [
        ("page.html", "text/html", "application/octet-stream"),
        ("x.svg", "image/svg+xml", "application/octet-stream"),
        ("x.js", "text/javascript", "application/octet-stream"),
        ("x.png", "image/png", "image/png"),
        ("x.txt", "text/plain", "text/plain; charset=utf-8"),
    ] {
        let answer = upload(&client, name, declared, "<script>alert(1)</script>").await;
        let uploaded = answer.expect(201).json();
        assert_eq!(uploaded["content_type"], declared);
        let key = uploaded["artifact_key"].as_str().unwrap();
        let by_link = server.stranger().get(&link(&client, key, 60).await).await;
        for answer in [download(&client, key).await, by_link] {
            let answer = answer.expect(200);
            assert_eq!(answer.header("content-type"), sent);
            let disposition = answer.header("content-disposition");
            let expected = format!("attachment; filename=\"{name}\"");
            assert!(disposition.starts_with(&expected), "{disposition}");
            assert_eq!(answer.header("content-security-policy"), "sandbox; default-src 'none'");
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        }
    }
}

#[tokio::test]
async fn a_part_of_an_artifact_can_be_asked_for() {
    let server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    let content: Bytes = (0..1_000_000_u32).map(|n| (n / 7) as u8).collect::<Vec<_>>().into();
    let answer = upload(&client, "big.bin", "application/octet-stream", content.clone()).await;
    let url = answer.expect(201).json()["url"].as_str().unwrap().to_owned();
    let get = async |headers: &[(&str, &str)]| {
        client.send(Method::GET, &url, headers, Bytes::new()).await
    };
    let whole = get(&[]).await.expect(200);
    assert_eq!((whole.body.clone(), whole.header("accept-ranges")), (content.clone(), "bytes"));
    let etag = whole.header("etag");
    for (range, first, last) in [
        ("bytes=0-0", 0, 0),
        ("bytes=500000-799999", 500_000, 799_999),
        ("bytes=-10", 999_990, 999_999),
    ] {
        for headers in [&[("range", range)][..], &[("range", range), ("if-range", etag)]] {
            let part = get(headers).await.expect(206);
            assert_eq!(part.header("content-range"), format!("bytes {first}-{last}/1000000"));
            assert_eq!(part.body, content.slice(first..=last));
        }
    }
    get(&[("range", "bytes=0-1"), ("if-range", "\"x\"")]).await.expect(200);
    let outside = get(&[("range", "bytes=1000000-")]).await;
    assert_eq!(outside.header("content-range"), "bytes */1000000");
    outside.expect_error(416, "range_not_satisfiable");
    let same = get(&[("if-none-match", etag)]).await.expect(304);
    assert!(same.body.is_empty());
}

#[tokio::test]
async fn a_link_opens_one_artifact_without_a_token_until_it_expires() {
    let server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    let (one, two) = (stored(&client, "a.txt", "one").await, stored(&client, "b.txt", "two").await);
    let signed = link(&client, &one, 60).await;
    let stranger = server.stranger();
    assert_eq!(stranger.get(&signed).await.expect(200).text(), "one");
    let part = stranger.send(Method::GET, &signed, &[("range", "bytes=0-0")], Bytes::new()).await;
    assert_eq!(part.expect(206).text(), "o");

    let other = signed.replace(&one, &two);
    let message = stranger.get(&other).await.expect_error(401, "invalid_link");
    assert!(message.contains("another artifact"), "{message}");
    let (path, query) = signed.split_once('?').unwrap();
    let expires = query.split(['=', '&']).nth(1).unwrap();
    let later = (expires.parse::<i64>().unwrap() + 1).to_string();
    for bad in [
        signed.replace(expires, &later),
        signed[..signed.len() - 1].to_owned(),
        format!("{path}?expires={expires}&signature="),
        format!("{path}?signature=00"),
    ] {
        stranger.get(&bad).await.expect_error(401, "invalid_link");
    }
    stranger.get(path).await.expect_error(401, "missing_bearer");
    stranger.get(&format!("{path}?expires={expires}")).await.expect_error(401, "missing_bearer");
    // A link is for downloads only.
    let elsewhere = format!("/api/v1/artifacts/{one}?{query}");
    stranger.get(&elsewhere).await.expect_error(401, "missing_bearer");
    stranger.delete(&elsewhere).await.expect_error(401, "missing_bearer");

    server.clock.advance(Duration::from_secs(61));
    let message = stranger.get(&signed).await.expect_error(401, "invalid_link");
    assert!(message.contains("has expired"), "{message}");
    let again = link(&client, &one, 60).await;
    client.delete(&format!("/api/v1/artifacts/{one}")).await.expect(204);
    stranger.get(&again).await.expect_error(404, "artifact_not_found");
}

#[tokio::test]
async fn a_caller_has_a_quota_of_bytes() {
    let server = FakeServer::start_with(&[("HELMDECK_ARTIFACT_QUOTA", "1k")]).await;
    let client = server.client("ann", "sessions:*");
    let key = stored(&client, "a", "x").await;
    let full = upload(&client, "b", "text/plain", vec![b'x'; 1024]).await;
    let message = full.expect_error(429, "quota_exceeded");
    assert!(message.contains("1 of 1024 bytes") && message.contains("QUOTA"), "{message}");
    let form = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n{}\r\n--XX--\r\n",
        "x".repeat(1024)
    );
    let kind = [("content-type", "multipart/form-data; boundary=XX")];
    let full = client.send(Method::POST, UPLOAD, &kind, form.into()).await;
    full.expect_error(429, "quota_exceeded");
    // The client sees the refusal, however much it still had to send.
    let full = upload(&client, "b", "text/plain", vec![b'x'; 30 << 20]).await;
    full.expect_error(429, "quota_exceeded");
    upload(&client, "c", "text/plain", vec![b'x'; 1023]).await.expect(201);
    let list = client.get("/api/v1/artifacts").await.json();
    assert_eq!((&list["used_bytes"], &list["quota_bytes"]), (&json!(1024), &json!(1024)));
    // Others have their own.
    stored(&server.client("bob", "sessions:*"), "a", "x").await;
    client.delete(&format!("/api/v1/artifacts/{key}")).await.expect(204);
    stored(&client, "d", "y").await;
}

#[tokio::test]
async fn a_list_is_filtered_and_comes_in_pages() {
    let server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    for (name, kind) in [("a.png", "image/png"), ("b.txt", "text/plain"), ("c.png", "image/png")] {
        upload(&client, name, kind, "x").await.expect(201);
    }
    assert_eq!(names(&client, "").await, ["c.png", "b.txt", "a.png"]);
    assert_eq!(names(&client, "?content_type=image/").await, ["c.png", "a.png"]);
    assert_eq!(names(&client, "?name=B.").await, ["b.txt"]);
    assert_eq!(names(&client, "?pack=operator-uploads&limit=1").await, ["c.png"]);
    assert!(names(&client, "?pack=other").await.is_empty());
    let first = client.get("/api/v1/artifacts?limit=2").await.json();
    let rest = format!("?limit=2&before={}", first["next_before"]);
    assert_eq!(names(&client, &rest).await, ["a.png"]);
    for bad in ["?limit=0", "?before=-1", "?nmae=x"] {
        let refused = client.get(&format!("/api/v1/artifacts{bad}")).await;
        refused.expect_error(400, "invalid_input");
    }
    let called = client.post("/api/v1/tools/artifacts.list", &json!({ "limit": 1 })).await;
    assert_eq!(called.expect(200).json()["artifacts"][0]["filename"], "c.png");
}

#[tokio::test]
async fn a_key_leads_to_no_other_file() {
    let server = FakeServer::start().await;
    let client = server.admin();
    stored(&client, "a", "x").await;
    for key in [
        "..%2F..%2Fjwt.secret",
        "%2Fetc%2Fpasswd",
        "operator-uploads/..%2F..%2Fhelmdeck.db",
        "operator-uploads%2F0000000000000000-..",
        "operator-uploads/0000000000000000-a%00b",
        "operator-uploads/0000000000000000-a%2Fb",
        "a/b/0000000000000000-a",
        "%FF",
        "none",
    ] {
        download(&client, key).await.expect(404);
        client.get(&format!("/api/v1/artifacts/{key}")).await.expect(if key == "%FF" {
            400
        } else {
            404
        });
    }
}

#[tokio::test]
async fn artifacts_expire_and_the_janitor_deletes_them() {
    let env = [("HELMDECK_ARTIFACT_TTL", "3h"), ("HELMDECK_ARTIFACT_JANITOR_INTERVAL", "1h")];
    let server = FakeServer::start_with(&env).await;
    let client = server.client("ann", "sessions:*");
    let old = stored(&client, "old", "old").await;
    server.clock.advance(2 * HOUR);
    let young = stored(&client, "young", "young").await;
    assert_eq!(files(&server).len(), 2);
    server.clock.advance(HOUR);
    download(&client, &old).await.expect_error(404, "artifact_not_found");
    let deleted = async || (files(&server).len() == 1).then_some(());
    eventually(SOON, deleted).await.expect("the content is deleted");
    assert_eq!(download(&client, &young).await.expect(200).text(), "young");
    assert_eq!(client.get("/api/v1/artifacts").await.json()["used_bytes"], 5);
}

#[tokio::test]
async fn a_crash_during_an_upload_leaves_nothing_after_the_next_start() {
    let mut server = FakeServer::start().await;
    let client = server.client("ann", "sessions:*");
    let key = stored(&client, "kept", "kept").await;
    server.kill().await;
    let dir = server.data_dir().join("artifacts");
    std::fs::write(dir.join("incoming/9"), "half").unwrap();
    let orphan = dir.join("00");
    std::fs::create_dir_all(&orphan).unwrap();
    std::fs::write(orphan.join("00".repeat(32)), "without a row").unwrap();
    assert_eq!(files(&server).len(), 3);
    server.restart().await;
    let clean = async || (files(&server).len() == 1).then_some(());
    eventually(SOON, clean).await.expect("the rest is removed");
    let client = server.client("ann", "sessions:*");
    assert_eq!(download(&client, &key).await.expect(200).text(), "kept");
}

/// Files below the directory of artifacts.
fn files(server: &FakeServer) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut look_in = vec![server.data_dir().join("artifacts")];
    while let Some(dir) = look_in.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => look_in.push(entry.path()),
                false => found.push(entry.path()),
            }
        }
    }
    found
}
