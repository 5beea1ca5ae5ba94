//! The text of pictures, by tesseract.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Document, DocumentError, Format, Options, pdf, program::output};

/// Dots per inch of a page's picture.
const RESOLUTION: &str = "200";

/// Reads a picture, or the pictures of all pages of a PDF.
pub fn document(path: &Path, format: Format, options: &Options) -> Result<Document, DocumentError> {
    match format {
        Format::Picture => {
            if !options.ocr && !options.only_ocr {
                let warnings = vec!["the text of pictures is only read with do_ocr".to_owned()];
                let markdown = String::new();
                return Ok(Document { format, markdown, pages: None, warnings });
            }
            let markdown = text(path, &options.languages)?;
            Ok(Document { format, markdown, pages: Some(1), warnings: Vec::new() })
        }
        Format::Pdf => {
            let pages = pdf::page_count(path)?;
            let read = pages.min(options.max_pages);
            let mut texts = Vec::new();
            for page in 1..=read {
                texts.push(page_text(path, page, &options.languages)?);
            }
            let mut warnings = Vec::new();
            if read < pages {
                warnings.push(format!("only the first {read} of {pages} pages were read"));
            }
            Ok(Document { format, markdown: texts.join("\n"), pages: Some(pages), warnings })
        }
        _ => {
            let message = "only pictures and PDF have text to recognize: use doc.parse";
            Err(DocumentError::Unsupported(message.to_owned()))
        }
    }
}

/// The text of one page of a PDF.
pub fn page_text(path: &Path, page: usize, languages: &[String]) -> Result<String, DocumentError> {
    let picture = Picture::of(page);
    let number = page.to_string();
    let prefix = picture.0.with_extension("");
    let options = ["-r", RESOLUTION, "-gray", "-png", "-singlefile", "-f", &number, "-l", &number];
    let words = options.iter().map(Path::new).chain([path, &prefix]);
    output("pdftoppm", words)?;
    text(&picture.0, languages)
}

/// The text of a picture.
fn text(path: &Path, languages: &[String]) -> Result<String, DocumentError> {
    let languages = languages.join("+");
    let words = [path.as_os_str(), "stdout".as_ref(), "-l".as_ref(), languages.as_ref()];
    let words = words.into_iter().chain(["--psm".as_ref(), "3".as_ref()]);
    let read = output("tesseract", words).map_err(explained)?;
    let text = String::from_utf8_lossy(&read).replace('\u{c}', "");
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    Ok(format!("{}\n", lines.join("\n").trim()))
}

/// Names the language if tesseract lacks its data.
fn explained(error: DocumentError) -> DocumentError {
    let DocumentError::Program { message, .. } = &error else { return error };
    let named = message.split("Failed loading language '").nth(1);
    match named.and_then(|rest| rest.split('\'').next()) {
        Some(language) => DocumentError::MissingLanguage(language.to_owned()),
        None => error,
    }
}

/// The picture of a page, which is removed after use.
struct Picture(PathBuf);

impl Picture {
    fn of(page: usize) -> Self {
        let name = format!("helmdeck-page-{}-{page}.png", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_language_is_named() {
        let message =
            "Error opening data file\nFailed loading language 'xyz'\nTesseract couldn't load";
        let error = DocumentError::Program { program: "tesseract".into(), message: message.into() };
        assert_eq!(explained(error), DocumentError::MissingLanguage("xyz".to_owned()));
    }
}
