//! Reads documents as Markdown: PDF, Word, PowerPoint, HTML and pictures.
//!
//! It runs inside a session (ADR 55), because documents are untrusted. Word, PowerPoint and HTML are
//! read here; PDF and pictures by programs of poppler and tesseract.

mod docx;
mod entities;
mod error;
mod format;
mod html;
mod markdown;
mod markup;
mod ocr;
mod office;
mod pdf;
mod pdf_table;
mod pptx;
mod program;
#[cfg(test)]
mod tests;

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

pub use error::DocumentError;
pub use format::Format;

/// Largest document.
pub const MAX_BYTES: u64 = 64 << 20;
/// Longest text of a document; the rest is left out.
const MAX_TEXT: usize = 8 << 20;

/// How to read a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Its name, whose ending helps where the content is plain text.
    pub name: String,
    /// Whether to recognize the text of pictures, and of pages without text.
    pub ocr: bool,
    /// Whether to take the text of every page from its picture.
    pub only_ocr: bool,
    /// Languages of the text in pictures, as tesseract names them.
    pub languages: Vec<String>,
    /// Most pages to read.
    pub max_pages: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: String::new(),
            ocr: true,
            only_ocr: false,
            languages: vec!["eng".to_owned()],
            max_pages: 500,
        }
    }
}

/// A document as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What it is.
    pub format: Format,
    /// Its text, as Markdown. Of pictures, plain lines.
    pub markdown: String,
    /// Number of pages or slides, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// What is missing, such as pages beyond the limit.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Reads a document.
pub fn read(path: &Path, options: &Options) -> Result<Document, DocumentError> {
    let size =
        fs::metadata(path).map_err(|error| DocumentError::Unreadable(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(DocumentError::TooLarge(size));
    }
    let content = fs::read(path).map_err(|error| DocumentError::Unreadable(error.to_string()))?;
    let format = Format::of(&options.name, &content)?;
    let mut document = match format {
        _ if options.only_ocr => ocr::document(path, format, options)?,
        Format::Picture => ocr::document(path, format, options)?,
        Format::Pdf => pdf::document(path, options)?,
        Format::Docx => docx::document(content)?,
        Format::Pptx => pptx::document(content, options)?,
        Format::Html => plain(format, html::markdown(&String::from_utf8_lossy(&content))),
        Format::Text => plain(format, String::from_utf8_lossy(&content).into_owned()),
    };
    if document.markdown.len() > MAX_TEXT {
        let end = document.markdown.floor_char_boundary(MAX_TEXT);
        document.markdown.truncate(end);
        document.warnings.push(format!("only the first {MAX_TEXT} bytes of its text are returned"));
    }
    Ok(document)
}

fn plain(format: Format, markdown: String) -> Document {
    Document { format, markdown, pages: None, warnings: Vec::new() }
}
