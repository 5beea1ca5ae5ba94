//! Ends of sessions: putting one off, and what is left of those that have ended.

use axum::{Extension, Json, extract::State, response::IntoResponse};
use helmdeck_sessions::Caller;
use helmdeck_wire::{ErrorCode, SessionId, session::Session};
use http::header;

use crate::{
    App,
    error::{ApiError, ApiResult},
    query::Named,
};

/// The session is used, and nothing else happens.
pub async fn keep_alive(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<Json<Session>> {
    let session = app.sessions.get(&caller, &id)?;
    session.keep_alive(&caller).await?;
    Ok(Json(app.sessions.describe_one(&caller, &session).await?))
}

/// One of the caller's sessions that has ended.
pub async fn show(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<Json<Session>> {
    let kept = app.store.ended_session(&id, owner(&caller)).await?;
    let session = kept.and_then(|json| serde_json::from_str(&json).ok());
    session.map(Json).ok_or_else(|| missing(&id, "no session of yours with this id has ended"))
}

/// How it looked at its end.
pub async fn last_picture(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Named(id): Named,
) -> ApiResult<impl IntoResponse> {
    let jpeg = app.store.last_picture(&id, owner(&caller)).await?;
    let jpeg = jpeg.ok_or_else(|| missing(&id, "there is no last picture of this session"))?;
    let headers =
        [(header::CONTENT_TYPE, "image/jpeg"), (header::CACHE_CONTROL, "private, max-age=3600")];
    Ok((headers, jpeg))
}

/// Those of the caller's sessions that have ended, the last first.
pub async fn list(app: &App, caller: &Caller, limit: u32) -> ApiResult<Vec<Session>> {
    let kept = app.store.ended_sessions(owner(caller), limit).await?;
    Ok(kept.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
}

/// Whose sessions the caller may see; an admin, everybody's.
fn owner(caller: &Caller) -> Option<&str> {
    (!caller.is_admin()).then_some(caller.subject.as_str())
}

fn missing(id: &SessionId, why: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("{why}: {id}"))
}
