//! The trace of a session.

use helmdeck_wire::trace::{ReadTrace, TraceLog, TracePicture};
use http::{HeaderValue, header};

use crate::{
    error::ApiResult,
    tool::{Call, Outcome},
};

/// What happened in one of the caller's sessions.
pub async fn trace(call: Call, wanted: ReadTrace) -> ApiResult<TraceLog> {
    Ok(call.session()?.trace(&wanted).await?)
}

/// A small picture of the trace, which never changes.
pub async fn picture(call: Call, wanted: TracePicture) -> ApiResult<Outcome> {
    let jpeg = call.session()?.trace_picture(&wanted).await?;
    let kept = HeaderValue::from_static("private, max-age=3600");
    Ok(Outcome::bytes("image/jpeg", jpeg).with(header::CACHE_CONTROL, kept))
}
