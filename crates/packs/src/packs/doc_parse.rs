//! `doc.parse`: reads a document as Markdown.

use std::time::Instant;

use helmdeck_wire::{nature::Nature, session::Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Context, Pack, PackResult, Routing, SessionNeed,
    docling::Conversion,
    document::{Fetched, Source, Text},
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
    /// What read it: `helmdeck` or `docling`.
    engine: &'static str,
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
        .optional_programs(&["pdftohtml", "pdfinfo", "pdftoppm", "tesseract"])
        .resumable()
        .cacheable_if(|input| input.get("source_url").is_some())
        .timeout_s(TIMEOUT_S + 60)
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
    let (text, engine) = match (&context.docling, input.source.path.is_none()) {
        (Some(docling), true) => {
            let fetched = input.source.fetch(&context).await?;
            context.progress(0.3, "reading the document with Docling");
            match fetched {
                Fetched::Bytes(content, name) => {
                    let (content, name) = (&content, name.as_str());
                    let (ocr, languages) = (input.do_ocr, input.ocr_lang.as_slice());
                    let conversion = Conversion { content, name, ocr, languages };
                    (docling.convert(conversion).await?, "docling")
                }
                Fetched::Path(_) => (here(&context, &input).await?, "helmdeck"),
            }
        }
        _ => (here(&context, &input).await?, "helmdeck"),
    };
    let status = if text.warnings.is_empty() { "success" } else { "partial_success" };
    let processing_time = started.elapsed().as_secs_f64();
    Ok(Output { source, text, status, processing_time, engine })
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
