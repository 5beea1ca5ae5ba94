//! What a document is, by its first bytes.

use serde::{Deserialize, Serialize};

use crate::{DocumentError, office};

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// PDF.
    Pdf,
    /// Word.
    Docx,
    /// PowerPoint.
    Pptx,
    /// A web page.
    Html,
    /// A picture.
    Picture,
    /// Text, which may be Markdown.
    Text,
}

const PICTURES: [&[u8]; 6] = [b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF8", b"BM"];

impl Format {
    /// The format of a document. Its name only matters for text.
    pub fn of(name: &str, content: &[u8]) -> Result<Self, DocumentError> {
        let start = content.get(..content.len().min(1024)).unwrap_or_default();
        let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
        if start.windows(5).any(|bytes| bytes == b"%PDF-") {
            return Ok(Self::Pdf);
        }
        if is_webp || PICTURES.iter().any(|magic| start.starts_with(magic)) {
            return Ok(Self::Picture);
        }
        if start.starts_with(b"PK\x03\x04") {
            return office::format(content);
        }
        if start.starts_with(b"\xd0\xcf\x11\xe0") {
            let message =
                "this is an old Office file, or one with a password: save it as DOCX or PPTX";
            return Err(DocumentError::Unsupported(message.to_owned()));
        }
        if start.contains(&0) || start.is_empty() {
            return Err(DocumentError::Unsupported("the content is of no known format".to_owned()));
        }
        let text = String::from_utf8_lossy(start).to_ascii_lowercase();
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let lower = name.to_ascii_lowercase();
        let is_named =
            lower.ends_with(".html") || lower.ends_with(".htm") || lower.ends_with(".xhtml");
        let marks = ["<!doctype html", "<html", "<head", "<body"];
        let is_html =
            is_named || marks.iter().any(|mark| text.contains(mark) && text.starts_with('<'));
        Ok(if is_html { Self::Html } else { Self::Text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognized_by_content_and_not_by_name() {
        let of = |name: &str, content: &[u8]| Format::of(name, content);
        assert_eq!(of("x.docx", b"%PDF-1.7\n"), Ok(Format::Pdf));
        assert_eq!(of("", b"\x89PNG\r\n\x1a\n"), Ok(Format::Picture));
        assert_eq!(of("", b"RIFF\0\0\0\0WEBPVP8 "), Ok(Format::Picture));
        assert_eq!(of("", b"\n<!DOCTYPE html><p>"), Ok(Format::Html));
        assert_eq!(of("page.html", b"<p>x"), Ok(Format::Html));
        assert_eq!(of("", b"I wrote <html> today"), Ok(Format::Text));
        for bad in [&b""[..], b"\0\0\0", b"\xd0\xcf\x11\xe0\xa1", b"PK\x03\x04broken"] {
            assert!(of("a.pdf", bad).is_err(), "{bad:?}");
        }
    }
}
