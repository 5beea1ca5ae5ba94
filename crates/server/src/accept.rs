//! Negotiates the picture format from an `Accept` header.

use helmdeck_wire::screen::Format;

/// The format with the highest quality, or the first of several; PNG if none is named.
pub fn preferred(accept: &str) -> Format {
    let mut best = (0.0, Format::Png);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let format = match parts.next() {
            Some("image/png" | "image/*" | "*/*") => Format::Png,
            Some("image/webp") => Format::Webp,
            Some("image/jpeg" | "image/jpg") => Format::Jpeg,
            _ => continue,
        };
        let quality = parts
            .find_map(|part| part.strip_prefix("q="))
            .map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
        if quality > best.0 {
            best = (quality, format);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_quality_wins_and_png_is_the_default() {
        for (accept, format) in [
            ("", Format::Png),
            ("*/*", Format::Png),
            ("text/html", Format::Png),
            ("image/webp", Format::Webp),
            ("image/jpeg;q=0.5, image/webp;q=0.8", Format::Webp),
            ("image/webp, image/png", Format::Webp),
            ("image/webp;q=0", Format::Png),
            ("image/avif,image/jpg,*/*;q=0.8", Format::Jpeg),
        ] {
            assert_eq!(preferred(accept), format, "{accept:?}");
        }
    }
}
