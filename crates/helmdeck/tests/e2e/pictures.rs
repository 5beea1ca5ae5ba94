//! Screenshots.

use std::{collections::HashSet, io::Cursor};

use helmdeck_testkit::{Answer, Desk, Server, jpeg_size};
use serde_json::json;

/// A decoded picture: width, height and colours.
struct Seen {
    size: (u32, u32),
    colours: HashSet<[u8; 3]>,
}

fn png(answer: &Answer) -> Seen {
    assert_eq!(answer.header("content-type"), "image/png");
    let mut reader = png::Decoder::new(Cursor::new(&answer.body)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let samples = frame.color_type.samples();
    Seen { size: (frame.width, frame.height), colours: colours(&pixels, samples) }
}

fn webp(answer: &Answer) -> Seen {
    assert_eq!(answer.header("content-type"), "image/webp");
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(&answer.body)).unwrap();
    let mut pixels = vec![0; decoder.output_buffer_size().unwrap()];
    decoder.read_image(&mut pixels).unwrap();
    let samples = if decoder.has_alpha() { 4 } else { 3 };
    Seen { size: decoder.dimensions(), colours: colours(&pixels, samples) }
}

fn jpeg(answer: &Answer) -> (u32, u32) {
    assert_eq!(answer.header("content-type"), "image/jpeg");
    jpeg_size(&answer.body)
}

fn colours(pixels: &[u8], samples: usize) -> HashSet<[u8; 3]> {
    pixels.chunks_exact(samples).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

#[tokio::test]
async fn a_screenshot_shows_the_whole_painted_desktop() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({ "mode": "desktop" })).await;
    let first = desk.ask("screenshot", json!({})).await.expect(200);
    let seen = png(&first);
    assert_eq!(seen.size, (1920, 1080));
    assert!(seen.colours.len() > 50, "only {} colours", seen.colours.len());
    assert_eq!(first.header("x-helmdeck-size"), "1920x1080");
    assert_eq!(first.header("x-helmdeck-origin"), "0,0");
    assert_eq!(first.header("x-helmdeck-scale"), "1");

    let second = desk.ask("screenshot", json!({})).await.expect(200);
    let (one, two) =
        (first.header("x-helmdeck-screenshot-id"), second.header("x-helmdeck-screenshot-id"));
    assert!(!one.is_empty() && one != two, "{one:?} {two:?}");
}

#[tokio::test]
async fn the_first_screenshot_after_ready_has_no_undrawn_panel() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::create(&client, &json!({ "mode": "desktop", "geometry": "1280x800" })).await;
    let first = desk.ask("screenshot", json!({})).await.expect(200);
    let mut reader = png::Decoder::new(Cursor::new(&first.body)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let row = frame.line_size;
    let strip = &pixels[row * 776..row * 796];
    let seen = colours(strip, frame.color_type.samples());
    assert!(seen.len() > 8, "the panel shows only {seen:?}");
}

#[tokio::test]
async fn the_format_comes_from_the_body_then_accept_then_defaults_to_png() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let size = (1280, 800);
    let ask =
        async |format: &str| desk.ask("screenshot", json!({ "format": format })).await.expect(200);
    assert_eq!(png(&ask("png").await).size, size);
    assert_eq!(jpeg(&ask("jpeg").await), size);
    assert_eq!(jpeg(&ask("jpg").await), size);
    let seen = webp(&ask("webp").await);
    assert!(seen.size == size && seen.colours.len() > 50, "{:?} {}", seen.size, seen.colours.len());

    let accept = async |accept: &str, body: serde_json::Value| {
        let mut body = body;
        body["session_id"] = desk.id.clone().into();
        let headers = [("accept", accept)];
        let path = "/api/v1/desktop/screenshot";
        client
            .send("POST".parse().unwrap(), path, &headers, body.to_string().into())
            .await
            .expect(200)
    };
    webp(&accept("image/webp", json!({})).await);
    jpeg(&accept("image/jpeg, image/png;q=0.5", json!({})).await);
    png(&accept("*/*", json!({})).await);
    png(&accept("image/webp", json!({ "format": "png" })).await);
}

#[tokio::test]
async fn a_narrower_picture_keeps_its_aspect_ratio_and_reports_its_scale() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let small = desk.ask("screenshot", json!({ "max_width": 640 })).await.expect(200);
    assert_eq!(png(&small).size, (640, 400));
    assert_eq!(small.header("x-helmdeck-size"), "640x400");
    assert_eq!(small.header("x-helmdeck-scale"), "0.5");
    let whole = desk.ask("screenshot", json!({ "max_width": 5000 })).await.expect(200);
    assert_eq!(png(&whole).size, (1280, 800));
    let sized = desk.ask("screenshot", json!({ "for": { "max_edge": 960 } })).await.expect(200);
    assert_eq!(png(&sized).size, (960, 600));
    assert_eq!(sized.header("x-helmdeck-scale"), "0.75");
}

#[tokio::test]
async fn zooming_fills_a_square_of_1024_with_the_region() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    for (region, size, origin, scale) in [
        ([0, 0, 800, 600], (1024, 768), "0,0", 1.28),
        ([100, 50, 200, 250], (512, 1024), "100,50", 5.12),
        ([200, 250, 100, 50], (512, 1024), "100,50", 5.12),
        ([0, 0, 1280, 800], (1024, 640), "0,0", 0.8),
    ] {
        let [x1, y1, x2, y2] = region;
        let body = json!({ "x1": x1, "y1": y1, "x2": x2, "y2": y2 });
        let picture = desk.ask("zoom", body).await.expect(200);
        assert_eq!(png(&picture).size, size, "{region:?}");
        assert_eq!(picture.header("x-helmdeck-size"), format!("{}x{}", size.0, size.1));
        assert_eq!(picture.header("x-helmdeck-origin"), origin);
        let told: f64 = picture.header("x-helmdeck-scale").parse().unwrap();
        assert!((told - scale).abs() < 0.01, "{region:?}: {told}");
    }
}

#[tokio::test]
async fn the_pointer_is_in_the_picture_only_on_request() {
    let server = Server::start();
    let client = server.client("agent", "sessions:*");
    let desk = Desk::desktop(&client).await;
    let page = "<title>empty</title><body style='background:white;cursor:crosshair'>";
    desk.browse(page, "empty").await;
    desk.act("mouse_move", json!({ "x": 640, "y": 500 })).await;
    let look = async |cursor: bool| desk.ask("screenshot", json!({ "cursor": cursor })).await.body;
    assert_ne!(look(true).await, look(false).await);
}
