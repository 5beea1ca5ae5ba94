//! `doc.ocr`: recognizes the text of pictures and scanned pages.

use helmdeck_wire::{nature::Nature, session::Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Context, Pack, PackResult, Routing, SessionNeed, document::Source};

/// Recognize the text of a picture or of scanned pages.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DocOcr")]
struct Input {
    #[serde(flatten)]
    source: Source,
    /// Languages of the text, as tesseract names them: `eng`, or several such as `eng+deu`.
    #[serde(default = "english")]
    #[schemars(
        length(min = 3, max = 100),
        regex(pattern = r"^[A-Za-z_]{3,30}(\+[A-Za-z_]{3,30})*$")
    )]
    #[schemars(extend("x-expected" = "names of languages such as eng or eng+deu"))]
    language: String,
    /// Most pages of a PDF to read.
    #[serde(default = "pages")]
    #[schemars(range(min = 1, max = 500))]
    max_pages: usize,
}

fn english() -> String {
    "eng".to_owned()
}

fn pages() -> usize {
    50
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocOcrOutput")]
struct Output {
    /// The text, line by line.
    text: String,
    /// Languages that it was read in.
    language: String,
    /// Size of the document in bytes; absent for a file that was in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Number of pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
    /// What is missing.
    warnings: Vec<String>,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("doc.ocr", run)
        .doc(
            "Recognize the text of a picture, or of every page of a scanned PDF. Pass `source_url`, \
             `artifact_key`, `source_b64`, or the `path` of a file in the session.",
        )
        .nature(Nature { open_world: true, ..Nature::default().in_sandbox().reads() })
        .session(SessionNeed::OneShot(Mode::Headless))
        .programs(&["tesseract", "pdfinfo", "pdftoppm"])
        .resumable()
        .cacheable_if(|input| input.get("source_url").is_some())
        .timeout_s(TIMEOUT_S + 60)
        .example(
            "A scan in two languages",
            serde_json::json!({ "source_url": "https://example.com/scan.png", "language": "eng+deu" }),
        )
        .routing(Routing {
            accepts: &["url", "artifact", "file", "picture"],
            produces: &["text"],
            intent_keywords: &["ocr", "scan", "picture", "image", "text", "recognize", "tesseract"],
            typical_use: "Read a scan or a photo of text.",
            limitations: &["Handwriting and small text are often wrong."],
        })
}

/// How long reading may take.
const TIMEOUT_S: u32 = 1800;

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let delivered = input.source.deliver(&context).await?;
    let bytes = delivered.bytes;
    context.progress(0.3, "recognizing text");
    let languages: Vec<_> = input.language.split('+').collect();
    let options = json!({
        "only_ocr": true, "languages": languages, "max_pages": input.max_pages,
    });
    let read = delivered.read(&context, options, TIMEOUT_S).await?;
    Ok(Output {
        text: read.markdown,
        language: input.language,
        bytes,
        pages: read.pages,
        warnings: read.warnings,
    })
}
