//! The end of sessions: postponing it, and what is kept after it.

use helmdeck_wire::{ErrorCode, session::Session};
use http::{HeaderValue, header};

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome},
};

/// Postpones the idle end.
pub async fn keep_alive(call: Call, _: NoInput) -> ApiResult<Session> {
    let session = call.session()?;
    session.keep_alive(&call.caller).await?;
    Ok(call.app.sessions.describe_one(&call.caller, &session).await?)
}

/// One of the caller's ended sessions.
pub async fn show(call: Call, _: NoInput) -> ApiResult<Session> {
    let kept = call.app.store.ended_session(call.session_id()?, call.caller.limited_to()).await?;
    let session = kept.and_then(|json| serde_json::from_str(&json).ok());
    session.ok_or_else(|| missing(&call, "you have no ended session with this id"))
}

/// The last picture of a session.
pub async fn last_picture(call: Call, _: NoInput) -> ApiResult<Outcome> {
    let jpeg = call.app.store.last_picture(call.session_id()?, call.caller.limited_to()).await?;
    let jpeg = jpeg.ok_or_else(|| missing(&call, "this session has no last picture"))?;
    let kept = HeaderValue::from_static("private, max-age=3600");
    Ok(Outcome::bytes("image/jpeg", jpeg).with(header::CACHE_CONTROL, kept))
}

/// The caller's ended sessions, newest first.
pub async fn list(call: &Call, limit: u32) -> ApiResult<Vec<Session>> {
    let kept = call.app.store.ended_sessions(call.caller.limited_to(), limit).await?;
    Ok(kept.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
}

fn missing(call: &Call, why: &str) -> ApiError {
    let id = call.session_id().map(ToString::to_string).unwrap_or_default();
    ApiError::new(ErrorCode::NotFound, format!("{why}: {id}"))
}
