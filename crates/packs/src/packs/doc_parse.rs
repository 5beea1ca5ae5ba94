//! `doc.parse`: reads a document as Markdown.

use std::time::Instant;

use helmdeck_wire::{nature::Nature, session::Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Context, Endpoint, Pack, PackError, PackResult, Routing, SessionNeed,
    docling::{Conversion, convert},
    document::{Fetched, Source, Text},
    pack::disabled,
    plain_text::plain_text,
};

/// Read a document as Markdown.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DocParse")]
struct Input {
    #[serde(flatten)]
    source: Source,
    /// Whether to recognize the text of pictures, and of pages that are pictures.
    #[serde(default = "yes")]
    do_ocr: bool,
    /// Languages of that text, as tesseract names them, such as `eng`, `deu`, `chi_sim`.
    #[serde(default = "english")]
    #[schemars(length(min = 1, max = 8), inner(regex(pattern = r"^[A-Za-z_]{3,30}$")))]
    ocr_lang: Vec<String>,
    /// Most pages to read.
    #[serde(default = "pages")]
    #[schemars(range(min = 1, max = 2000))]
    max_pages: usize,
    /// What to return besides Markdown.
    #[serde(default)]
    #[schemars(length(max = 8))]
    formats: Vec<Format>,
    /// What reads the document; Docling by default if the operator enabled it, else helmdeck.
    #[serde(default)]
    engine: Option<Engine>,
}

/// What reads a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DocParseEngine")]
enum Engine {
    /// helmdeck's own programs, in a session.
    Helmdeck,
    /// A Docling service. It reads no files of a session.
    Docling,
}

/// A form of a document. Markdown is always returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DocParseFormat")]
enum Format {
    Md,
    Markdown,
    /// The text without marks, as `text`.
    Text,
    Plaintext,
    Plain,
    /// The document as HTML, as `html`. Only Docling makes it.
    Html,
}

impl Format {
    fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Plaintext | Self::Plain)
    }
}

fn yes() -> bool {
    true
}

fn english() -> Vec<String> {
    vec!["eng".to_owned()]
}

fn pages() -> usize {
    500
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocParseOutput")]
struct Output {
    /// Where the document came from.
    source: String,
    /// The text.
    #[serde(flatten)]
    text: Text,
    /// `success`, or `partial_success` if something is missing.
    status: &'static str,
    /// Seconds that reading took.
    processing_time: f64,
    /// What read it.
    engine: Engine,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("doc.parse", run)
        .doc(
            "Read a document as Markdown with headings, lists and tables: PDF, DOCX, PPTX, HTML, or a \
             picture. Pass `source_url`, `artifact_key`, `source_b64`, or the `path` of a file in the \
             session.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox().reads() })
        .session(SessionNeed::OneShot(Mode::Headless))
        .sessionless_if(|endpoints, input| match input.get("engine").and_then(Value::as_str) {
            Some(engine) => engine == "docling",
            // Docling reads no files of a session.
            None => endpoints.docling.is_some() && input.get("path").is_none(),
        })
        .optional_programs(&["pdftohtml", "pdfinfo", "pdftoppm", "tesseract"])
        .resumable()
        .cacheable_if(|input| input.get("source_url").is_some())
        .timeout_s(TIMEOUT_S + 60)
        .example(
            "A report from the web",
            serde_json::json!({ "source_url": "https://example.com/report.pdf", "max_pages": 20 }),
        )
        .routing(Routing {
            accepts: &["url", "artifact", "file"],
            produces: &["markdown"],
            intent_keywords: &["pdf", "docx", "word", "powerpoint", "document", "parse", "markdown", "table"],
            typical_use: "Read a report or a specification before you work with it.",
            limitations: &[
                "Tables of PDF are recognized by position, and may be wrong where cells are merged.",
                "PDF and pictures need the toolset documents.",
            ],
        })
}

/// How long reading may take.
const TIMEOUT_S: u32 = 900;

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let started = Instant::now();
    let source = input.source.shown().to_owned();
    let here_only = input.source.path.is_some();
    let (mut text, engine) = match (input.engine, &context.endpoints.docling) {
        (Some(Engine::Docling), None) => {
            let reason = disabled("HELMDECK_DOCLING_ENABLED");
            return Err(PackError::invalid("engine", format!("engine: docling is {reason}")));
        }
        (Some(Engine::Docling), _) if here_only => {
            let message = "engine: docling reads no files of a session: pass artifact_key";
            return Err(PackError::invalid("engine", message));
        }
        (None | Some(Engine::Docling), Some(docling)) if !here_only => {
            (elsewhere(&context, docling, &input).await?, Engine::Docling)
        }
        _ => (here(&context, &input).await?, Engine::Helmdeck),
    };
    add_formats(&mut text, &input.formats);
    let status = if text.warnings.is_empty() { "success" } else { "partial_success" };
    let processing_time = started.elapsed().as_secs_f64();
    Ok(Output { source, text, status, processing_time, engine })
}

/// Adds the wanted forms that the engine does not make, and says which are missing.
fn add_formats(text: &mut Text, formats: &[Format]) {
    if text.text.is_none() && formats.iter().any(|format| format.is_text()) {
        text.text = Some(plain_text(&text.markdown));
    }
    if text.html.is_none() && formats.contains(&Format::Html) {
        text.warnings.push("html is missing: only Docling makes it".to_owned());
    }
}

/// Lets Docling read it.
async fn elsewhere(context: &Context, docling: &Endpoint, input: &Input) -> PackResult<Text> {
    let fetched = input.source.fetch(context).await?;
    context.progress(0.3, "reading the document with Docling");
    match fetched {
        Fetched::Bytes(content, name) => {
            let (ocr, languages) = (input.do_ocr, input.ocr_lang.as_slice());
            let (content, name) = (&content, name.as_str());
            let mut formats = vec!["md"];
            formats.extend(input.formats.iter().any(|it| it.is_text()).then_some("text"));
            formats.extend(input.formats.contains(&Format::Html).then_some("html"));
            let conversion = Conversion { content, name, ocr, languages, formats: &formats };
            convert(context.client_of(docling), docling, conversion).await
        }
        Fetched::Path(_) => here(context, input).await,
    }
}

/// Reads it in the session.
async fn here(context: &Context, input: &Input) -> PackResult<Text> {
    let delivered = input.source.deliver(context).await?;
    context.progress(0.4, "reading the document");
    let options = json!({
        "ocr": input.do_ocr, "languages": input.ocr_lang, "max_pages": input.max_pages,
    });
    delivered.read(context, options, TIMEOUT_S).await
}
