//! Files in and out of a session's home.

use axum::{
    Extension, Json,
    body::Body,
    extract::State,
    response::{AppendHeaders, IntoResponse, Response},
};
use futures_util::stream;
use helmdeck_sessions::{Caller, Download, SessionError};
use helmdeck_wire::{
    ErrorCode,
    byte_range::ByteRange,
    file::{FileList, HomePath},
    guest::OneFile,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    App,
    error::{ApiError, ApiResult},
    query::{Named, NamedFile, Params},
};

/// Which folder is listed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FolderQuery {
    /// From the home on; the home itself if not given.
    #[serde(default)]
    path: String,
}

/// How a file is put.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteQuery {
    /// Whether it may take the place of another; true if not given.
    #[serde(default = "yes")]
    replace: bool,
}

fn yes() -> bool {
    true
}

/// A folder.
pub async fn list_files(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    Params(query): Params<FolderQuery>,
) -> ApiResult<Json<FileList>> {
    let path = parse(&query.path)?;
    Ok(Json(app.sessions.get(&caller, &id)?.list_files(&path).await?))
}

/// A file, as something to save: nothing of a session is ever shown as a page of ours.
pub async fn read_file(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    NamedFile(id, path): NamedFile,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let path = parse(&path)?;
    let session = app.sessions.get(&caller, &id)?;
    let file = match session.read_file(&caller, &path, range(&headers)).await {
        Err(error @ SessionError::RangeNotSatisfiable { size }) => {
            let mut refused = ApiError::from(error).into_response();
            let all = HeaderValue::try_from(format!("bytes */{size}"));
            let all = all.map_err(ApiError::internal)?;
            refused.headers_mut().insert(header::CONTENT_RANGE, all);
            return Ok(refused);
        }
        read => read?,
    };
    let name = path.split().map_or("", |(_, name)| name);
    let (status, part) = match file.part() {
        Some((first, size)) => {
            let last = first.saturating_add(file.size()).saturating_sub(1);
            (StatusCode::PARTIAL_CONTENT, Some(format!("bytes {first}-{last}/{size}")))
        }
        None => (StatusCode::OK, None),
    };
    let part = part.map(|part| AppendHeaders([(header::CONTENT_RANGE, part)]));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_LENGTH, file.size().into()),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CONTENT_DISPOSITION, disposition(name)?),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    ];
    Ok((status, part, headers, Body::from_stream(pieces(file))).into_response())
}

/// The part that is asked for. A file has no version to compare with, so that a request on the
/// condition of one gets all of it.
fn range(headers: &HeaderMap) -> Option<ByteRange> {
    let wanted = headers.get(header::RANGE).filter(|_| !headers.contains_key(header::IF_RANGE))?;
    ByteRange::parse(wanted.to_str().ok()?)
}

/// A new file.
pub async fn write_file(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    NamedFile(id, path): NamedFile,
    Params(query): Params<WriteQuery>,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let file = OneFile { path: parse(&path)?, replace: query.replace, range: None };
    let content = body.map_err(Into::into).boxed_unsync();
    let stored = app.sessions.get(&caller, &id)?.write_file(&caller, &file, content).await?;
    Ok((StatusCode::CREATED, Json(stored)))
}

fn parse(path: &str) -> ApiResult<HomePath> {
    HomePath::parse(path)
        .map_err(|reason| ApiError::new(ErrorCode::InvalidPath, format!("path: {reason}")))
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
