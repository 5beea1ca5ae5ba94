//! File transfers from and to a session, and nothing else of the machine.

use std::time::Duration;

use bytes::Bytes;
use helmdeck_testkit::{Answer, Client, Desk, Server, eventually};
use http::Method;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream};

const SOON: Duration = Duration::from_secs(10);

async fn put(client: &Client, desk: &Desk<'_>, path: &str, content: impl Into<Bytes>) -> Answer {
    let address = format!("/api/v1/sessions/{}/files/{path}", desk.id);
    client.send(Method::PUT, &address, &[], content.into()).await
}

async fn get(client: &Client, desk: &Desk<'_>, path: &str) -> Answer {
    client.get(&format!("/api/v1/sessions/{}/files/{path}", desk.id)).await
}

async fn list(client: &Client, desk: &Desk<'_>, path: &str) -> Answer {
    client.get(&format!("/api/v1/sessions/{}/files?path={path}", desk.id)).await
}

fn names(list: &Value) -> Vec<&str> {
    let entries = list["entries"].as_array().expect("entries");
    entries.iter().map(|entry| entry["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn uploaded_files_are_visible_to_programs_and_download_unchanged() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    let content: Bytes =
        (0..3_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect::<Vec<_>>().into();
    let name = "Work/new/%C3%BC%20%23%3F%25.bin";
    let stored = put(&client, &desk, name, content.clone()).await.expect(201).json();
    assert_eq!(stored, json!({ "path": "Work/new/ü #?%.bin", "size": content.len() }));
    assert_eq!(desk.shell("stat -c '%s %U %a' ~/Work/new/*").await.trim(), "3000000 agent 644");

    let back = get(&client, &desk, name).await.expect(200);
    assert_eq!(back.body, content);
    assert_eq!(back.header("content-type"), "application/octet-stream");
    assert!(back.header("content-disposition").starts_with("attachment;"));

    desk.shell("mkdir ~/Work/folder; ln -s new ~/Work/link; echo hi > ~/Work/A").await;
    let listed = list(&client, &desk, "Work").await.expect(200).json();
    assert_eq!(names(&listed), ["folder", "new", "A", "link"]);
    let kinds: Vec<_> = listed["entries"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    assert_eq!(kinds, ["directory", "directory", "file", "link"]);
    assert_eq!(listed["entries"][2]["size"], 3);
    let dated = "A?modified_at=2020-02-03T04:05:06.789Z";
    put(&client, &desk, dated, "hi").await.expect(201);
    assert_eq!(desk.shell("stat -c %.3Y ~/A").await.trim(), "1580702706.789");
    // A link inside the home is followed.
    assert_eq!(names(&list(&client, &desk, "Work/link").await.expect(200).json()), ["ü #?%.bin"]);

    let actions = format!("/api/v1/sessions/{}/actions", desk.id);
    let seen = async || {
        let list = client.get(&actions).await.json()["actions"].clone();
        let find = |name: &str| list.as_array()?.iter().find(|a| a["action"] == name).cloned();
        Some((find("file_upload")?, find("file_download")?))
    };
    let (up, down) = eventually(SOON, seen).await.expect("both are recorded");
    assert_eq!(up["detail"], stored);
    assert_eq!((&down["detail"]["size"], &down["outcome"]), (&stored["size"], &json!("ok")));
}

#[tokio::test]
async fn nothing_outside_the_home_can_be_read_or_written() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    // The guest could read its own socket's directory. A program inside cannot, and the API must
    // not help it.
    desk.shell("cd; ln -s /run/helmdeck out; ln -s ../../etc up; ln -s /proc/self/root magic")
        .await;
    for path in ["out/nested.bpf", "up/passwd", "magic/etc/passwd", "out"] {
        get(&client, &desk, path).await.expect_error(400, "invalid_path");
    }
    list(&client, &desk, "out").await.expect_error(400, "invalid_path");
    for path in ["out/x", "up/x/y"] {
        put(&client, &desk, path, "x").await.expect_error(400, "invalid_path");
    }
    for path in ["%2Fetc%2Fpasswd", "a%2F..%2F..%2Fetc", "..%2Fx", "a%2F%2Fb", "a%00b", "%FF"] {
        get(&client, &desk, path).await.expect_error(400, "invalid_path");
        put(&client, &desk, path, "x").await.expect_error(400, "invalid_path");
    }
    // A link is replaced itself, whatever its target.
    put(&client, &desk, "magic", "mine").await.expect(201);
    assert_eq!(desk.shell("stat -c %F ~/magic; cat ~/magic").await.trim(), "regular file\nmine");
}

#[tokio::test]
async fn failed_transfers_report_the_reason() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::desktop(&client).await;
    get(&client, &desk, "none.txt").await.expect_error(404, "file_not_found");
    list(&client, &desk, "none").await.expect_error(404, "file_not_found");
    desk.shell("cd; mkdir -p d; mkfifo pipe; echo x > locked; chmod 0 locked").await;
    get(&client, &desk, "d").await.expect_error(409, "not_a_file");
    get(&client, &desk, "pipe").await.expect_error(409, "not_a_file");
    get(&client, &desk, "locked").await.expect_error(403, "file_denied");
    put(&client, &desk, "d", "x").await.expect_error(409, "not_a_file");
    put(&client, &desk, "pipe/x", "x").await.expect_error(409, "not_a_file");
    list(&client, &desk, "pipe").await.expect_error(409, "not_a_file");

    put(&client, &desk, "once", "one").await.expect(201);
    put(&client, &desk, "once?replace=false", "two").await.expect_error(409, "file_exists");
    assert_eq!(get(&client, &desk, "once").await.text(), "one");
    put(&client, &desk, "once", "two").await.expect(201);
    assert_eq!(get(&client, &desk, "once").await.text(), "two");
    let part = format!("/api/v1/sessions/{}/files/once", desk.id);
    let part = client.send(Method::GET, &part, &[("range", "bytes=1-")], Bytes::new()).await;
    assert_eq!((part.header("content-range"), part.text()), ("bytes 1-2/3", "wo".to_owned()));
}

#[tokio::test]
async fn a_full_disk_is_reported_and_partial_files_are_removed() {
    let server = Server::start();
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "800x600", "memory_limit": "700m" });
    let desk = Desk::create(&client, &spec).await;
    desk.shell("head -c 10G /dev/zero > ~/fill; truncate -s -1M ~/fill").await;
    let large = vec![7; 8 << 20];
    put(&client, &desk, "big", large).await.expect_error(507, "session_disk_full");
    let left = names(&list(&client, &desk, "").await.json()).join(" ");
    assert!(!left.contains("big") && !left.contains("upload"), "{left}");
    put(&client, &desk, "small", "fits").await.expect(201);
}

#[tokio::test]
async fn an_upload_that_ends_early_leaves_nothing() {
    let server = Server::start();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({})).await;
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
    let begun = async || {
        let listed = list(&client, &desk, "").await.json();
        names(&listed).iter().any(|name| name.starts_with(".upload-")).then_some(())
    };
    eventually(SOON, begun).await.expect("it has begun");
    drop(stream);
    let cleared = async || {
        let listed = list(&client, &desk, "").await.json();
        let left = |name: &&str| name.starts_with(".upload-") || *name == "half";
        (!names(&listed).iter().any(left)).then_some(())
    };
    eventually(SOON, cleared).await.expect("nothing is left");
    let actions = client.get(&format!("/api/v1/sessions/{}/actions", desk.id)).await.json();
    assert_eq!(actions["actions"][0]["outcome"], "cancelled", "{actions}");
}
