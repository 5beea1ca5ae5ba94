//! Docling, a service that reads documents, if the operator runs one.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Endpoint, HttpClient, PackError, PackResult,
    document::Text,
    post_with_retries::{Asked, post},
};

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Largest response.
const MAX_RESPONSE: usize = 16 << 20;

/// What to read.
pub struct Conversion<'a> {
    /// The document.
    pub content: &'a Bytes,
    /// Its name, by which Docling knows its format.
    pub name: &'a str,
    /// Whether to recognize the text of pictures.
    pub ocr: bool,
    /// Languages of that text.
    pub languages: &'a [String],
    /// Forms to return, as Docling names them.
    pub formats: &'a [&'static str],
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    errors: Vec<serde_json::Value>,
    document: Option<Converted>,
}

#[derive(Deserialize)]
struct Converted {
    md_content: Option<String>,
    text_content: Option<String>,
    html_content: Option<String>,
}

/// Reads a document with the service at `endpoint`.
pub async fn convert(
    http: &HttpClient,
    endpoint: &Endpoint,
    conversion: Conversion<'_>,
) -> PackResult<Text> {
    let body = json!({
        "options": {
            "to_formats": conversion.formats,
            "do_ocr": conversion.ocr,
            "ocr_lang": conversion.languages,
            "image_export_mode": "placeholder",
            "abort_on_error": false,
        },
        "sources": [{
            "kind": "file",
            "base64_string": BASE64_STANDARD.encode(conversion.content),
            "filename": conversion.name,
        }],
    });
    let asked = Asked {
        name: "Docling",
        url: format!("{}/v1/convert/source", endpoint.url),
        body: &body,
        timeout: TIMEOUT,
        max_bytes: MAX_RESPONSE,
    };
    let response = post(http, asked).await?;
    if !response.status.is_success() || response.truncated {
        let text = String::from_utf8_lossy(&response.body);
        let text: String = text.chars().take(500).collect();
        return Err(PackError::failed(format!("Docling answered {}: {text}", response.status)));
    }
    let answer: Answer = serde_json::from_slice(&response.body)
        .map_err(|error| PackError::failed(format!("Docling answered in another form: {error}")))?;
    let warnings: Vec<_> = answer.errors.iter().map(ToString::to_string).collect();
    match (answer.status.as_str(), answer.document) {
        (
            "success" | "partial_success",
            Some(Converted { md_content: Some(markdown), text_content: text, html_content: html }),
        ) => {
            let format = "docling".to_owned();
            Ok(Text { format, markdown, text, html, pages: None, warnings })
        }
        (status, _) => {
            Err(PackError::failed(format!("Docling: {status}: {}", warnings.join("; "))))
        }
    }
}
