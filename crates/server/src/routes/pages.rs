//! The web page, served from the binary.

use axum::{
    extract::{Request, State},
    response::{Html, IntoResponse, Redirect, Response},
};
use helmdeck_wire::ErrorCode;
use http::{HeaderValue, StatusCode, header};

use crate::{
    App,
    error::{ApiError, ApiResult},
    query::Named,
};

/// Every file of the page, by path.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Content security policy of the page: nothing from other sites.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
                      style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; \
                      object-src 'none'; frame-ancestors ";
/// By default, no site may embed our pages.
const NO_ANCESTORS: &str = "'none'";
/// Files with a hash in their name never change.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// The app. It decides by its address what to show.
pub async fn app() -> Response {
    file("/index.html")
}

/// The app for an address one level down, where relative links need one step up.
pub async fn inner() -> Response {
    file("/sessions/index.html")
}

/// The live view as a separate page.
pub async fn viewer() -> Response {
    file("/vnc.html")
}

/// The API reference.
pub async fn docs() -> Response {
    file("/docs.html")
}

/// Redirects to the embedded live view of a session, by ticket.
pub async fn embed(Named(id): Named, request: Request) -> ApiResult<Redirect> {
    let in_id = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    if !id.as_str().bytes().all(in_id) {
        return Err(ApiError::new(ErrorCode::NotFound, "the session does not exist"));
    }
    // The whole query becomes one value, and headers only hold printable characters.
    let query: String =
        request.uri().query().unwrap_or_default().bytes().fold(String::new(), |mut query, byte| {
            if byte.is_ascii_graphic() && !b"&=".contains(&byte) {
                query.push(char::from(byte));
            } else {
                query.push_str(&format!("%{byte:02X}"));
            }
            query
        });
    let path = format!("api/v1/sessions/{id}/vnc%3F{query}");
    // One level up, so that it works behind any prefix.
    let page = format!("../embed.html?autoconnect=true&resize=remote&path={path}");
    Ok(Redirect::temporary(&page))
}

/// The live view for frames of allowed sites.
pub async fn embedded(State(app): State<App>) -> Response {
    send("/vnc.html", app.embed_ancestors.as_deref().unwrap_or(NO_ANCESTORS))
}

/// A script, style or picture of the page.
pub async fn asset(request: Request) -> Response {
    file(request.uri().path())
}

fn file(path: &str) -> Response {
    send(path, NO_ANCESTORS)
}

/// A file of the page that `ancestors` may embed.
fn send(path: &str, ancestors: &str) -> Response {
    let Some((name, bytes)) = FILES.iter().find(|(name, _)| *name == path) else {
        return missing(path);
    };
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    let media_type = match extension {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" | "json" => "application/json",
        _ => "application/octet-stream",
    };
    let keep = if name.starts_with("/assets/") { FOREVER } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(keep)),
        (header::CONTENT_SECURITY_POLICY, policy(ancestors)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, *bytes).into_response()
}

/// The policy as a header. The configured sources were already validated.
fn policy(ancestors: &str) -> HeaderValue {
    HeaderValue::try_from(format!("{POLICY}{ancestors}"))
        .unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// The page for unknown addresses.
pub fn not_found() -> Response {
    let page = Html(include_str!("not_found.html"));
    let policy = [(header::CONTENT_SECURITY_POLICY, policy(NO_ANCESTORS))];
    (StatusCode::NOT_FOUND, policy, page).into_response()
}

fn missing(path: &str) -> Response {
    if FILES.is_empty() && path.ends_with(".html") {
        return Html(include_str!("without_page.html")).into_response();
    }
    let message = format!("the page has no file {path}");
    ApiError::new(ErrorCode::NotFound, message).into_response()
}
