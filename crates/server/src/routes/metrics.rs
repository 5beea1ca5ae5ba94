//! The server's figures.

use axum::{extract::State, response::IntoResponse};
use http::header;

use crate::App;

/// What Prometheus expects.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All figures, as Prometheus reads them.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, MEDIA_TYPE)], app.figures.render(app.sessions.count()))
}
