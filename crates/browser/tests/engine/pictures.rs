//! Screenshots of pages.

use helmdeck_wire::vendor_size::{SizeRule, Vendor};
use serde_json::json;

use crate::desk::Desk;

const PAGE: &str = "<style>body { margin: 0; height: 3000px; background: #fff }
    #red { position: absolute; left: 40px; top: 2000px; width: 120px; height: 80px; background: #f00 }
    ::-webkit-scrollbar { display: none }</style><div id=red></div>";

/// Size and top left pixel of a PNG.
fn read(png: &[u8]) -> (u32, u32, [u8; 3]) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, [pixels[0], pixels[1], pixels[2]])
}

#[tokio::test]
async fn a_screenshot_shows_the_viewport_the_whole_page_or_an_element() {
    let desk = Desk::showing(PAGE).await;
    let view = desk.screenshot(json!({})).await.unwrap();
    let size = desk.value("[innerWidth, innerHeight]").await;
    assert_eq!(json!([view.width, view.height]), size);
    assert_eq!(read(&view.bytes), (view.width, view.height, [255; 3]));

    let whole = desk.screenshot(json!({ "full_page": true })).await.unwrap();
    assert_eq!(whole.height, 3000);
    assert_eq!(read(&whole.bytes).1, 3000);

    let element = desk.screenshot(json!({ "selector": "#red" })).await.unwrap();
    assert_eq!((element.width, element.height, element.origin), (120, 80, (40, 2000)));
    assert_eq!(read(&element.bytes), (120, 80, [255, 0, 0]));
    assert_ne!(view.id, whole.id);
    assert!(element.id.starts_with("page-"));
}

#[tokio::test]
async fn a_screenshot_uses_the_requested_encoding() {
    let desk = Desk::showing(PAGE).await;
    for (format, magic) in [("png", "\u{89}PNG"), ("jpeg", "\u{ff}\u{d8}"), ("webp", "RIFF")] {
        let shot = json!({ "selector": "#red", "format": format });
        let shot = desk.screenshot(shot).await.unwrap();
        let magic: Vec<u8> = magic.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        assert!(shot.bytes.starts_with(&magic), "{format}");
        assert_eq!((shot.width, shot.height), (120, 80), "{format}");
    }
}

#[tokio::test]
async fn a_screenshot_for_a_model_has_the_size_of_the_rule() {
    let desk = Desk::showing(PAGE).await;
    desk.value("scrollTo(0, 1990)").await;
    let size = desk.value("[innerWidth, innerHeight]").await;
    let (width, height) = (size[0].as_u64().unwrap(), size[1].as_u64().unwrap());
    let rule = json!({ "for": { "max_edge": width / 2 } });
    let half = desk.screenshot(rule).await.unwrap();
    assert_eq!(u64::from(half.width), width / 2);
    assert!(u64::from(half.height).abs_diff(height / 2) <= 1);
    assert!((half.scale - 0.5).abs() < 0.001, "{}", half.scale);
    assert_eq!(read(&half.bytes), (half.width, half.height, [255; 3]));
    let whole = json!({ "full_page": true, "for": "anthropic" });
    let whole = desk.screenshot(whole).await.unwrap();
    let sized = SizeRule::Vendor(Vendor::Anthropic).size(u32::try_from(width).unwrap(), 3000);
    assert_eq!((whole.width, whole.height), sized);
    // The page fits; it is not scaled.
    let view = desk.screenshot(json!({ "for": "openai" })).await.unwrap();
    assert_eq!((json!([view.width, view.height]), view.scale), (size, 1.0));
}
