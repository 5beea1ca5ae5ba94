//! Health and version of the server.

use std::time::Duration;

use axum::{Json, extract::State};
use helmdeck_wire::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    App,
    error::{ApiError, ApiResult},
};

/// A part that takes longer to answer counts as failed.
const PATIENCE: Duration = Duration::from_secs(2);

/// The server is healthy.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`; anything else is an error body.
    status: &'static str,
}

/// The version of helmdeck.
#[derive(Serialize, JsonSchema)]
pub struct Version {
    /// Its version number.
    version: &'static str,
}

/// The process is running.
pub async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The process and the parts that it needs are ready.
pub async fn readyz(State(app): State<App>) -> ApiResult<Json<Health>> {
    match timeout(PATIENCE, app.store.ping()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(unavailable("the store does not answer").because(error)),
        Err(_) => return Err(unavailable("the store does not answer in time")),
    }
    match timeout(PATIENCE, app.runtime.list()).await {
        Ok(Ok(_)) => Ok(Json(Health { status: "ok" })),
        Ok(Err(error)) => Err(unavailable("the runtime does not answer").because(error)),
        Err(_) => Err(unavailable("the runtime does not answer in time")),
    }
}

/// The version of this build.
pub async fn version() -> Json<Version> {
    Json(Version { version: env!("CARGO_PKG_VERSION") })
}

fn unavailable(message: &str) -> ApiError {
    ApiError::new(ErrorCode::Unavailable, message).retry_after(1)
}
