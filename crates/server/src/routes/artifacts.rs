//! Artifacts: listing, up- and downloading, deleting and sharing them.

use std::io;

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use helmdeck_sessions::Caller;
use helmdeck_store::{
    ArtifactFilter, ArtifactReader, AuditEntry, LinkQuery, NewArtifact, Pieces, StoreError,
};
use helmdeck_wire::{
    ErrorCode,
    artifact::{
        Artifact, ArtifactKey, ArtifactLink, ArtifactList, LINK_LIFE_S, UPLOADS, Uploaded,
        file_name,
    },
    byte_range::ByteRange,
    job::JobId,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;

use super::files::disposition;
use crate::{
    App,
    error::{ApiError, ApiResult},
    media_type,
    multipart::{self, FormFile},
    operation::Media,
    query::Params,
    tool::{Call, Outcome},
    upload_body::{Received, discard},
};

/// Number of listed artifacts by default.
const LISTED: u32 = 50;
const MOST_LISTED: u32 = 200;
/// If a browser opens the content nonetheless: nothing runs, loads or belongs to this server.
const POLICY: &str = "sandbox; default-src 'none'";

/// The content of an artifact.
pub const CONTENT: Media = Media {
    doc: "The content.",
    types: &["application/octet-stream"],
    headers: &["Content-Disposition", "ETag"],
};

/// Which artifacts to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Only of this pack; `operator-uploads` for uploads.
    pack: Option<String>,
    /// Only names that contain this text.
    name: Option<String>,
    /// Only media types that begin with this text, such as `image/`.
    content_type: Option<String>,
    /// Only of this job.
    #[schemars(with = "Option<String>", regex(pattern = JobId::PATTERN))]
    #[schemars(extend("x-expected" = JobId::EXPECTED))]
    job_id: Option<JobId>,
    /// Number of artifacts; defaults to 50, at most 200.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
    /// The next page: `next_before` of the page before.
    before: Option<u64>,
}

/// How to store an upload.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// File name. A form can name the file itself.
    #[schemars(length(min = 1, max = 1000))]
    filename: Option<String>,
}

/// A signed link, instead of a token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DownloadQuery {
    /// Of a link: when it expires, in seconds since 1970.
    expires: Option<i64>,
    /// Of a link: its signature.
    signature: Option<String>,
}

/// An artifact.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneArtifact {
    /// Its key, as listed.
    #[schemars(with = "String", extend("x-error" = "artifact_not_found"))]
    key: ArtifactKey,
}

/// A link to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// Key of the artifact.
    #[schemars(with = "String", extend("x-error" = "artifact_not_found"))]
    key: ArtifactKey,
    /// Seconds until it expires; defaults to 900, at most 7 days.
    #[schemars(range(min = 1, max = 604_800))]
    ttl_seconds: Option<u32>,
}

/// Lists the caller's artifacts, or all for an admin.
pub async fn list(call: Call, query: ListQuery) -> ApiResult<ArtifactList> {
    let artifacts = &call.app.artifacts;
    let filter = ArtifactFilter {
        namespace: query.pack,
        name: query.name,
        content_type: query.content_type,
        job: query.job_id.map(String::from),
        before: query.before,
        limit: query.limit.unwrap_or(LISTED).clamp(1, MOST_LISTED),
    };
    let page = artifacts.list(&call.caller, &filter).await?;
    Ok(ArtifactList {
        count: page.artifacts.len(),
        artifacts: page.artifacts,
        next_before: page.next,
        used_bytes: artifacts.used(&call.caller.subject).await?,
        quota_bytes: artifacts.quota(),
    })
}

/// Describes one artifact.
pub async fn show(call: Call, one: OneArtifact) -> ApiResult<Artifact> {
    Ok(call.app.artifacts.show(&call.caller, &one.key).await?)
}

/// Deletes one artifact.
pub async fn delete(call: Call, one: OneArtifact) -> ApiResult<Outcome> {
    call.app.artifacts.delete(&call.caller, &one.key).await?;
    let entry = AuditEntry::new("artifact.deleted").actor(&call.caller);
    call.app.audit.record(entry.target(one.key.as_str()));
    Ok(Outcome::done())
}

/// Creates a link.
pub async fn link(call: Call, wanted: NewLink) -> ApiResult<ArtifactLink> {
    let seconds = wanted.ttl_seconds.map_or(LINK_LIFE_S, u64::from);
    let life = time::Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
    let (path, expires_at) = call.app.artifacts.link(&call.caller, &wanted.key, life).await?;
    let entry = AuditEntry::new("artifact.linked").actor(&call.caller).target(wanted.key.as_str());
    call.app.audit.record(entry.detail("seconds", seconds));
    Ok(ArtifactLink { url: call.address.url(&path), expires_at })
}

/// Stores a file from a form, or the body itself.
pub async fn upload(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Params(query): Params<UploadQuery>,
    request: Request,
) -> ApiResult<Response> {
    let (parts, body) = request.into_parts();
    let sent_type = text(&parts.headers, header::CONTENT_TYPE).unwrap_or_default();
    let artifact = match multipart::boundary(&sent_type) {
        Some(boundary) => {
            let file = FormFile::find(Received(body), &boundary.map_err(bad_form)?).await;
            let file = file.map_err(bad_form)?;
            let name = query.filename.or(file.name.clone()).unwrap_or_default();
            let declared = file.content_type.clone().unwrap_or_default();
            store(&app, &caller, &name, &declared, file).await?
        }
        None => {
            let size = text(&parts.headers, header::CONTENT_LENGTH);
            let size = size.and_then(|size| size.parse().ok());
            if let Err(refused) = check_room(&app, &caller, size).await {
                discard(&app, Received(body));
                return Err(refused);
            }
            let name = query.filename.unwrap_or_default();
            store(&app, &caller, &name, &sent_type, Received(body)).await?
        }
    };
    let Artifact { key, url, size, content_type, filename, .. } = artifact;
    let entry = AuditEntry::new("artifact.uploaded").actor(&caller).target(key.as_str());
    app.audit.record(entry.detail("bytes", size));
    let uploaded = Uploaded { artifact_key: key, url, size, content_type, filename };
    Ok((StatusCode::CREATED, Json(uploaded)).into_response())
}

async fn store(
    app: &App,
    caller: &Caller,
    sent_name: &str,
    declared: &str,
    mut content: impl Pieces + 'static,
) -> ApiResult<Artifact> {
    let name = file_name(sent_name);
    let new = NewArtifact {
        namespace: UPLOADS.to_owned(),
        content_type: upload_type(declared, &name),
        name,
        ..NewArtifact::default()
    };
    let stored = app.artifacts.put(&caller.subject, new, &mut content).await;
    if stored.is_err() {
        discard(app, content);
    }
    Ok(stored?)
}

/// The declared type of an upload, unless a client sends the same for every file.
fn upload_type(declared: &str, name: &str) -> String {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" | media_type::UNKNOWN | "application/x-www-form-urlencoded" => {
            media_type::of_name(name).to_owned()
        }
        _ => declared.to_owned(),
    }
}

/// Refuses an upload that cannot fit before it is received.
async fn check_room(app: &App, caller: &Caller, size: Option<u64>) -> ApiResult<()> {
    let (Some(size), Some(quota)) = (size, app.artifacts.quota()) else { return Ok(()) };
    let used = app.artifacts.used(&caller.subject).await?;
    match used.saturating_add(size) > quota {
        true => Err(StoreError::ArtifactQuota { quota, used }.into()),
        false => Ok(()),
    }
}

fn bad_form(bad: multipart::BadForm) -> ApiError {
    ApiError::new(ErrorCode::InvalidInput, bad.to_string()).of_field("file", Vec::new())
}

/// Sends the content of an artifact, to its owner or by a link.
pub async fn download(
    State(app): State<App>,
    caller: Option<Extension<Caller>>,
    key: Result<Path<String>, axum::extract::rejection::PathRejection>,
    Params(query): Params<DownloadQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let sent = key.map(|Path(key)| key).unwrap_or_default();
    let Some(key) = ArtifactKey::parse(&sent) else {
        return Err(StoreError::ArtifactNotFound { key: sent }.into());
    };
    let artifact = match (caller, query) {
        (Some(Extension(caller)), _) => app.artifacts.show(&caller, &key).await?,
        (None, DownloadQuery { expires: Some(expires), signature: Some(signature) }) => {
            app.artifacts.show_linked(&LinkQuery { expires, signature }, &key).await?
        }
        (None, _) => return Err(StoreError::InvalidLink("is incomplete").into()),
    };
    let etag = format!("\"{}\"", artifact.sha256);
    let is_this = |name| text(&headers, name).map(|sent| sent == etag);
    if is_this(header::IF_NONE_MATCH) == Some(true) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    let range = text(&headers, header::RANGE).and_then(|range| ByteRange::parse(&range));
    let range = range.filter(|_| is_this(header::IF_RANGE) != Some(false));
    response(app.artifacts.read(artifact, range).await?, &etag)
}

fn response(file: ArtifactReader, etag: &str) -> ApiResult<Response> {
    let artifact = file.artifact();
    let (whole, part) = (artifact.size, file.part());
    let mut head = HeaderMap::new();
    let fixed = [
        (header::CONTENT_TYPE, media_type::sent_as(&artifact.content_type)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::ACCEPT_RANGES, "bytes"),
        // The key names this content for ever, but whether the caller may see it can change.
        (header::CACHE_CONTROL, "private, no-cache"),
    ];
    head.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    head.insert(header::CONTENT_DISPOSITION, disposition(&artifact.filename)?);
    head.insert(header::ETAG, HeaderValue::try_from(etag).map_err(ApiError::internal)?);
    head.insert(header::CONTENT_LENGTH, part.map_or(whole, |part| part.length).into());
    let mut status = StatusCode::OK;
    if let Some(part) = part {
        let last = part.first.saturating_add(part.length).saturating_sub(1);
        let range = HeaderValue::try_from(format!("bytes {}-{last}/{whole}", part.first));
        head.insert(header::CONTENT_RANGE, range.map_err(ApiError::internal)?);
        status = StatusCode::PARTIAL_CONTENT;
    }
    // An error after the head is reported to the client by closing the connection.
    let pieces = stream::try_unfold(file, async |mut file| {
        Ok::<_, io::Error>(file.next().await?.map(|piece| (piece, file)))
    });
    Ok((status, head, Body::from_stream(pieces)).into_response())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
