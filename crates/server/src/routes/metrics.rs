//! The server's metrics.

use axum::{extract::State, response::IntoResponse};
use http::header;

use crate::App;

/// Media type that Prometheus expects.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All metrics in the Prometheus format.
pub async fn metrics(State(app): State<App>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, MEDIA_TYPE)],
        app.metrics.render(app.sessions.count(), app.audit.status()),
    )
}
