//! Files of a session: access and ranges.

use bytes::Bytes;
use helmdeck_testkit::{
    Answer, Client, Desk,
    fake::{FakeServer, State},
};
use http::Method;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

async fn put(client: &Client, desk: &Desk<'_>, path: &str, content: impl Into<Bytes>) -> Answer {
    let address = format!("/api/v1/sessions/{}/files/{path}", desk.id);
    client.send(Method::PUT, &address, &[], content.into()).await
}

async fn get(client: &Client, desk: &Desk<'_>, path: &str) -> Answer {
    client.get(&format!("/api/v1/sessions/{}/files/{path}", desk.id)).await
}

#[tokio::test]
async fn files_belong_to_their_owner_and_need_the_right_to_act() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    put(&client, &desk, "once", "one").await.expect(201);
    put(&client, &desk, "once?replace=false", "two").await.expect_error(409, "file_exists");
    assert_eq!(get(&client, &desk, "once").await.text(), "one");
    put(&client, &desk, "once", "two").await.expect(201);
    let back = get(&client, &desk, "once").await.expect(200);
    assert_eq!(back.text(), "two");
    assert_eq!(back.header("content-type"), "application/octet-stream");
    assert!(back.header("content-disposition").starts_with("attachment;"));
    get(&client, &desk, "none").await.expect_error(404, "file_not_found");

    let stranger = server.client("other", "sessions:*");
    get(&stranger, &desk, "once").await.expect_error(404, "not_found");
    put(&stranger, &desk, "once", "x").await.expect_error(404, "not_found");
    let reader = server.client("admin", "sessions:read");
    get(&reader, &desk, "once").await.expect_error(403, "forbidden");
}

#[tokio::test]
async fn an_uploaded_file_keeps_its_time_of_change() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    put(&client, &desk, "old?modified_at=2020-02-03T04:05:06.789Z", "x").await.expect(201);
    let listed = client.get(&format!("/api/v1/sessions/{}/files", desk.id)).await.json();
    assert_eq!(listed["entries"][0]["modified_at"], "2020-02-03T04:05:06.789Z");
    for wrong in ["yesterday", "2020-02-03", "1580702706"] {
        let refused = put(&client, &desk, &format!("a?modified_at={wrong}"), "x").await;
        let message = refused.expect_error(400, "invalid_input");
        assert!(message.contains("modified_at"), "{message}");
    }
}

#[tokio::test]
async fn a_path_outside_the_home_does_not_reach_the_guest() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    for path in ["%2Fetc%2Fpasswd", "a%2F..%2F..%2Fetc", "..%2Fx", "a%2F%2Fb", "a%00b", "%FF"] {
        get(&client, &desk, path).await.expect_error(400, "invalid_path");
        put(&client, &desk, path, "x").await.expect_error(400, "invalid_path");
    }
    assert!(server.runtime.guest(&desk.id).bodies("file").is_empty());
}

#[tokio::test]
async fn a_part_of_a_file_can_be_asked_for() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let content: Bytes = (0..1_000_000_u32).map(|n| (n / 7) as u8).collect::<Vec<_>>().into();
    put(&client, &desk, "big.bin", content.clone()).await.expect(201);
    put(&client, &desk, "empty", "").await.expect(201);
    let part = async |path: &str, headers: &[(&str, &str)]| {
        let address = format!("/api/v1/sessions/{}/files/{path}", desk.id);
        client.send(Method::GET, &address, headers, Bytes::new()).await
    };
    for (range, first, last) in [
        ("bytes=0-0", 0, 0),
        ("bytes=500000-799999", 500_000, 799_999),
        ("bytes=999990-", 999_990, 999_999),
        ("bytes=-10", 999_990, 999_999),
        ("bytes=999990-5000000", 999_990, 999_999),
    ] {
        let answer = part("big.bin", &[("range", range)]).await.expect(206);
        assert_eq!(answer.header("content-range"), format!("bytes {first}-{last}/1000000"));
        assert_eq!(answer.header("accept-ranges"), "bytes");
        assert_eq!(answer.body, content.slice(first..=last), "{range}");
    }
    // Other ranges and conditional requests get the whole file.
    for headers in [
        &[("range", "bytes=0-1,5-6")][..],
        &[("range", "lines=1-2")],
        &[("range", "bytes=0-1"), ("if-range", "\"x\"")],
        &[],
    ] {
        let answer = part("big.bin", headers).await.expect(200);
        assert_eq!((answer.body.len(), answer.header("accept-ranges")), (1_000_000, "bytes"));
    }
    for (path, range, size) in
        [("big.bin", "bytes=1000000-", "1000000"), ("empty", "bytes=-5", "0")]
    {
        let answer = part(path, &[("range", range)]).await;
        assert_eq!(answer.header("content-range"), format!("bytes */{size}"));
        answer.expect_error(416, "range_not_satisfiable");
    }
}

#[tokio::test]
async fn an_upload_that_ends_early_is_cancelled_in_the_guest_and_recorded() {
    let server = FakeServer::start().await;
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
    let guest = server.runtime.guest(&desk.id);
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!(
        "PUT /api/v1/sessions/{}/files/half HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-length: 1000000\r\n\r\n",
        desk.id,
        server.address,
        server.token("admin", "admin"),
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&[1; 500_000]).await.unwrap();
    guest.until("file", State::UnderWay).await;
    drop(stream);
    guest.until("file", State::Cancelled).await;
    get(&client, &desk, "half").await.expect_error(404, "file_not_found");
    let actions = format!("/api/v1/sessions/{}/actions", desk.id);
    let written = async || {
        let all = client.get(&actions).await.json()["actions"].clone();
        let upload = all.as_array()?.iter().find(|it| it["action"] == "file_upload").cloned()?;
        (upload["outcome"] == "cancelled").then_some(())
    };
    let patience = std::time::Duration::from_secs(20);
    helmdeck_testkit::eventually(patience, written).await.expect("it is recorded");
}
