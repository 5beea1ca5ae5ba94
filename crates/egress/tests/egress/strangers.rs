//! Invalid input.

use std::sync::Arc;

use tokio::{io::AsyncWriteExt, task::JoinSet};

use crate::{
    origin::Origin,
    world::{ALLOWED, World, rest},
};

#[tokio::test]
async fn garbage_is_answered_or_dropped_and_the_proxy_continues() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let long_line = format!("GET http://a.test/{} HTTP/1.1\r\n\r\n", "a".repeat(300_000));
    let many_fields = format!("GET http://a.test/ HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(5000));
    let inputs: [&[u8]; 12] = [
        b"\0\0\0\0\0\0\0\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x05\x00",
        b"\x05\x01\x00\x06\x01\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\n\r\n",
        b"CONNECT / HTTP/1.1\r\n\r\n",
        b"CONNECT :80 HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET http://a.test:99999/ HTTP/1.1\r\nConnection: close\r\n\r\n",
        long_line.as_bytes(),
        many_fields.as_bytes(),
    ];
    for input in inputs {
        let mut stream = world.connect().await;
        // The proxy may disconnect within it.
        let _ = stream.write_all(input).await;
        let _ = stream.shutdown().await;
        let answer = rest(&mut stream).await;
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
    assert!(world.ask(&origin.url("/hello")).await.starts_with("HTTP/1.1 200"));
    assert_eq!(world.decisions().len(), 1, "none of it was dialled");
}

#[tokio::test]
async fn random_bytes_never_open_a_connection() {
    let world = Arc::new(World::new());
    let beginnings: [&[u8]; 5] =
        [b"", b"\x05\x01\x00", b"\x05\x01\x00\x05\x01\x00", b"GET http://", b"CONNECT "];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noises = JoinSet::new();
    for turn in 0..200 {
        let mut input = beginnings[turn % beginnings.len()].to_vec();
        for _ in 0..turn {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            input.push((seed >> 56) as u8);
        }
        let world = Arc::clone(&world);
        noises.spawn(async move {
            let mut stream = world.connect().await;
            let _ = stream.write_all(&input).await;
            let _ = stream.shutdown().await;
            rest(&mut stream).await
        });
    }
    for answer in noises.join_all().await {
        assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    }
}
