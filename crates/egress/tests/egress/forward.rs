//! Plain HTTP: absolute-form requests.

use bytes::Bytes;
use helmdeck_egress::{ProxyLimits, Scheme, Verdict};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    origin::Origin,
    world::{ALLOWED, Names, World, head, rest},
};

pub async fn client(world: &World) -> SendRequest<Full<Bytes>> {
    let (sender, connection) = handshake(TokioIo::new(world.connect().await)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    sender
}

#[tokio::test]
async fn an_allowed_page_is_fetched_and_reported() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);

    let answer = world.ask(&origin.url("/hello?secret=1")).await;

    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("hello from the test host\n"), "{answer}");
    let [decision] = &world.decisions()[..] else { panic!("{:?}", world.decisions()) };
    assert_eq!((decision.host.as_str(), decision.port), (ALLOWED, origin.address.port()));
    assert_eq!(decision.address, Some(ALLOWED.parse().unwrap()));
    assert_eq!((decision.scheme, decision.verdict), (Scheme::Http, Verdict::Allowed));
}

#[tokio::test]
async fn the_server_sees_no_traces_of_the_proxy() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let answer = world
        .say(format!(
            "PATCH http://user:pw@{}/head?a=b HTTP/1.1\r\nHost: elsewhere.test\r\nX-Kept: 1\r\n\
             Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\n\
             X-Forwarded-For: 10.0.0.1\r\nConnection: close, x-mine\r\nX-Mine: 1\r\n\
             Keep-Alive: 5\r\nTE: trailers\r\nContent-Length: 0\r\n\r\n",
            origin.address
        ))
        .await;

    assert!(answer.contains("PATCH /head?a=b"), "{answer}");
    assert!(answer.contains(&format!("\"host\": \"{}\"", origin.address)), "{answer}");
    assert!(answer.contains("x-kept"), "{answer}");
    for gone in ["proxy-", "forwarded", "x-mine", "keep-alive", "\"te\"", "via", "elsewhere"] {
        assert!(!answer.contains(gone), "{gone} in {answer}");
    }
}

#[tokio::test]
async fn one_client_connection_reuses_its_server_connection() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut client = client(&world).await;
    for path in ["/hello", "/hello", "/close", "/hello", "/hello"] {
        client.ready().await.unwrap();
        let request = Request::get(origin.url(path)).body(Full::default()).unwrap();
        let answer = client.send_request(request).await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.unwrap();
    }
    assert_eq!(origin.accepted(), 2, "a new connection only after /close");
    assert_eq!(world.verdicts(), [Verdict::Allowed; 5]);
}

#[tokio::test]
async fn each_target_on_a_connection_is_judged_separately() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let denied = Origin::start("127.0.0.3").await;
    let mut client = client(&world).await;
    for (url, status) in
        [(origin.url("/hello"), 200), (denied.url("/hello"), 403), (origin.url("/hello"), 200)]
    {
        client.ready().await.unwrap();
        let request = Request::get(url).body(Full::default()).unwrap();
        let answer = client.send_request(request).await.unwrap();
        assert_eq!(answer.status(), status);
        answer.into_body().collect().await.unwrap();
    }
    assert_eq!(denied.accepted(), 0);
}

#[tokio::test]
async fn bodies_pass_both_ways_with_a_length_and_in_chunks() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let url = origin.url("/echo");
    let plain = world
        .say(format!(
            "POST {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcde"
        ))
        .await;
    assert!(plain.ends_with("abcde"), "{plain}");
    for method in ["POST", "GET", "DELETE"] {
        let chunked = world
            .say(format!(
                "{method} {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                 Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
            ))
            .await;
        assert!(chunked.contains("abc") && chunked.contains("de"), "{method}: {chunked}");
    }
}

#[tokio::test]
async fn duplicate_lengths_cannot_smuggle_a_request() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let url = origin.url("/echo");
    let answer = world
        .say(format!(
            "POST {url} HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\
             Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: y\r\n\r\n"
        ))
        .await;
    assert!(!answer.contains("hello from"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
}

#[tokio::test]
async fn sixty_four_megabytes_pass_both_ways() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut client = client(&world).await;
    let big = Bytes::from(vec![7; 64 << 20]);

    let upload = Request::post(origin.url("/count")).body(Full::new(big)).unwrap();
    let counted = client.send_request(upload).await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(counted.to_bytes(), (64 << 20).to_string());

    client.ready().await.unwrap();
    let download = Request::get(origin.url("/big?67108864")).body(Full::default()).unwrap();
    let mut body = client.send_request(download).await.unwrap().into_body();
    let mut count = 0;
    while let Some(frame) = body.frame().await {
        count += frame.unwrap().into_data().map_or(0, |data| data.len());
    }
    assert_eq!(count, 64 << 20);
}

#[tokio::test]
async fn websockets_pass() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let mut stream = world.connect().await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\nearly",
        origin.url("/socket")
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = head(&mut stream).await.to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(head.contains("upgrade: websocket") && head.contains("connection: upgrade"), "{head}");

    stream.write_all(b" and late").await.unwrap();
    let mut echo = [0; 14];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(&echo, b"early and late");
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_server_that_declines_an_upgrade_just_answers() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let answer = world
        .say(format!(
            "GET {} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n",
            origin.url("/hello")
        ))
        .await;
    assert!(answer.ends_with("hello from the test host\n"), "{answer}");
}

#[tokio::test]
async fn requests_that_cannot_be_forwarded_are_bad_requests_with_a_reason() {
    let world = World::new();
    for (request, why) in [
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "absolute URL"),
        ("GET https://a.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "CONNECT"),
        ("GET ftp://a.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "CONNECT"),
        ("GET http://1.2.3.4.5/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "IPv4"),
        ("CONNECT a.test HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "port"),
    ] {
        let answer = world.say(request).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(why), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let limits =
        ProxyLimits { answer: std::time::Duration::from_millis(300), ..ProxyLimits::default() };
    let (world, origin) = (World::with(limits, Names::none()), Origin::start(ALLOWED).await);
    let answer = world.ask(&origin.url("/sink")).await;
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    origin.deserted().await;
}

#[tokio::test]
async fn pipelined_requests_to_several_targets_are_answered_in_order() {
    let (world, one) = (World::new(), Origin::start(ALLOWED).await);
    let two = Origin::start(ALLOWED).await;
    let answers = world
        .say(format!(
            "GET {} HTTP/1.1\r\nHost: x\r\n\r\n\
             GET {} HTTP/1.1\r\nHost: x\r\n\r\n\
             GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n\
             GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            one.url("/big?5000000"),
            two.url("/hello"),
            one.url("/hello"),
        ))
        .await;
    assert_eq!(answers.matches('\0').count(), 5_000_000);
    assert_eq!(answers.matches("hello from the test host").count(), 2);
    assert_eq!(answers.matches("HTTP/1.1 403").count(), 1);
}
