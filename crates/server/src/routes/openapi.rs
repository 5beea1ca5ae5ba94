//! The OpenAPI document.

use axum::{extract::State, response::IntoResponse};
use http::header;

use crate::App;

/// The OpenAPI document.
pub async fn openapi(State(app): State<App>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi.clone())
}
