//! `fs.write`: writes a file of a clone.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use helmdeck_wire::nature::Nature;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Context, Pack, PackError, PackResult, Routing, SessionNeed,
    digest::sha256,
    repository::{ClonePath, InnerPath},
    write_file::write_file,
};

/// Write a file of a clone.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FsWrite")]
struct Input {
    /// Where the repository was cloned, as `repo.fetch` returned it.
    clone_path: ClonePath,
    /// The file, relative to `clone_path`. Missing folders are created.
    path: InnerPath,
    /// The whole new content.
    #[schemars(length(max = 8_388_608))]
    #[schemars(extend("x-expected" = "at most 8388608 characters; PUT /api/v1/sessions/{id}/files/{path} writes more"))]
    content: String,
    /// How `content` is written: `utf-8` or `base64`.
    #[serde(default)]
    encoding: Encoding,
    /// Whether the file can be executed. Unchanged by default.
    #[serde(default)]
    executable: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
enum Encoding {
    /// As text.
    #[default]
    #[serde(rename = "utf-8")]
    Text,
    /// As base64, for binary files.
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FsWriteOutput")]
struct Output {
    /// The file.
    path: String,
    /// SHA-256 of the content, in hexadecimal.
    sha256: String,
    /// Size in bytes.
    size: usize,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("fs.write", run)
        .doc(
            "Write a file of a clone. Replaces the whole file; `fs.patch` changes a part of it. \
             Pass `_session_id` and `clone_path` from `repo.fetch`.",
        )
        .nature(Nature::default().in_sandbox().idempotent())
        .session(SessionNeed::Existing)
        .example(
            "Write a file",
            serde_json::json!({ "_session_id": "sess-0123456789ab", "clone_path": "/workspace/app", "path": "notes.md", "content": "# Notes\n" }),
        )
        .routing(Routing {
            accepts: &["path", "text"],
            produces: &["file"],
            intent_keywords: &["write", "create", "save", "file"],
            typical_use: "Create a file, or replace one.",
            limitations: &["Files up to 8 MiB."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let path = input.path.inside()?;
    let bytes = match input.encoding {
        Encoding::Text => input.content.into_bytes(),
        Encoding::Base64 => BASE64_STANDARD
            .decode(input.content.trim())
            .map_err(|_| PackError::invalid("content", "content: it is not base64"))?,
    };
    write_file(&context, &input.clone_path, &path, &bytes, input.executable).await?;
    Ok(Output { path: input.path.to_string(), sha256: sha256(&bytes), size: bytes.len() })
}
