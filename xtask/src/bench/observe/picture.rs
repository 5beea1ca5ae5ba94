//! Compares two pictures of a screen.

use std::{io::Write, process::Command};

use helmdeck_testkit::Answer;

use super::shown::Area;

/// Channels that differ by at most this much look the same.
const SAME: u8 = 12;
/// The largest difference that can be a blinking caret, in pixels.
const CARET: (i64, i64) = (3, 30);

/// The place where two pictures differ, outside of `ignored`. A caret that blinks is no difference.
pub fn difference(taken: &Answer, last: &Answer, ignored: &[Area]) -> Option<Area> {
    if taken.body == last.body {
        return None;
    }
    let size = taken.headers.get("x-helmdeck-size").and_then(|size| size.to_str().ok());
    let width = size.and_then(|size| size.split_once('x')?.0.parse::<usize>().ok()).unwrap_or(1);
    // Without a decoder, every picture counts as wrong.
    let (Some(taken), Some(last)) = (pixels(&taken.body), pixels(&last.body)) else {
        return Some(Area { left: 0, top: 0, right: i64::MAX, bottom: i64::MAX });
    };
    let mut found: Option<Area> = None;
    for (at, (one, other)) in taken.chunks(3).zip(last.chunks(3)).enumerate() {
        if one == other || one.iter().zip(other).all(|(one, other)| one.abs_diff(*other) <= SAME) {
            continue;
        }
        let (x, y) = ((at % width) as i64, (at / width) as i64);
        if ignored.iter().any(|area| area.has(x, y)) {
            continue;
        }
        let pixel = Area { left: x, top: y, right: x + 1, bottom: y + 1 };
        let known = found.unwrap_or(pixel);
        found = Some(Area {
            left: known.left.min(pixel.left),
            top: known.top.min(pixel.top),
            right: known.right.max(pixel.right),
            bottom: known.bottom.max(pixel.bottom),
        });
    }
    found.filter(|area| {
        let (width, height) = (area.right - area.left, area.bottom - area.top);
        width > CARET.0 || height > CARET.1
    })
}

/// The pixels of a PNG, three bytes each.
fn pixels(png: &[u8]) -> Option<Vec<u8>> {
    let mut file = tempfile::NamedTempFile::new().ok()?;
    file.write_all(png).ok()?;
    let output = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "png_pipe", "-i"])
        .arg(file.path())
        .args(["-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        .output();
    match output {
        Ok(output) if output.status.success() => Some(output.stdout),
        Ok(output) => {
            eprintln!("ffmpeg: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("ffmpeg: {error}");
            None
        }
    }
}
