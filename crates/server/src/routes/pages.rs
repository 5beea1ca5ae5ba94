//! The web page, out of the binary.

use axum::{
    extract::Request,
    response::{Html, IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Every file of the page, by its path.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// What the page may do: nothing from elsewhere, and nobody may frame it.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
                      style-src 'self'; script-src 'self'; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'self'; object-src 'none'";
/// Files with a hash in their name never change.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// The app itself: it finds out by the address what to show.
pub async fn app() -> Response {
    file("/index.html")
}

/// The app for one session: the same, one level down, so that its links hold behind any prefix.
pub async fn session() -> Response {
    file("/sessions/index.html")
}

/// The live view on a page of its own.
pub async fn viewer() -> Response {
    file("/vnc.html")
}

/// A script, style or picture of the page.
pub async fn asset(request: Request) -> Response {
    file(request.uri().path())
}

fn file(path: &str) -> Response {
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
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("x-frame-options"), HeaderValue::from_static("DENY")),
    ];
    (headers, *bytes).into_response()
}

fn missing(path: &str) -> Response {
    if FILES.is_empty() && path.ends_with(".html") {
        return Html(include_str!("without_page.html")).into_response();
    }
    StatusCode::NOT_FOUND.into_response()
}
