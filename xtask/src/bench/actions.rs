//! Actions over HTTP with a token, end to end, compared with one process per action.

use std::time::{Duration, Instant};

use helmdeck_testkit::{Desk, Server};
use serde_json::{Value, json};

use super::{
    peers::{self, Technique},
    table::{Row, Samples, print},
};

const FIFTY: &str = "The quick brown fox jumps over 13 lazy dogs, twice";

const TECHNIQUES: [Technique; 10] = [
    Technique { name: "click", command: "xdotool mousemove 600 500 click 1", times: 30 },
    Technique { name: "click0", command: "xdotool mousemove 600 500 click --delay 0 1", times: 30 },
    Technique { name: "move", command: "xdotool mousemove 600 500", times: 50 },
    Technique {
        name: "scroll",
        command: "xdotool mousemove 600 500 click --repeat 5 5",
        times: 20,
    },
    Technique {
        name: "type",
        command: "xdotool type -- 'The quick brown fox jumps over 13 lazy dogs, twice'",
        times: 10,
    },
    Technique { name: "png", command: "scrot -o /tmp/shot.png && cat /tmp/shot.png", times: 20 },
    Technique { name: "still", command: "scrot -o /tmp/shot.png && cat /tmp/shot.png", times: 20 },
    Technique {
        name: "jpeg",
        command: "scrot -o -q 80 /tmp/shot.jpg && cat /tmp/shot.jpg",
        times: 20,
    },
    Technique {
        name: "zoom",
        command: "scrot -o /tmp/z.png && \
                  convert /tmp/z.png -crop 800x600+1120+480 -resize 1024x1024 /tmp/o.png && cat /tmp/o.png",
        times: 10,
    },
    Technique {
        name: "sized",
        command: "scrot -o /tmp/s.png && convert /tmp/s.png -resize 1456x819 /tmp/t.png && cat /tmp/t.png",
        times: 10,
    },
];

/// While the whole screen changes.
const MOVING_TECHNIQUES: [Technique; 3] = [
    Technique {
        name: "moving-png",
        command: "scrot -o /tmp/shot.png && cat /tmp/shot.png",
        times: 20,
    },
    Technique {
        name: "moving-jpeg",
        command: "scrot -o -q 80 /tmp/shot.jpg && cat /tmp/shot.jpg",
        times: 20,
    },
    Technique {
        name: "moving-sized",
        command: "scrot -o /tmp/s.png && convert /tmp/s.png -resize 1456x819 /tmp/t.png && cat /tmp/t.png",
        times: 10,
    },
];

/// A terminal of the size of the screen, full of text, that swaps its colours.
const MOVING: &str = "seq -w 1 20000 | tr '\\n' ' ' | head -c 40000; \
    while sleep 0.05; do printf '\\e[?5h'; sleep 0.05; printf '\\e[?5l'; done";

/// Measures and prints the table.
pub async fn run(server: &Server) {
    let client = server.admin();
    let desk = Desk::create(&client, &json!({ "mode": "desktop", "idle_timeout_s": 0 })).await;
    // Focus the address bar, so that typed text has a target.
    desk.act("key", json!({ "keys": "ctrl+l" })).await;
    let point = json!({ "x": 600, "y": 500 });
    let scroll = json!({ "x": 600, "y": 500, "direction": "down", "amount": 5 });
    // Where the small area moves.
    let zoom = json!({ "x1": 1120, "y1": 480, "x2": 1920, "y2": 1080 });
    let click = time(&desk, "click", &point, 300).await;
    let moved = time(&desk, "mouse_move", &point, 300).await;
    let scrolled = time(&desk, "scroll", &scroll, 100).await;
    desk.act("key", json!({ "keys": "ctrl+l" })).await;
    let typed = time(&desk, "type", &json!({ "text": FIFTY }), 30).await;
    let unchanged = time(&desk, "screenshot", &json!({}), 60).await;
    // A small moving area; otherwise pictures after the first would cost nothing.
    let moving = "while sleep 0.01; do date +%N; done";
    let args = ["-geometry", "20x2-0-0", "-e", "bash", "-c", moving];
    desk.act("launch", json!({ "command": "xterm", "args": args })).await;
    desk.focused("XTerm").await;
    let png = time_anew(&desk, "screenshot", &json!({}), 60).await;
    let jpeg = time_anew(&desk, "screenshot", &json!({ "format": "jpeg" }), 60).await;
    let zoomed = time_anew(&desk, "zoom", &zoom, 60).await;
    let sized = time_anew(&desk, "screenshot", &json!({ "for": "anthropic" }), 60).await;
    desk.act("key", json!({ "keys": "ctrl+l" })).await;
    let mut peer = peers::measure(&desk, &TECHNIQUES).await;
    let args = ["-geometry", "320x84+0+0", "-e", "bash", "-c", MOVING];
    desk.act("launch", json!({ "command": "xterm", "args": args })).await;
    desk.act("wait", json!({ "seconds": 2 })).await;
    let moving_png = time_anew(&desk, "screenshot", &json!({}), 60).await;
    let moving_jpeg = time_anew(&desk, "screenshot", &json!({ "format": "jpeg" }), 60).await;
    let moving_sized = time_anew(&desk, "screenshot", &json!({ "for": "anthropic" }), 60).await;
    peer.extend(peers::measure(&desk, &MOVING_TECHNIQUES).await);
    desk.end().await;

    let mut row = |what, name: &str, ours: &Samples, bar| {
        let techniques = TECHNIQUES.iter().chain(&MOVING_TECHNIQUES);
        let technique = techniques.clone().find(|t| t.name == name).map_or("", |t| t.command);
        let peer = peer.remove(name).unwrap_or_default();
        Row { what, ours: ours.clone(), peer, technique, bar }
    };
    println!("\n## Actions at 1920×1080, end to end over HTTP with a token\n");
    print(&[
        row("click", "click", &click, Some(50.0)),
        row("click, peer without its delay", "click0", &click, None),
        row("move", "move", &moved, None),
        row("scroll 5", "scroll", &scrolled, Some(20.0)),
        row("type 50 characters", "type", &typed, Some(3.0)),
        row("screenshot PNG", "png", &png, Some(8.0)),
        row("screenshot PNG, nothing changed since the last", "still", &unchanged, None),
        row("screenshot JPEG", "jpeg", &jpeg, None),
        row("zoom 800×600", "zoom", &zoomed, None),
        row("screenshot for Claude, 1456×819", "sized", &sized, None),
        row("screenshot PNG, the whole screen changes", "moving-png", &moving_png, None),
        row("screenshot JPEG, the whole screen changes", "moving-jpeg", &moving_jpeg, None),
        row("screenshot for Claude, the whole screen changes", "moving-sized", &moving_sized, None),
    ]);
}

async fn time(desk: &Desk<'_>, action: &str, body: &Value, times: usize) -> Samples {
    time_after(desk, action, body, times, Duration::ZERO).await
}

/// Times an action on a screen that has changed since the last picture.
async fn time_anew(desk: &Desk<'_>, action: &str, body: &Value, times: usize) -> Samples {
    time_after(desk, action, body, times, Duration::from_millis(100)).await
}

async fn time_after(
    desk: &Desk<'_>,
    action: &str,
    body: &Value,
    times: usize,
    pause: Duration,
) -> Samples {
    desk.ask(action, body.clone()).await.expect(200);
    let mut samples = Samples::default();
    for _ in 0..times {
        tokio::time::sleep(pause).await;
        let began = Instant::now();
        desk.ask(action, body.clone()).await.expect(200);
        samples.0.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    samples
}
