//! `artifact.get`: reads an artifact.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::BytesMut;
use helmdeck_store::Pieces;
use helmdeck_wire::{ErrorCode, byte_range::ByteRange, nature::Nature};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Pack, PackError, PackResult, Routing};

/// Read an artifact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ArtifactGet")]
struct Input {
    /// Key of the artifact.
    #[schemars(length(min = 1, max = 400))]
    artifact_key: String,
    /// How to write the content; text as it is and other bytes as base64 by default.
    #[serde(default)]
    encoding: Option<Encoding>,
    /// The first byte to read.
    #[serde(default)]
    offset: u64,
    /// How many bytes to read.
    #[serde(default = "max_bytes")]
    #[schemars(range(min = 1, max = 16_777_216))]
    max_bytes: u64,
}

fn max_bytes() -> u64 {
    1 << 20
}

/// How content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ArtifactGetEncoding")]
enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactGetOutput")]
struct Output {
    /// The content, or a part of it.
    content: String,
    /// How `content` is written.
    encoding: Encoding,
    /// Media type.
    content_type: String,
    /// Size of the whole artifact in bytes.
    size: u64,
    /// Whether there is more after this part: read on at `next_offset`.
    truncated: bool,
    /// Where the next part begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// The key.
    artifact_key: String,
    /// File name.
    filename: String,
    /// The namespace: the pack that made it, or the one of `artifact.put`.
    namespace: String,
    /// SHA-256 of the whole artifact, in hexadecimal.
    sha256: String,
}

/// The pack.
pub fn pack() -> Pack {
    Pack::new("artifact.get", run)
        .doc("Read an artifact: text as it is, other bytes as base64. Long ones are read in parts.")
        .nature(Nature::default().reads())
        .resumable()
        .example(
            "Read a text",
            serde_json::json!({ "artifact_key": "artifact.put/0123456789abcdef-summary.md" }),
        )
        .routing(Routing {
            accepts: &["artifact"],
            produces: &["text", "base64"],
            intent_keywords: &["read", "artifact", "download", "open", "content"],
            typical_use: "Read what another pack made.",
            limitations: &["16 MiB in one call; people download large files from its url."],
        })
}

async fn run(context: Context, input: Input) -> PackResult<Output> {
    let field = "artifact_key";
    let shown = context.artifacts.show(field, &input.artifact_key).await?;
    let mut bytes = BytesMut::new();
    if input.offset < shown.size {
        let last = input.offset.saturating_add(input.max_bytes - 1);
        let part = ByteRange::From(input.offset, Some(last));
        let mut reader =
            context.artifacts.open_part(field, &input.artifact_key, Some(part)).await?;
        let failed = |error: std::io::Error| {
            let message = format!("{} cannot be read: {error}", input.artifact_key);
            PackError::new(ErrorCode::ArtifactFailed, message)
        };
        while let Some(piece) = reader.next().await.map_err(failed)? {
            bytes.extend_from_slice(&piece);
        }
    } else if input.offset > 0 {
        let message = format!("the artifact has {} bytes", shown.size);
        return Err(PackError::invalid("offset", message));
    }
    let mut end = input.offset + bytes.len() as u64;
    let text = as_text(&bytes, end < shown.size);
    let (content, encoding) = match (input.encoding, text) {
        (Some(Encoding::Base64), _) => (BASE64_STANDARD.encode(&bytes), Encoding::Base64),
        (_, Some(text)) => {
            end = input.offset + text.len() as u64;
            (text.to_owned(), Encoding::Utf8)
        }
        (Some(Encoding::Utf8), None) => {
            let message = "the artifact is not text: read it as base64";
            return Err(PackError::invalid("encoding", message));
        }
        (None, None) => (BASE64_STANDARD.encode(&bytes), Encoding::Base64),
    };
    let truncated = end < shown.size;
    Ok(Output {
        content,
        encoding,
        content_type: shown.content_type,
        size: shown.size,
        truncated,
        next_offset: truncated.then_some(end),
        artifact_key: input.artifact_key,
        filename: shown.filename,
        namespace: shown.pack,
        sha256: shown.sha256,
    })
}

/// The bytes as text. A character that is cut at the end is left to the next part.
fn as_text(bytes: &[u8], more: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if more && error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to())?;
            std::str::from_utf8(whole).ok().filter(|text| !text.is_empty())
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_belongs_to_the_next_part() {
        let bytes = "aé".as_bytes();
        assert_eq!(as_text(bytes, false), Some("aé"));
        assert_eq!(as_text(&bytes[..2], true), Some("a"));
        assert_eq!(as_text(&bytes[..2], false), None);
        assert_eq!(as_text(&[0xff, b'a'], true), None);
    }
}
