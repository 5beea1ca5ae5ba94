//! Screenshots, and the screen size.

use std::io::Cursor;

use helmdeck_display::{Display, Mark};
use helmdeck_wire::{
    ErrorCode,
    point::Rect,
    pointer::{Button, Click, MouseMove, Px},
    screen::{Format, Picture, Resize, Screenshot, Zoom},
    vendor_size::{PictureLimits, SizeRule, Vendor},
};
use tokio::time::Instant;

use crate::{
    witness::Witness,
    world::{World, soon},
};

const COLOUR: [u8; 3] = [0x20, 0x80, 0xf0];

/// The size and the pixels of a lossless picture.
fn decoded(picture: &Picture) -> (u32, u32, Vec<u8>) {
    let mut pixels;
    match picture.format {
        Format::Png => {
            let mut reader = png::Decoder::new(Cursor::new(&picture.bytes)).read_info().unwrap();
            pixels = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut pixels).unwrap();
            (info.width, info.height, pixels)
        }
        Format::Webp => {
            let mut reader = image_webp::WebPDecoder::new(Cursor::new(&picture.bytes)).unwrap();
            pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.read_image(&mut pixels).unwrap();
            (reader.dimensions().0, reader.dimensions().1, pixels)
        }
        Format::Jpeg => panic!("not lossless"),
    }
}

fn shot() -> Screenshot {
    Screenshot::default()
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_every_format_show_the_screen() {
    let world = World::bare();
    let display = &world.display;
    display.paint_root(COLOUR).await.unwrap();
    let mut ids = Vec::new();
    for format in [Format::Png, Format::Webp] {
        let picture = display.screenshot(&shot(), format).await.unwrap();
        let (width, height, pixels) = decoded(&picture);
        assert_eq!((width, height), (1280, 800));
        assert_eq!((picture.width, picture.height), (1280, 800));
        assert_eq!((picture.origin, picture.scale), ((0, 0), 1.0));
        assert!(pixels.chunks(3).all(|pixel| pixel == COLOUR));
        ids.push(picture.id);
    }
    assert_ne!(ids[0], ids[1]);
    let asked = Screenshot { format: Some(Format::Jpeg), ..shot() };
    let jpeg = display.screenshot(&asked, Format::Png).await.unwrap();
    assert_eq!(jpeg.format, Format::Jpeg);
    assert!(jpeg.bytes.starts_with(&[0xff, 0xd8, 0xff]));
    assert!(jpeg.bytes.ends_with(&[0xff, 0xd9]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_scaled_down_but_never_up() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    for (max_width, size, scale) in
        [(640, (640, 400), 0.5), (5000, (1280, 800), 1.0), (100, (100, 63), 0.078_125)]
    {
        let action = Screenshot { max_width: Some(max_width), ..shot() };
        let picture = world.display.screenshot(&action, Format::Png).await.unwrap();
        assert_eq!((picture.width, picture.height), size);
        assert_eq!(picture.scale, scale);
        let (width, height, pixels) = decoded(&picture);
        assert_eq!((width, height), size);
        assert!(pixels.chunks(3).all(|pixel| pixel == COLOUR));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_for_a_vendor_has_the_size_that_its_models_see() {
    let world = World::sized("1920x1080");
    world.display.paint_root(COLOUR).await.unwrap();
    let limits = PictureLimits { max_edge: Some(960), max_pixels: None };
    for (rule, size) in [
        (SizeRule::Vendor(Vendor::Anthropic), (1456, 819)),
        (SizeRule::Vendor(Vendor::AnthropicHigh), (1920, 1080)),
        (SizeRule::Limits(limits), (960, 540)),
    ] {
        let action = Screenshot { size_rule: Some(rule), ..shot() };
        let picture = world.display.screenshot(&action, Format::Png).await.unwrap();
        assert_eq!((picture.width, picture.height), size);
        assert_eq!(picture.scale, f64::from(size.0) / 1920.0);
        let (width, height, pixels) = decoded(&picture);
        assert_eq!((width, height), size);
        assert!(pixels.chunks(3).all(|pixel| pixel == COLOUR));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_after_a_small_change_is_the_whole_screen_as_it_is() {
    let world = World::bare();
    let display = &world.display;
    display.paint_root(COLOUR).await.unwrap();
    let taken = async |display: &Display| {
        let picture = display.screenshot(&shot(), Format::Png).await.unwrap();
        decoded(&picture).2
    };
    taken(display).await;
    let mut terminals = Vec::new();
    for (geometry, lines) in [("20x2+700+0", "1"), ("30x5+10+300", "3"), ("90x30+400+350", "20")] {
        let print = format!("seq {lines}; sleep 60");
        terminals.push(world.xterm(&["-geometry", geometry, "-e", &print]));
        let deadline = soon();
        loop {
            let before = taken(display).await;
            // Another connection has no earlier picture, and reads everything.
            let whole = taken(&Display::connect(&world.name).unwrap()).await;
            if before == whole && whole.chunks(3).filter(|pixel| *pixel != COLOUR).count() > 1000 {
                break;
            }
            assert!(Instant::now() < deadline, "{geometry}");
        }
    }
    terminals.clear();
    let deadline = soon();
    while taken(display).await.chunks(3).any(|pixel| pixel != COLOUR) {
        assert!(Instant::now() < deadline);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_are_drawn_on_a_picture_of_any_size() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    let marks = [Mark { x: 200, y: 200, width: 400, height: 100 }];
    for (max_width, left, top) in [(None, 200, 200), (Some(640), 100, 100)] {
        let action = Screenshot { max_width, ..shot() };
        let picture = world.display.marked_screenshot(&action, Format::Png, &marks).await.unwrap();
        let (width, _, pixels) = decoded(&picture);
        let at = |x: u32, y: u32| &pixels[((y * width + x) * 3) as usize..][..3];
        assert_ne!(at(left, top + 20), COLOUR);
        assert_eq!(at(left - 1, top + 20), COLOUR);
        assert_eq!(at(left + 20, top + 20), COLOUR);
    }
    let plain = world.display.screenshot(&shot(), Format::Png).await.unwrap();
    assert!(decoded(&plain).2.chunks(3).all(|pixel| pixel == COLOUR));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pointer_is_drawn_on_request() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    world.display.mouse_move(&MouseMove { x: Px(600), y: Px(400) }).await.unwrap();
    let plain = world.display.screenshot(&shot(), Format::Png).await.unwrap();
    let action = Screenshot { cursor: true, ..shot() };
    let with = world.display.screenshot(&action, Format::Png).await.unwrap();
    let (plain, with) = (decoded(&plain).2, decoded(&with).2);
    let differs =
        |x: usize, y: usize| plain[(y * 1280 + x) * 3..][..3] != with[(y * 1280 + x) * 3..][..3];
    let changed: Vec<_> =
        (0..1280 * 800).map(|i| (i % 1280, i / 1280)).filter(|(x, y)| differs(*x, *y)).collect();
    assert!(changed.len() > 20, "{}", changed.len());
    assert!(changed.iter().all(|(x, y)| x.abs_diff(600) < 32 && y.abs_diff(400) < 32));
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_regions_are_painted_over_whatever_the_size_of_the_picture() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    let hide = vec![
        Rect { x: 100, y: 200, width: 40, height: 20 },
        Rect { x: -5, y: -5, width: 15, height: 15 },
        Rect { x: 1270, y: 790, width: 4000, height: 4000 },
    ];
    for max_width in [None, Some(640)] {
        let action = Screenshot { hide: hide.clone(), max_width, ..shot() };
        let (width, _, pixels) =
            decoded(&world.display.screenshot(&action, Format::Png).await.unwrap());
        let at = |x: u32, y: u32| {
            let (x, y) = (x * width / 1280, y * width / 1280);
            let start = (y * width + x) as usize * 3;
            pixels[start..start + 3].to_vec()
        };
        for (x, y) in [(120, 210), (2, 2), (1276, 796)] {
            assert_eq!(at(x, y), [0x80; 3], "{x},{y}");
        }
        for (x, y) in [(60, 210), (120, 260), (30, 30), (1200, 700)] {
            assert_eq!(at(x, y), COLOUR, "{x},{y}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zoom_reports_its_origin_and_size() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    let zoom = |x1, y1, x2, y2| Zoom {
        x1: Px(x1),
        y1: Px(y1),
        x2: Px(x2),
        y2: Px(y2),
        format: None,
        fit: None,
    };
    let picture = world.display.zoom(&zoom(900, 700, 100, 100), Format::Png).await.unwrap();
    assert_eq!(picture.origin, (100, 100));
    assert_eq!((picture.width, picture.height, picture.scale), (1024, 768, 1.28));
    let (width, height, pixels) = decoded(&picture);
    assert_eq!((width, height), (1024, 768));
    assert!(pixels.chunks(3).all(|pixel| pixel == COLOUR));
    let whole = world.display.zoom(&zoom(0, 0, 1280, 800), Format::Webp).await.unwrap();
    assert_eq!((whole.width, whole.height, whole.scale), (1024, 640, 0.8));
    let small = Zoom { fit: Some(400), ..zoom(100, 100, 500, 300) };
    let small = world.display.zoom(&small, Format::Png).await.unwrap();
    assert_eq!((small.width, small.height, small.scale), (400, 200, 1.0));
    for bad in [zoom(0, 0, 1281, 10), zoom(5, 5, 5, 10), zoom(0, 0, 10, 801)] {
        let error = world.display.zoom(&bad, Format::Png).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRegion);
        assert!(error.to_string().contains("1280x800"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_screen_takes_any_size_between_the_limits() {
    let world = World::bare();
    let display = &world.display;
    for (width, height) in [
        (1920, 1080),
        (320, 200),
        (1366, 768),
        (1023, 601),
        (7680, 4320),
        (1280, 800),
        (1920, 1080),
    ] {
        let reply = display.resize(&Resize { width, height }).await.unwrap();
        assert_eq!((reply.width, reply.height), (width, height));
        let size = display.size().await.unwrap();
        assert_eq!((u32::from(size.0), u32::from(size.1)), (width, height));
        let picture = display.screenshot(&shot(), Format::Jpeg).await.unwrap();
        assert_eq!((picture.width, picture.height), (width, height));
        let corner =
            Click { x: Px(width as i32 - 1), y: Px(height as i32 - 1), button: Button::Left };
        display.click(&corner).await.unwrap();
    }
    for (width, height) in [(319, 200), (320, 199), (7681, 1000), (70_000, 70_000)] {
        let error = display.resize(&Resize { width, height }).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidGeometry);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_appears_in_the_picture() {
    let world = World::bare();
    world.display.paint_root(COLOUR).await.unwrap();
    let _witness = Witness::on(&world.name);
    let picture = world.display.screenshot(&shot(), Format::Png).await.unwrap();
    assert!(decoded(&picture).2.chunks(3).all(|pixel| pixel == [0x10, 0x20, 0x30]));
}
