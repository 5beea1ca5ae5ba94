//! Reads the size of a JPEG.

/// The size in the frame header. The pixels are not decoded.
pub fn jpeg_size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(&[0xff, 0xd8]) && bytes.ends_with(&[0xff, 0xd9]), "a whole JPEG");
    let word = |at: usize| u32::from(bytes[at]) << 8 | u32::from(bytes[at + 1]);
    let mut at = 2;
    while !matches!(bytes[at + 1], 0xc0..=0xc2) {
        at += 2 + word(at + 2) as usize;
    }
    (word(at + 7), word(at + 5))
}
