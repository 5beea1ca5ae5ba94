//! What the proxy costs, on loopback: run by hand, `--release -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    origin::Origin,
    world::{ALLOWED, Front, World},
};

const ROUNDS: usize = 2000;
const BIG: usize = 1 << 30;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement, not a check"]
async fn latency_and_throughput_against_direct() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let front = world.port().await;
    for round in 0..3 {
        println!("round {round}");
        let direct = new_connections(&origin, &front, Way::Direct).await;
        for way in [Way::Forward, Way::Connect] {
            let by_proxy = new_connections(&origin, &front, way).await;
            let added = by_proxy.saturating_sub(direct);
            println!("  {way:?}, new connection: {direct:?} -> {by_proxy:?}, added {added:?}");
        }
        let direct = kept_connection(&origin, &front, Way::Direct).await;
        for way in [Way::Forward, Way::Connect] {
            let by_proxy = kept_connection(&origin, &front, way).await;
            let added = by_proxy.saturating_sub(direct);
            println!("  {way:?}, kept connection: {direct:?} -> {by_proxy:?}, added {added:?}");
        }
        let direct = download(&origin, &front, Way::Direct).await;
        for way in [Way::Forward, Way::Connect] {
            let by_proxy = download(&origin, &front, way).await;
            let ratio = direct.as_secs_f64() / by_proxy.as_secs_f64();
            let rate = BIG as f64 / by_proxy.as_secs_f64() / 1e6;
            println!("  {way:?}, 1 GiB down: {rate:.0} MB/s, {ratio:.2} of direct");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Direct,
    Forward,
    Connect,
}

async fn open(origin: &Origin, front: &Front, way: Way) -> TcpStream {
    let to = if way == Way::Direct { origin.address } else { front.address };
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.set_nodelay(true).unwrap();
    if way == Way::Connect {
        let request = format!("CONNECT {} HTTP/1.1\r\n\r\n", origin.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        head(&mut stream).await;
    }
    stream
}

async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), origin: &Origin, way: Way) {
    let url = if way == Way::Forward { origin.url("/hello") } else { "/hello".to_owned() };
    let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"test host\n") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
    }
}

async fn head(stream: &mut TcpStream) {
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
}

async fn new_connections(origin: &Origin, front: &Front, way: Way) -> Duration {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let mut stream = open(origin, front, way).await;
        ask(&mut stream, origin, way).await;
        times.push(began.elapsed());
    }
    median(times)
}

async fn kept_connection(origin: &Origin, front: &Front, way: Way) -> Duration {
    let mut stream = open(origin, front, way).await;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        ask(&mut stream, origin, way).await;
        times.push(began.elapsed());
    }
    median(times)
}

async fn download(origin: &Origin, front: &Front, way: Way) -> Duration {
    let mut stream = open(origin, front, way).await;
    let path = format!("/big?{BIG}");
    let url = if way == Way::Forward { origin.url(&path) } else { path };
    let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n");
    let began = Instant::now();
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut count, mut buffer) = (0, vec![0; 256 << 10]);
    while count < BIG {
        count += stream.read(&mut buffer).await.unwrap();
    }
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
