//! Ends of sessions: putting one off, and what is left of those that have ended.

use helmdeck_wire::{ErrorCode, session::Session};
use http::{HeaderValue, header};

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput, Outcome},
};

/// The session is used, and nothing else happens.
pub async fn keep_alive(call: Call, _: NoInput) -> ApiResult<Session> {
    let session = call.session()?;
    session.keep_alive(&call.caller).await?;
    Ok(call.app.sessions.describe_one(&call.caller, &session).await?)
}

/// One of the caller's sessions that has ended.
pub async fn show(call: Call, _: NoInput) -> ApiResult<Session> {
    let kept = call.app.store.ended_session(call.session_id()?, call.caller.limited_to()).await?;
    let session = kept.and_then(|json| serde_json::from_str(&json).ok());
    session.ok_or_else(|| missing(&call, "no session of yours with this id has ended"))
}

/// How it looked at its end.
pub async fn last_picture(call: Call, _: NoInput) -> ApiResult<Outcome> {
    let jpeg = call.app.store.last_picture(call.session_id()?, call.caller.limited_to()).await?;
    let jpeg = jpeg.ok_or_else(|| missing(&call, "there is no last picture of this session"))?;
    let kept = HeaderValue::from_static("private, max-age=3600");
    Ok(Outcome::bytes("image/jpeg", jpeg).with(header::CACHE_CONTROL, kept))
}

/// Those of the caller's sessions that have ended, the last first.
pub async fn list(call: &Call, limit: u32) -> ApiResult<Vec<Session>> {
    let kept = call.app.store.ended_sessions(call.caller.limited_to(), limit).await?;
    Ok(kept.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
}

fn missing(call: &Call, why: &str) -> ApiError {
    let id = call.session_id().map(ToString::to_string).unwrap_or_default();
    ApiError::new(ErrorCode::NotFound, format!("{why}: {id}"))
}
