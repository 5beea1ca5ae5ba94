//! Tunnels with CONNECT.

use helmdeck_egress::{Scheme, Verdict};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    origin::Origin,
    world::{ALLOWED, DENIED, World, head, rest},
};

#[tokio::test]
async fn bytes_and_half_closes_pass_both_ways() {
    let world = World::new();
    let listener = TcpListener::bind((ALLOWED, 0)).await.unwrap();
    let to = listener.local_addr().unwrap();
    // Answers only after the other side has finished.
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.unwrap();
        stream.write_all(format!("heard {heard}").as_bytes()).await.unwrap();
    });
    let mut stream = world.connect().await;
    // The first bytes are sent before the tunnel is confirmed.
    let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\nearly ");
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = head(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 200") && !head.contains("ength"), "{head}");
    stream.write_all(b"and late").await.unwrap();
    stream.shutdown().await.unwrap();

    assert_eq!(rest(&mut stream).await, "heard early and late");
    server.await.unwrap();
    assert_eq!(world.decisions()[0].scheme, Scheme::Connect);
    assert_eq!(world.verdicts(), [Verdict::Allowed]);
}

#[tokio::test]
async fn a_megabyte_passes_unchanged() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut stream = world.connect().await;
    let to = origin.address;
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    head(&mut stream).await;
    let body: Vec<u8> = (0..1 << 20).map(|i: u32| (i % 251) as u8).collect();
    let lines = format!("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    let (mut read, mut write) = stream.into_split();
    let sent = body.clone();
    let writing = tokio::spawn(async move {
        write.write_all(lines.as_bytes()).await.unwrap();
        write.write_all(&sent).await.unwrap();
        write
    });
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(read.read_u8().await.unwrap());
    }
    let mut echo = vec![0; body.len()];
    read.read_exact(&mut echo).await.unwrap();
    assert!(echo == body);
    writing.await.unwrap();
}

#[tokio::test]
async fn a_refused_tunnel_is_a_403_with_text_and_the_connection_stays_http() {
    let (world, denied) = (World::new(), Origin::start(DENIED).await);
    let to = denied.address;
    let answer = world
        .say(format!("CONNECT {to} HTTP/1.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n"))
        .await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("x-helmdeck-egress: denied"), "{answer}");
    assert!(answer.contains("text/plain") && answer.contains("HELMDECK_EGRESS_ALLOWLIST"));
    assert_eq!(denied.accepted(), 0);
}

#[tokio::test]
async fn a_closed_port_is_a_502() {
    let world = World::new();
    let answer = world.say("CONNECT 127.0.0.2:1 HTTP/1.1\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains("x-helmdeck-egress: failed"), "{answer}");
    assert!(answer.contains("could not connect to 127.0.0.2"), "{answer}");
}
