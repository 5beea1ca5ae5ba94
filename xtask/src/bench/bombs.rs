//! The effect on a session while its neighbour tries to use all resources.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

use super::table::Samples;

/// How long each bomb runs before and while the neighbour is measured.
const FUSE: Duration = Duration::from_secs(2);
/// After this time a new browser is idle.
const SETTLED: Duration = Duration::from_secs(5);

/// A name and the shell script of each bomb.
const BOMBS: [(&str, &str); 7] = [
    ("fork bomb", ":(){ :|:& };:"),
    ("memory bomb", "a=x; while :; do a=$a$a; done"),
    ("files in memory", "cat /dev/zero > /tmp/fill; cat /dev/zero > ~/fill; sleep 60"),
    (
        "huge window title",
        "printf -v t '%01000000d' 1; while :; do printf '\\033]0;%s\\007' $t; done",
    ),
    (
        "huge clipboard",
        "head -c 500000000 /dev/zero | tr '\\0' x | xclip -selection clipboard -i; sleep 60",
    ),
    ("400 xterms", "for i in $(seq 400); do xterm -geometry 10x2 & done; sleep 60"),
    ("10,000 windows", "python3 -c \"$WINDOWS\""),
];

/// A plain X client: each window takes one `CreateWindow` and one `MapWindow`, and stays open.
const WINDOWS: &str = "
import socket, struct, time
x = socket.socket(socket.AF_UNIX)
x.connect('/tmp/.X11-unix/X99')
x.sendall(struct.pack('<BxHHHHxx', 0x6c, 11, 0, 0, 0))
def read(n):
    got = b''
    while len(got) < n: got += x.recv(n - len(got))
    return got
more = struct.unpack('<HHHH', read(8))[3] * 4
setup = read(more)
base, vendor, formats = struct.unpack('<4xI', setup[:8])[0], struct.unpack('<H', setup[16:18])[0], setup[21]
at = 32 + (vendor + 3) // 4 * 4 + formats * 8
root = struct.unpack('<I', setup[at:at + 4])[0]
for n in range(10000):
    w = base + n + 1
    x.sendall(struct.pack('<BBHIIhhHHHHII', 1, 0, 8, w, root, n % 900, n % 600, 60, 40, 0, 1, 0, 0))
    x.sendall(struct.pack('<BxHI', 8, 2, w))
time.sleep(60)
";

/// Measures and prints the table.
pub async fn run(server: &Server) {
    let client = server.admin();
    let spec = json!({ "mode": "desktop", "geometry": "1280x800", "memory_limit": "2g",
                       "idle_timeout_s": 0 });
    let neighbour = Desk::create(&client, &spec).await;
    println!("\n## A neighbour's clicks while another session explodes\n");
    println!(
        "| bomb | p50 ms before | during | p95 ms before | during | ratio | what the exploding session says |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, script) in BOMBS {
        let desk = Desk::create(&client, &spec).await;
        let launch = if name == "huge window title" {
            json!({ "command": "xterm", "args": ["-e", "bash", "-c", script] })
        } else {
            json!({ "command": "bash", "args": ["-c", script.replace("$WINDOWS", WINDOWS)] })
        };
        // Both sessions exist in both measurements; only the bomb differs.
        tokio::time::sleep(SETTLED).await;
        let before = clicks(&neighbour).await;
        desk.ask("launch", launch).await.expect(200);
        tokio::time::sleep(FUSE).await;
        let during = clicks(&neighbour).await;
        let (p50s, p95s) = ((before.p50(), during.p50()), (before.p95(), during.p95()));
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1}× | {} |",
            p50s.0,
            p50s.1,
            p95s.0,
            p95s.1,
            p95s.1 / p95s.0,
            verdict(&desk).await
        );
        desk.end().await;
    }
    neighbour.end().await;
}

async fn clicks(desk: &Desk<'_>) -> Samples {
    let mut samples = Samples::default();
    for _ in 0..1000 {
        let began = Instant::now();
        desk.ask("click", json!({ "x": 600, "y": 500 })).await.expect(200);
        samples.0.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    samples
}

/// The state of the session with the bomb.
async fn verdict(desk: &Desk<'_>) -> String {
    let session = desk.describe().await;
    let own = Instant::now();
    let answered = desk.ask("mouse_move", json!({ "x": 1, "y": 1 })).await.status;
    let own = own.elapsed().as_millis();
    let text = |path: &str| session.pointer(path).map_or("?".to_owned(), Value::to_string);
    let bytes = session.pointer("/resources/memory_bytes").and_then(Value::as_u64);
    let megabytes = bytes.unwrap_or(0) >> 20;
    format!(
        "{}, {} processes, {megabytes} MB, {} killed; its own mouse_move: {answered} in {own} ms",
        text("/status"),
        text("/resources/pids"),
        text("/resources/out_of_memory"),
    )
}
