//! Private sign-in.

use axum::{Extension, Json, extract::State};
use helmdeck_sessions::Caller;
use helmdeck_wire::private::{PrivateEnded, PrivateSignIn};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    App,
    error::ApiResult,
    query::{Named, Params},
};

/// How a private sign-in ends.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndQuery {
    /// Hand nothing over: the agent's page stays as it was.
    #[serde(default)]
    discard: bool,
}

/// The caller, who drives, signs in privately.
pub async fn start(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<Json<PrivateSignIn>> {
    Ok(Json(app.sessions.get(&caller, &id)?.start_private(&caller).await?))
}

/// The agent gets the signed-in page.
pub async fn end(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    Params(query): Params<EndQuery>,
) -> ApiResult<Json<PrivateEnded>> {
    Ok(Json(app.sessions.get(&caller, &id)?.end_private(&caller, query.discard).await?))
}
