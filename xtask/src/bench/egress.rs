//! The cost of egress: curl in a session, through the proxy, compared with curl on the machine.

use std::{io::Write, net::TcpListener, process::Command};

use helmdeck_testkit::{Desk, Server};
use serde_json::json;

use super::table::Samples;

const SMALL: usize = 60;
const LARGE_BYTES: usize = 512 << 20;

/// Measures and prints the table. The server must allow 127.0.0.1.
pub async fn run(server: &Server) {
    let port = site();
    let client = server.admin();
    let desk = Desk::create(&client, &json!({ "mode": "desktop", "idle_timeout_s": 0 })).await;
    let script = |host: &str| {
        format!(
            "for i in $(seq {SMALL}); do curl -s -o /dev/null -w 'T %{{time_total}}\\n' \
             http://{host}:{port}/small; done; \
             curl -s -o /dev/null -w 'S %{{speed_download}}\\n' http://{host}:{port}/large"
        )
    };
    let inside = desk.shell(&script("host.helmdeck.internal")).await;
    let direct = Command::new("bash").args(["-c", &script("127.0.0.1")]).output();
    let direct = direct.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    desk.end().await;
    let (proxy, proxy_speed) = read(&inside);
    let (plain, plain_speed) = read(&direct.unwrap_or_default());
    println!("\n## The way out: curl to a server on the machine\n");
    println!("| | small request p50 ms | p95 ms | 512 MB download MB/s |\n|---|---|---|---|");
    println!(
        "| direct, on the machine | {:.2} | {:.2} | {plain_speed:.0} |",
        plain.p50(),
        plain.p95()
    );
    println!(
        "| in a session, by proxy | {:.2} | {:.2} | {proxy_speed:.0} |",
        proxy.p50(),
        proxy.p95()
    );
    let (added, ratio) = (proxy.p50() - plain.p50(), proxy_speed / plain_speed);
    println!("| added, and share of the direct download | {added:.2} | – | {ratio:.2} |");
}

fn read(text: &str) -> (Samples, f64) {
    let numbers = |tag: &str| {
        let lines =
            text.lines().filter_map(|line| line.strip_prefix(tag)?.trim().parse::<f64>().ok());
        lines.collect::<Vec<_>>()
    };
    let times = numbers("T ").into_iter().map(|seconds| seconds * 1000.0).collect();
    (Samples(times), numbers("S ").first().copied().unwrap_or(f64::NAN) / 1e6)
}

/// A web server with a small and a large page, for the life of the benchmark.
fn site() -> u16 {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { return 0 };
    let port = listener.local_addr().map_or(0, |address| address.port());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut head = [0; 2048];
                let read = std::io::Read::read(&mut stream, &mut head).unwrap_or(0);
                let large = String::from_utf8_lossy(head.get(..read).unwrap_or_default())
                    .starts_with("GET /large");
                let length = if large { LARGE_BYTES } else { 100 };
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\
                                        connection: close\r\n\r\n"
                );
                let block = vec![b'x'; length.min(1 << 20)];
                for _ in 0..length.div_ceil(block.len()) {
                    if stream.write_all(&block).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
