//! Media types of artifacts: what a file is by its name, and as what it is sent to browsers.

/// Types of files by the extension of their name.
const BY_EXTENSION: [(&str, &str); 34] = [
    ("avif", "image/avif"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("srt", "application/x-subrip"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("toml", "application/toml"),
    ("txt", "text/plain"),
    ("vtt", "text/vtt"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("zip", "application/zip"),
];

/// Types that browsers neither run nor use as styles, and that are sent as they are.
const PASSIVE: [&str; 18] = [
    "application/gzip",
    "application/json",
    "application/pdf",
    "application/zip",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "image/avif",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/csv",
    "text/markdown",
    "text/plain",
    "video/mp4",
    "video/webm",
];

/// Any other file.
pub const UNKNOWN: &str = "application/octet-stream";

/// What a file is by its name.
pub fn of_name(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let known = BY_EXTENSION.iter().find(|(known, _)| Some(*known) == extension.as_deref());
    known.map_or(UNKNOWN, |(_, media_type)| media_type)
}

/// The extension of a file of this type.
pub fn extension(media_type: &str) -> Option<&'static str> {
    let known = BY_EXTENSION.iter().find(|(_, known)| *known == media_type);
    known.map(|(extension, _)| *extension)
}

/// As what a file is sent: HTML, SVG, scripts, styles and unknown types are just bytes, so that no
/// browser shows or runs them as content of this server.
pub fn sent_as(declared: &str) -> &'static str {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match PASSIVE.iter().find(|passive| **passive == essence) {
        // Otherwise, browsers guess the encoding.
        Some(&"text/plain") => "text/plain; charset=utf-8",
        Some(passive) => passive,
        None => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_the_extension_of_a_name() {
        assert_eq!(of_name("a.b.PNG"), "image/png");
        for name in ["png", "a.", "a", ".", "a.unknown"] {
            assert_eq!(of_name(name), UNKNOWN, "{name}");
        }
    }

    #[test]
    fn only_types_that_browsers_do_not_run_are_sent_as_they_are() {
        assert_eq!(sent_as("image/png"), "image/png");
        assert_eq!(sent_as("Text/Plain; charset=latin1"), "text/plain; charset=utf-8");
        for active in [
            "text/html",
            "image/svg+xml",
            "application/xhtml+xml",
            "text/xml",
            "text/javascript",
            "application/ecmascript",
            "text/css",
            "text/vtt",
            "application/wasm",
            "x/y",
        ] {
            assert_eq!(sent_as(active), UNKNOWN, "{active}");
        }
    }
}
