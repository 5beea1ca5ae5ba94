//! Tokens of a picture, by the formulas that vendors publish. The product has its own copy, for
//! sizes, in `crates/wire/src/vendor_size.rs`.

/// A name, and the tokens of a picture of this width and height.
pub type Formula = (&'static str, fn(u32, u32) -> u32);

pub const FORMULAS: [Formula; 4] = [
    ("Anthropic, patches of 28", anthropic),
    ("OpenAI, patches of 32", openai),
    ("OpenAI before GPT-5.2, tiles of 512", openai_tiles),
    ("Gemini 2, tiles of 256 to 768", gemini),
];

/// One for each patch: at most 1568 of them, and 1568 pixels on a side.
fn anthropic(width: u32, height: u32) -> u32 {
    let patches = |wide: u32| {
        let high = (f64::from(height) * f64::from(wide) / f64::from(width)).round() as u32;
        let (across, down) = (wide.div_ceil(28), high.div_ceil(28));
        (across.max(down) * 28 <= 1568).then_some(across * down)
    };
    let fitting = (1..=width).rev().filter_map(patches).find(|patches| *patches <= 1568);
    fitting.unwrap_or(0)
}

/// 1.2 for each patch: at most 2500 of them, and 2048 pixels on a side.
fn openai(width: u32, height: u32) -> u32 {
    let (width, height) = within(width, height, 2048);
    (width.div_ceil(32) * height.div_ceil(32)).min(2500) * 12 / 10
}

/// 85, and 170 for each tile of a picture with at most 768 pixels on the short side.
fn openai_tiles(width: u32, height: u32) -> u32 {
    let (width, height) = within(width, height, 2048);
    let short = width.min(height).max(768);
    let side = |length: u32| (length * 768 / short).div_ceil(512);
    85 + 170 * side(width) * side(height)
}

/// 258 for each tile.
fn gemini(width: u32, height: u32) -> u32 {
    if width.max(height) <= 384 {
        return 258;
    }
    let side = (width.min(height) * 2 / 3).clamp(256, 768);
    width.div_ceil(side) * height.div_ceil(side) * 258
}

fn within(width: u32, height: u32, edge: u32) -> (u32, u32) {
    let long = width.max(height).max(edge);
    (width * edge / long, height * edge / long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_published_ones() {
        assert_eq!((anthropic(1920, 1080), anthropic(1000, 1000)), (1560, 1296));
        assert_eq!((openai(1024, 1024), openai(1920, 1080)), (1228, 2448));
        assert_eq!((openai_tiles(1024, 1024), openai_tiles(2048, 4096)), (765, 1105));
        assert_eq!((gemini(384, 384), gemini(960, 540)), (258, 6 * 258));
    }
}
