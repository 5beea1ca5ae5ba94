//! SOCKS5 clients, valid and invalid.

use std::net::{IpAddr, SocketAddr};

use helmdeck_egress::{Cidr, Failure, Policy, ProxyLimits, Scheme, Verdict};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use crate::{
    origin::Origin,
    world::{ALLOWED, DENIED, Names, World, rest},
};

const GREETING: [u8; 3] = [5, 1, 0];

fn connect_to(to: SocketAddr) -> Vec<u8> {
    let mut request = vec![5, 1, 0];
    match to.ip() {
        IpAddr::V4(v4) => {
            request.push(1);
            request.extend(v4.octets());
        }
        IpAddr::V6(v6) => {
            request.push(4);
            request.extend(v6.octets());
        }
    }
    request.extend(to.port().to_be_bytes());
    request
}

fn connect_name(name: &str, port: u16) -> Vec<u8> {
    let mut request = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend(name.as_bytes());
    request.extend(port.to_be_bytes());
    request
}

/// Sends greeting and request; returns the reply's code.
async fn ask(world: &World, request: &[u8]) -> (UnixStream, u8) {
    let mut stream = world.connect().await;
    stream.write_all(&GREETING).await.unwrap();
    let mut method = [0; 2];
    stream.read_exact(&mut method).await.unwrap();
    assert_eq!(method, [5, 0]);
    stream.write_all(request).await.unwrap();
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!((reply[0], reply[2]), (5, 0));
    (stream, reply[1])
}

async fn says_hello(mut stream: UnixStream) {
    let request = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.ends_with("hello from the test host\n"), "{answer}");
}

#[tokio::test]
async fn ipv4_ipv6_and_names_are_tunnelled() {
    let origin = Origin::start(ALLOWED).await;
    let six = Origin::start("::1").await;
    let policy = Policy::new(Cidr::list("127.0.0.2, ::1").unwrap(), []);
    let world = World::of(policy, ProxyLimits::default(), Names::of(&[&[ALLOWED]]));
    let port = origin.address.port();
    let mapped = SocketAddr::new("::ffff:127.0.0.2".parse().unwrap(), port);
    for request in [
        connect_to(origin.address),
        connect_to(six.address),
        connect_to(mapped),
        connect_name("test.example", port),
        connect_name("127.2", port),
    ] {
        let (stream, code) = ask(&world, &request).await;
        assert_eq!(code, 0, "{request:?}");
        says_hello(stream).await;
    }
    assert_eq!((origin.accepted(), six.accepted()), (4, 1));
    assert_eq!(world.verdicts(), [Verdict::Allowed; 5]);
    assert!(world.decisions().iter().all(|decision| decision.scheme == Scheme::Socks));
}

#[tokio::test]
async fn denied_targets_get_reply_two() {
    let denied = Origin::start(DENIED).await;
    let world = World::with(ProxyLimits::default(), Names::of(&[&[DENIED]]));
    let port = denied.address.port();
    let mapped = SocketAddr::new("::ffff:127.0.0.3".parse().unwrap(), port);
    for request in [
        connect_to(denied.address),
        connect_to(mapped),
        connect_name("rebound.example", port),
        connect_name("127.0.0.3", port),
        connect_name("0x7f.3", port),
        connect_name("localhost", port),
        connect_name("host.helmdeck.internal", port),
        connect_name("Metadata.Google.Internal.", 80),
    ] {
        let (mut stream, code) = ask(&world, &request).await;
        assert_eq!(code, 2, "{request:?}");
        assert_eq!(rest(&mut stream).await, "");
    }
    assert_eq!(denied.accepted(), 0);
}

#[tokio::test]
async fn each_failure_has_its_reply_code() {
    let world = World::new();
    let closed = connect_to("127.0.0.2:1".parse().unwrap());
    assert_eq!(ask(&world, &closed).await.1, 5);
    assert_eq!(ask(&world, &connect_name("unknown.example", 80)).await.1, 4);
    assert_eq!(ask(&world, &connect_name("no name", 80)).await.1, 1);
    let bind = [5, 2, 0, 1, 127, 0, 0, 2, 0, 80];
    assert_eq!(ask(&world, &bind).await.1, 7);
    let udp = [5, 3, 0, 1, 127, 0, 0, 2, 0, 80];
    assert_eq!(ask(&world, &udp).await.1, 7);
    let kind = [5, 1, 0, 9, 127, 0, 0, 2, 0, 80];
    assert_eq!(ask(&world, &kind).await.1, 8);
    let (refused, unknown) = (Failure::Unreachable, Failure::Unresolved);
    assert_eq!(world.verdicts(), [Verdict::Failed(refused), Verdict::Failed(unknown)]);
}

#[tokio::test]
async fn passwords_and_socks4_are_declined() {
    let world = World::new();
    let mut stream = world.connect().await;
    stream.write_all(&[5, 1, 2]).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, [5, 0xff]);

    let mut stream = world.connect().await;
    stream.write_all(&[4, 1, 0, 80, 127, 0, 0, 2, 0]).await.unwrap();
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer[1], 0x5b);
}
