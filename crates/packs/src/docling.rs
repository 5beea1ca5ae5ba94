//! Docling, a service that reads documents, if the operator runs one.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::json;

use crate::{HttpClient, HttpRequest, PackError, PackResult, document::Text};

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Largest response.
const MAX_RESPONSE: usize = 16 << 20;

/// A Docling service. Cheap to clone.
#[derive(Clone)]
pub struct Docling {
    url: String,
    http: HttpClient,
}

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
}

impl Docling {
    /// The service at an address of the operator's choice, which may be private.
    pub fn new(url: &str) -> PackResult<Self> {
        let http = HttpClient::for_services().map_err(|error| PackError::internal(&error))?;
        Ok(Self { url: url.trim_end_matches('/').to_owned(), http })
    }

    /// Reads a document.
    pub async fn convert(&self, conversion: Conversion<'_>) -> PackResult<Text> {
        let body = json!({
            "options": {
                "to_formats": ["md"],
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
        let json = HeaderValue::from_static("application/json");
        let request = HttpRequest {
            method: Method::POST,
            headers: HeaderMap::from_iter([(header::CONTENT_TYPE, json)]),
            body: body.to_string().into(),
            max_bytes: MAX_RESPONSE,
            timeout: TIMEOUT,
            ..HttpRequest::get(&format!("{}/v1/convert/source", self.url))
        };
        let response = self.http.send(request, async |_, request| Ok(request)).await?;
        if !response.status.is_success() || response.truncated {
            let text = String::from_utf8_lossy(&response.body);
            let text: String = text.chars().take(500).collect();
            return Err(PackError::failed(format!("Docling answered {}: {text}", response.status)));
        }
        let answer: Answer = serde_json::from_slice(&response.body).map_err(|error| {
            PackError::failed(format!("Docling answered in another form: {error}"))
        })?;
        let markdown = answer.document.and_then(|document| document.md_content);
        let warnings = answer.errors.iter().map(ToString::to_string).collect();
        match (answer.status.as_str(), markdown) {
            ("success" | "partial_success", Some(markdown)) => {
                Ok(Text { format: "docling".to_owned(), markdown, pages: None, warnings })
            }
            (status, _) => {
                let errors: Vec<String> = warnings;
                Err(PackError::failed(format!("Docling: {status}: {}", errors.join("; "))))
            }
        }
    }
}
