//! File transfers from and to a session's home.

use axum::body::Body;
use futures_util::stream;
use helmdeck_sessions::Download;
use helmdeck_wire::{
    byte_range::ByteRange,
    file::{FileList, FileStored, HomePath},
    guest::OneFile,
};
use http::{HeaderValue, StatusCode, header};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, Content, Outcome, Payload},
};

/// Which folder to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderQuery {
    /// Path relative to the home; defaults to the home itself.
    #[serde(default)]
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
}

/// Which file to read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// Path relative to the home.
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
    /// Only these bytes, such as `bytes=0-99`. HTTP clients use the `Range` header.
    #[schemars(with = "Option<String>")]
    range: Option<ByteRange>,
}

/// Which file to write.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// Path relative to the home.
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
    /// Whether it may replace an existing file; true by default.
    #[serde(default = "yes")]
    replace: bool,
    /// Time of its last change; now by default.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    modified_at: Option<OffsetDateTime>,
    /// Content as text. HTTP clients send it as the body.
    content: Option<String>,
    /// Content in base64, for binary files.
    content_base64: Option<String>,
}

fn yes() -> bool {
    true
}

/// Lists a folder.
pub async fn list_files(call: Call, query: FolderQuery) -> ApiResult<FileList> {
    Ok(call.session()?.list_files(&query.path).await?)
}

/// Reads a file as a download: content of a session is never shown as a page of this server.
pub async fn read_file(call: Call, wanted: ReadFile) -> ApiResult<Outcome> {
    let file = call.session()?.read_file(&call.caller, &wanted.path, wanted.range).await?;
    let name = wanted.path.split().map_or("", |(_, name)| name);
    let (disposition, size, part) = (disposition(name)?, file.size(), file.part());
    let media_type = HeaderValue::from_static("application/octet-stream");
    let body = Body::from_stream(pieces(file));
    let file = Outcome::new(Payload::Stream { media_type, size: Some(size), body })
        .with(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"))
        .with(header::CONTENT_DISPOSITION, disposition)
        .with(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    let Some((first, whole)) = part else { return Ok(file) };
    let last = first.saturating_add(size).saturating_sub(1);
    let range = HeaderValue::try_from(format!("bytes {first}-{last}/{whole}"));
    let file = file.with(header::CONTENT_RANGE, range.map_err(ApiError::internal)?);
    Ok(Outcome { status: Some(StatusCode::PARTIAL_CONTENT), ..file })
}

/// Writes a file.
pub async fn write_file(call: Call, file: WriteFile) -> ApiResult<FileStored> {
    let content = Content { text: file.content, base64: file.content_base64 };
    let content = call.content(content)?.map_err(Into::into).boxed_unsync();
    let (replace, modified_at) = (file.replace, file.modified_at);
    let file = OneFile { replace, modified_at, ..OneFile::new(file.path) };
    Ok(call.session()?.write_file(&call.caller, &file, content).await?)
}

/// An error after the head is reported to the client by closing the connection.
fn pieces(
    file: Download,
) -> impl futures_util::Stream<Item = Result<bytes::Bytes, helmdeck_sessions::SessionError>> {
    stream::try_unfold(file, async |mut file| Ok(file.next().await?.map(|piece| (piece, file))))
}

/// The file name for browsers: in ASCII for old programs, and unchanged.
pub(super) fn disposition(name: &str) -> ApiResult<HeaderValue> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ". -_()".contains(c);
    let simple: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let exact: String = name
        .bytes()
        .map(|b| match b {
            b if b.is_ascii_alphanumeric() || b".-_".contains(&b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        })
        .collect();
    HeaderValue::try_from(format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{exact}"))
        .map_err(ApiError::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_inject_headers() {
        let header = disposition("a\"; x=\r\n b ü.txt").unwrap();
        let expected = "attachment; filename=\"a__ x___ b _.txt\"; \
                        filename*=UTF-8''a%22%3B%20x%3D%0D%0A%20b%20%C3%BC.txt";
        assert_eq!(header.to_str().unwrap(), expected);
    }
}
