//! Whether the server is well, and which one it is.

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

/// Longer than this, a part that answers does not work.
const PATIENCE: Duration = Duration::from_secs(2);

/// All is well.
#[derive(Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`; anything else is an error body.
    status: &'static str,
}

/// Which helmdeck this is.
#[derive(Serialize, JsonSchema)]
pub struct Version {
    /// Its version number.
    version: &'static str,
}

/// The process answers.
pub async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// The parts the process needs answer too.
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
