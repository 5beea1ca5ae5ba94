//! Browser profiles that are kept from session to session.

use axum::{Extension, Json, extract::State};
use helmdeck_sessions::Caller;
use helmdeck_wire::profile::ProfileList;
use http::StatusCode;

use crate::{App, error::ApiResult, query::NamedProfile};

/// The caller's.
pub async fn list_profiles(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> ApiResult<Json<ProfileList>> {
    let profiles = app.sessions.profiles(&caller).await?;
    Ok(Json(ProfileList { profiles }))
}

/// The end of one.
pub async fn delete_profile(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    NamedProfile(name): NamedProfile,
) -> ApiResult<StatusCode> {
    app.sessions.delete_profile(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
