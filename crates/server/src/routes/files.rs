//! Files in and out of a session's home.

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

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, Content, Outcome, Payload},
};

/// Which folder is listed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderQuery {
    /// From the home on; the home itself if not given.
    #[serde(default)]
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
}

/// Which file is read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// From the home on.
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
    /// Only these bytes, such as `bytes=0-99`; over HTTP, the header `Range`.
    #[schemars(with = "Option<String>")]
    range: Option<ByteRange>,
}

/// How a file is put.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// From the home on.
    #[schemars(with = "String", extend("x-error" = "invalid_path"))]
    path: HomePath,
    /// Whether it may take the place of another; true if not given.
    #[serde(default = "yes")]
    replace: bool,
    /// What it holds, as text; over HTTP, the body.
    content: Option<String>,
    /// What it holds, in base64, if it is not text.
    content_base64: Option<String>,
}

fn yes() -> bool {
    true
}

/// A folder.
pub async fn list_files(call: Call, query: FolderQuery) -> ApiResult<FileList> {
    Ok(call.session()?.list_files(&query.path).await?)
}

/// A file, as something to save: nothing of a session is ever shown as a page of ours.
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

/// A new file.
pub async fn write_file(call: Call, file: WriteFile) -> ApiResult<FileStored> {
    let content = Content { text: file.content, base64: file.content_base64 };
    let content = call.content(content)?.map_err(Into::into).boxed_unsync();
    let file = OneFile { path: file.path, replace: file.replace, range: None };
    Ok(call.session()?.write_file(&call.caller, &file, content).await?)
}

/// A client that has the beginning learns from a broken connection that there is no rest.
fn pieces(
    file: Download,
) -> impl futures_util::Stream<Item = Result<bytes::Bytes, helmdeck_sessions::SessionError>> {
    stream::try_unfold(file, async |mut file| Ok(file.next().await?.map(|piece| (piece, file))))
}

/// What a browser shall call the file: once for old programs, and once as it is.
fn disposition(name: &str) -> ApiResult<HeaderValue> {
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
    fn a_name_cannot_leave_its_header() {
        let header = disposition("a\"; x=\r\n b ü.txt").unwrap();
        let expected = "attachment; filename=\"a__ x___ b _.txt\"; \
                        filename*=UTF-8''a%22%3B%20x%3D%0D%0A%20b%20%C3%BC.txt";
        assert_eq!(header.to_str().unwrap(), expected);
    }
}
