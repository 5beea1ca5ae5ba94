//! Documents that callers name, and their text.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{
    ErrorCode,
    exec::{Exec, MAX_OUTPUT_BYTES},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Context, HttpRequest, PackError, PackResult, context::command, session_file::JobFolder,
    toolset::not_installed,
};

/// Largest document, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Our own program, inside the session.
pub const HELMDECK: &str = "/opt/helmdeck/helmdeck";

/// Where a document is. Exactly one of the sources is given.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Source {
    /// Address of the document.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"^https?://[^\s\x00]+$"))]
    #[schemars(extend("x-expected" = "an address such as https://example.com/report.pdf"))]
    pub source_url: Option<String>,
    /// The document in base64. For large ones, upload an artifact and pass its key.
    #[serde(default)]
    #[schemars(length(min = 1, max = 11_184_812))]
    #[schemars(extend("x-expected" = "base64 of at most 8 MiB; upload more with POST /api/v1/artifacts/upload"))]
    pub source_b64: Option<String>,
    /// Key of an artifact.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    pub artifact_key: Option<String>,
    /// Path of a file in the session that `_session_id` names.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4000), regex(pattern = r"^/[^\x00]*$"))]
    #[schemars(extend("x-expected" = "an absolute path, such as /workspace/report.pdf"))]
    pub path: Option<String>,
    /// Name of the file, if the source has none.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    pub filename: Option<String>,
}

/// A document in the session.
pub struct Delivered {
    /// Its path.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Number of bytes, if they passed through here.
    pub bytes: Option<u64>,
}

/// The bytes of a document, or a file of the session.
pub enum Fetched {
    /// Bytes, and a name.
    Bytes(Bytes, String),
    /// A path in the session.
    Path(String),
}

impl Source {
    /// What the caller called it.
    pub fn shown(&self) -> &str {
        let sources = [&self.source_url, &self.artifact_key, &self.path, &self.filename];
        sources.into_iter().flatten().next().map_or("document", String::as_str)
    }

    /// Gets the document.
    pub async fn fetch(&self, context: &Context) -> PackResult<Fetched> {
        let name = |from: &str| {
            let from = from.split(['?', '#']).next().unwrap_or_default();
            let last = from.rsplit('/').next().unwrap_or_default();
            self.filename.clone().unwrap_or_else(|| last.to_owned())
        };
        match (&self.source_url, &self.source_b64, &self.artifact_key, &self.path) {
            (Some(url), None, None, None) => {
                let content = download(context, url).await?;
                Ok(Fetched::Bytes(content, name(url)))
            }
            (None, Some(text), None, None) => {
                let decoded = BASE64_STANDARD.decode(text.split_whitespace().collect::<String>());
                let content = decoded.map_err(|error| {
                    PackError::invalid("source_b64", format!("source_b64: not base64: {error}"))
                })?;
                Ok(Fetched::Bytes(content.into(), self.filename.clone().unwrap_or_default()))
            }
            (None, None, Some(key), None) => {
                let (_, content) = context.artifacts.read("artifact_key", key, MAX_BYTES).await?;
                Ok(Fetched::Bytes(content, name(key)))
            }
            (None, None, None, Some(path)) => Ok(Fetched::Path(path.clone())),
            _ => {
                let message = "pass exactly one of source_url, source_b64, artifact_key and path";
                Err(PackError::invalid("source_url", message))
            }
        }
    }

    /// Gets the document and puts it into the session.
    pub async fn deliver(&self, context: &Context) -> PackResult<Delivered> {
        Ok(match self.fetch(context).await? {
            Fetched::Path(path) => Delivered { name: path.clone(), path, bytes: None },
            Fetched::Bytes(content, name) => {
                let bytes = Some(content.len() as u64);
                let path = JobFolder::of(context).put(context, &name, content).await?;
                Delivered { path, name, bytes }
            }
        })
    }
}

async fn download(context: &Context, url: &str) -> PackResult<Bytes> {
    context.progress(0.1, "downloading the document");
    let request = HttpRequest { max_bytes: MAX_BYTES as usize, ..HttpRequest::get(url) };
    let response = context.http.send(request, async |_, request| Ok(request)).await;
    let response = response.map_err(|error| match error.code() {
        ErrorCode::InvalidInput => PackError::invalid("source_url", error.to_string()),
        _ => error,
    })?;
    if response.truncated {
        return Err(PackError::invalid("source_url", "the document is larger than 64 MiB"));
    }
    if !response.status.is_success() {
        let message = format!("{url} answered {}", response.status);
        return Err(PackError::failed(message));
    }
    Ok(response.body)
}

/// The text of a document, as our program in the session reads it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "DocumentText")]
pub struct Text {
    /// What it is: `pdf`, `docx`, `pptx`, `html`, `picture` or `text`.
    pub format: String,
    /// The text.
    pub markdown: String,
    /// The text without marks, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The document as HTML, if it was asked for and Docling read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Number of pages or slides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<usize>,
    /// What is missing.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Delivered {
    /// Reads its text in the session.
    pub async fn read(self, context: &Context, options: Value, timeout_s: u32) -> PackResult<Text> {
        let mut request = json!({ "name": self.name });
        if let (Value::Object(request), Value::Object(options)) = (&mut request, options) {
            request.extend(options);
        }
        let exec = Exec {
            stdin: Some(request.to_string()),
            timeout_s,
            max_output_bytes: MAX_OUTPUT_BYTES,
            ..command([HELMDECK, "read-document", &self.path])
        };
        let state = context.exec(exec).await;
        let state = state?;
        let written = state.stdout.as_deref().unwrap_or_default();
        if state.stdout_truncated {
            return Err(PackError::failed("the text of the document is too long for a reply"));
        }
        match state.exit_code {
            Some(0) => serde_json::from_str(written)
                .map_err(|error| PackError::failed(format!("read-document: {error}"))),
            Some(2) if self.bytes.is_none() => {
                Err(context.elsewhere("path", &self.path, refusal(written)))
            }
            Some(2) => Err(refusal(written)),
            _ => Err(context.failed("read-document", &state)),
        }
    }
}

/// Why our program in the session did not read a document.
fn refusal(written: &str) -> PackError {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
        message: String,
        program: Option<String>,
    }
    let Ok(Refusal { error, message, program }) = serde_json::from_str(written) else {
        return PackError::failed("the document cannot be read");
    };
    match error.as_str() {
        "missing_program" => not_installed(program.as_deref().unwrap_or("a program")),
        "missing_language" => PackError::new(ErrorCode::NotReady, message)
            .permanent()
            .hint("on the server, install the package tesseract-ocr-LANGUAGE"),
        "program" => PackError::failed(message),
        _ => PackError::invalid("source", message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whose_turn_it_is() {
        let code = |error: &str| {
            let text = json!({ "error": error, "message": "why", "program": "tesseract" });
            refusal(&text.to_string()).code()
        };
        assert_eq!(code("damaged"), ErrorCode::InvalidInput);
        assert_eq!(code("missing_program"), ErrorCode::NotReady);
        assert_eq!(code("program"), ErrorCode::HandlerFailed);
        assert_eq!(refusal("garbage").code(), ErrorCode::HandlerFailed);
    }
}
