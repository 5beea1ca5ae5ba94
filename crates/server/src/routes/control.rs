//! Who drives a session.

use axum::{Extension, Json, extract::State};
use helmdeck_sessions::{Caller, Holder};
use helmdeck_wire::control::{Control, ReleaseControl, TakeControl};

use crate::{App, body::OptionalBody, error::ApiResult, query::Named};

/// Who drives.
pub async fn show_control(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<Json<Control>> {
    Ok(Json(app.sessions.get(&caller, &id)?.control(&caller)))
}

/// The caller drives.
pub async fn take_control(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    OptionalBody(take): OptionalBody<TakeControl>,
) -> ApiResult<Json<Control>> {
    let session = app.sessions.get(&caller, &id)?;
    session.take_control(holder(&caller), take.force).await?;
    Ok(Json(session.control(&caller)))
}

/// Agents drive again.
pub async fn release_control(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
    OptionalBody(release): OptionalBody<ReleaseControl>,
) -> ApiResult<Json<Control>> {
    let session = app.sessions.get(&caller, &id)?;
    session.release_control(&holder(&caller), release.message).await;
    Ok(Json(session.control(&caller)))
}

fn holder(caller: &Caller) -> Holder {
    Holder { by: caller.actor(), key: caller.token.clone() }
}
