//! The page at `/`.

use axum::response::Html;

/// What this is, and where to go from here.
pub async fn home() -> Html<String> {
    Html(include_str!("home.html").replace("{version}", env!("CARGO_PKG_VERSION")))
}
