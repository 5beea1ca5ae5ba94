//! `artifact.put`: stores a text or bytes as an artifact.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use helmdeck_wire::{artifact::file_name, nature::Nature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Pack, PackError, PackResult, Routing};

/// Store a text or bytes as an artifact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArtifactPut")]
struct Input {
    /// The content.
    #[schemars(length(max = 8_388_608))]
    #[schemars(extend("x-expected" = "at most 8388608 characters; upload more with POST /api/v1/artifacts/upload"))]
    content: String,
    /// How `content` is written.
    #[serde(default)]
    encoding: Encoding,
    /// What it is. Decides the file name and the media type that are not given.
    #[serde(default)]
    kind: Kind,
    /// File name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    filename: Option<String>,
    /// Media type.
    #[serde(default)]
    #[schemars(
        length(min = 3, max = 127),
        regex(pattern = r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(; ?[A-Za-z0-9=_.-]+)*$")
    )]
    #[schemars(extend("x-expected" = "a media type such as text/markdown"))]
    content_type: Option<String>,
    /// A name to group artifacts by, which `artifact.list` filters by.
    #[serde(default = "namespace")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[a-z0-9][a-z0-9._-]*$"))]
    #[schemars(extend("x-expected" = "lower-case letters, digits, `.`, `_` or `-`"))]
    namespace: String,
}

fn namespace() -> String {
    "artifact.put".to_owned()
}

/// How content is written.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ArtifactPutEncoding")]
enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

/// What an artifact is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ArtifactPutKind")]
enum Kind {
    Blog,
    Markdown,
    Transcript,
    Summary,
    Json,
    #[default]
    Text,
    Html,
    Csv,
    Binary,
}

impl Kind {
    /// File name and media type.
    fn defaults(self) -> (&'static str, &'static str) {
        match self {
            Self::Blog => ("blog.md", "text/markdown"),
            Self::Markdown => ("document.md", "text/markdown"),
            Self::Transcript => ("transcript.txt", "text/plain"),
            Self::Summary => ("summary.md", "text/markdown"),
            Self::Json => ("data.json", "application/json"),
            Self::Text => ("text.txt", "text/plain"),
            Self::Html => ("page.html", "text/html"),
            Self::Csv => ("table.csv", "text/csv"),
            Self::Binary => ("file.bin", "application/octet-stream"),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactPutOutput")]
struct Output {
    /// Key of the artifact.
    artifact_key: String,
    /// Path of its content on the server.
    url: String,
    /// Size in bytes.
    size: u64,
    /// Media type.
    content_type: String,
    /// File name.
    filename: String,
    /// The namespace.
    namespace: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("artifact.put", run)
        .doc("Store a text or bytes as an artifact, which other packs and people can read.")
        .nature(Nature::default().changes_world())
        .example(
            "Keep a summary",
            serde_json::json!({ "content": "# Summary\n\nAll tests pass.\n", "kind": "summary", "filename": "summary.md" }),
        )
        .routing(Routing {
            accepts: &["text", "base64"],
            produces: &["artifact"],
            intent_keywords: &["save", "store", "artifact", "file", "keep", "upload"],
            typical_use: "Keep a result for people, or for a later call.",
            limitations: &["Large files: upload them with POST /api/v1/artifacts/upload."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let content = match input.encoding {
        Encoding::Utf8 => Bytes::from(input.content),
        Encoding::Base64 => {
            let compact: String = input.content.split_ascii_whitespace().collect();
            let decoded = BASE64_STANDARD.decode(compact);
            decoded.map_err(|_| PackError::invalid("content", "content is not base64"))?.into()
        }
    };
    if input.kind == Kind::Json {
        let parsed = serde_json::from_slice::<serde::de::IgnoredAny>(&content);
        parsed.map_err(|error| PackError::invalid("content", format!("not JSON: {error}")))?;
    }
    let (name, kind) = input.kind.defaults();
    let filename = input.filename.map_or(name.to_owned(), |name| file_name(&name));
    let content_type = input.content_type.unwrap_or_else(|| kind.to_owned());
    let made =
        context.artifacts.put_in(&input.namespace, &filename, &content_type, content).await?;
    Ok(Output {
        artifact_key: made.key,
        url: made.url,
        size: made.size,
        content_type: made.content_type,
        filename,
        namespace: input.namespace,
    })
}
