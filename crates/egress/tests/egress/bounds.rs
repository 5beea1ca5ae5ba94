//! Limits: connections, time and memory.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use helmdeck_egress::ProxyLimits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

use crate::{
    origin::Origin,
    world::{ALLOWED, Names, World, head, rest},
};

/// The most that sockets and buffers on the way may hold, with a margin.
const IN_FLIGHT: u64 = 16 << 20;

#[tokio::test]
async fn connections_over_the_limit_are_refused_until_one_ends() {
    let limits = ProxyLimits { connections: 2, ..ProxyLimits::default() };
    let (world, origin) = (World::with(limits, Names::none()), Origin::start(ALLOWED).await);
    let (one, _two) = (world.connect().await, world.connect().await);
    while world.proxy.connections() < 2 {
        sleep(Duration::from_millis(5)).await;
    }
    let answer = world.ask(&origin.url("/hello")).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");

    drop(one);
    while world.proxy.connections() > 1 {
        sleep(Duration::from_millis(5)).await;
    }
    let answer = world.ask(&origin.url("/hello")).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn an_idle_tunnel_ends_and_a_busy_one_does_not() {
    let limits = ProxyLimits {
        idle: Duration::from_millis(400),
        half_closed: Duration::from_millis(200),
        ..ProxyLimits::default()
    };
    let (world, origin) = (World::with(limits, Names::none()), Origin::start(ALLOWED).await);
    let mut stream = world.connect().await;
    let to = origin.address;
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    head(&mut stream).await;
    let began = Instant::now();
    for byte in b"GET /hello" {
        stream.write_all(&[*byte]).await.unwrap();
        sleep(Duration::from_millis(100)).await;
    }
    assert!(began.elapsed() > Duration::from_millis(900));
    assert_eq!(world.proxy.connections(), 1, "busy");
    assert_eq!(rest(&mut stream).await, "");
    assert!(began.elapsed() < Duration::from_secs(3));
    origin.deserted().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_blocks_its_server() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut stream = world.connect().await;
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", origin.url("/big?1073741824"));
    stream.write_all(request.as_bytes()).await.unwrap();
    head(&mut stream).await;
    let sent = || origin.seen.sent.load(Ordering::SeqCst);
    let mut before = u64::MAX;
    while before != sent() {
        before = sent();
        sleep(Duration::from_millis(200)).await;
    }
    assert!(before < IN_FLIGHT, "{before} bytes under way");
}

#[tokio::test]
async fn a_server_that_does_not_read_blocks_its_client() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut stream = world.connect().await;
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n",
        origin.url("/sink")
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut written, block) = (0, vec![0; 64 << 10]);
    while let Ok(count) = timeout(Duration::from_millis(300), stream.write(&block)).await {
        written += count.unwrap() as u64;
        assert!(written < IN_FLIGHT, "{written} bytes under way");
    }
}

#[tokio::test]
async fn a_client_that_sends_no_request_is_disconnected() {
    let limits = ProxyLimits { head: Duration::from_millis(300), ..ProxyLimits::default() };
    let world = World::with(limits, Names::none());
    for beginning in
        [&b""[..], b"G", b"GET http://a.test/ HTTP/1.1\r\nX: ", b"\x05", b"\x05\x01\x00\x05"]
    {
        let began = Instant::now();
        let mut stream = world.connect().await;
        stream.write_all(beginning).await.unwrap();
        rest(&mut stream).await;
        assert!(began.elapsed() < Duration::from_secs(2), "{beginning:?}");
    }
}

#[tokio::test]
async fn a_head_sent_byte_by_byte_does_not_extend_the_timeout() {
    let limits = ProxyLimits { head: Duration::from_millis(300), ..ProxyLimits::default() };
    let world = World::with(limits, Names::none());
    let began = Instant::now();
    let (mut read, mut write) = world.connect().await.into_split();
    let trickle = tokio::spawn(async move {
        let _ = write.write_all(b"GET http://a.test/ HTTP/1.1\r\nX: ").await;
        while write.write_all(b"x").await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = timeout(Duration::from_secs(5), read.read_to_end(&mut answer)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2));
    trickle.await.unwrap();
}

#[tokio::test]
async fn a_slow_answer_is_allowed_after_a_kept_connection_was_closed() {
    let limits = ProxyLimits {
        idle: Duration::from_secs(5),
        half_closed: Duration::from_millis(200),
        ..ProxyLimits::default()
    };
    let world = World::with(limits, Names::none());
    let listener = TcpListener::bind((ALLOWED, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (closed, leave) = tokio::sync::oneshot::channel();
    let server = tokio::spawn(async move {
        let mut first = asked(&listener).await;
        first.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        drop(first);
        closed.send(()).unwrap();
        let mut second = asked(&listener).await;
        sleep(Duration::from_millis(800)).await;
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlate\n";
        second.write_all(answer).await.unwrap();
    });
    let mut stream = world.connect().await;
    let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    head(&mut stream).await;
    leave.await.unwrap();
    sleep(Duration::from_millis(50)).await;
    let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.ends_with("late\n"), "{answer}");
    server.await.unwrap();
}

/// The next connection, with the head of its first request read.
async fn asked(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    stream
}

#[tokio::test]
async fn a_half_closed_tunnel_ends_soon() {
    let limits = ProxyLimits { half_closed: Duration::from_millis(200), ..ProxyLimits::default() };
    let world = World::with(limits, Names::none());
    let listener = TcpListener::bind((ALLOWED, 0)).await.unwrap();
    let to = listener.local_addr().unwrap();
    let mut stream = world.connect().await;
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    head(&mut stream).await;
    // A server that neither reads nor disconnects.
    let _server = listener.accept().await.unwrap();
    stream.shutdown().await.unwrap();
    let began = Instant::now();
    assert_eq!(rest(&mut stream).await, "");
    assert!(began.elapsed() < Duration::from_secs(2));
}
