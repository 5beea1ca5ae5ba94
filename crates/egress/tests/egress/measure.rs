//! What the proxy costs, on loopback: run by hand, `--release -- --ignored --nocapture`.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    origin::Origin,
    world::{ALLOWED, Front, World},
};

const ROUNDS: usize = 1000;
const BIG: usize = 1 << 30;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement, not a check"]
async fn latency_and_throughput_against_direct() {
    let (world, origin) = (World::new(), Origin::start(ALLOWED).await);
    let front = world.port().await;
    let place = Place { world, origin, front };
    for round in 0..5 {
        println!("round {round}");
        let new = place.new_connections(Way::Direct).await;
        let kept = place.kept_connection(Way::Direct).await;
        let down = place.download(Way::Direct).await;
        println!("  Direct: new {new:?}, kept {kept:?}, 1 GiB {down:?}");
        for way in [Way::Forward, Way::Connect, Way::ForwardByPort, Way::ConnectByPort] {
            let added_new = place.new_connections(way).await.saturating_sub(new);
            let added_kept = place.kept_connection(way).await.saturating_sub(kept);
            let took = place.download(way).await;
            let ratio = down.as_secs_f64() / took.as_secs_f64();
            let rate = BIG as f64 / took.as_secs_f64() / 1e6;
            println!(
                "  {way:?}: new +{added_new:?}, kept +{added_kept:?}, {rate:.0} MB/s, {ratio:.2}"
            );
        }
    }
}

/// With and without the TCP port that a guest puts before the proxy's socket.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Direct,
    Forward,
    Connect,
    ForwardByPort,
    ConnectByPort,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

struct Place {
    world: World,
    origin: Origin,
    front: Front,
}

impl Place {
    async fn open(&self, way: Way) -> Box<dyn Stream> {
        let mut stream: Box<dyn Stream> = match way {
            Way::Direct => tcp(self.origin.address).await,
            Way::ForwardByPort | Way::ConnectByPort => tcp(self.front.address).await,
            Way::Forward | Way::Connect => Box::new(self.world.connect().await),
        };
        if matches!(way, Way::Connect | Way::ConnectByPort) {
            let request = format!("CONNECT {} HTTP/1.1\r\n\r\n", self.origin.address);
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
            }
        }
        stream
    }

    fn request(&self, path: &str, way: Way) -> String {
        let url = match way {
            Way::Forward | Way::ForwardByPort => self.origin.url(path),
            Way::Direct | Way::Connect | Way::ConnectByPort => path.to_owned(),
        };
        format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")
    }

    async fn ask(&self, stream: &mut dyn Stream, way: Way) {
        stream.write_all(self.request("/hello", way).as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"test host\n") {
            assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0);
        }
    }

    async fn new_connections(&self, way: Way) -> Duration {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let mut stream = self.open(way).await;
            self.ask(&mut *stream, way).await;
            times.push(began.elapsed());
        }
        median(times)
    }

    async fn kept_connection(&self, way: Way) -> Duration {
        let mut stream = self.open(way).await;
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            self.ask(&mut *stream, way).await;
            times.push(began.elapsed());
        }
        median(times)
    }

    async fn download(&self, way: Way) -> Duration {
        let mut stream = self.open(way).await;
        let request = self.request(&format!("/big?{BIG}"), way);
        let began = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        let (mut count, mut buffer) = (0, vec![0; 256 << 10]);
        while count < BIG {
            count += stream.read(&mut buffer).await.unwrap();
        }
        began.elapsed()
    }
}

async fn tcp(to: SocketAddr) -> Box<dyn Stream> {
    let stream = TcpStream::connect(to).await.unwrap();
    stream.set_nodelay(true).unwrap();
    Box::new(stream)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
