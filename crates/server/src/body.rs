//! From the bytes of a request to what a handler wants: three extractors.
//!
//! The content type does not matter: `curl -d` sends JSON under a form's name, and there is nothing
//! else a body could be.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use helmdeck_wire::{Action, ErrorCode, SessionId, session::SessionSpec};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    App,
    error::{ApiError, ApiResult},
    field, input,
};

/// How long a client may take to send its body.
const ARRIVAL: Duration = Duration::from_secs(30);

/// A JSON object that is a `T`.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + 'static> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let object = object(&read(request, app.max_body_bytes).await?)?;
        Ok(Self(input::parse(&app.limits, object, &[])?))
    }
}

/// A JSON object that is a `T`, or nothing.
pub struct OptionalBody<T>(pub T);

impl<T: DeserializeOwned + Default + 'static> FromRequest<App> for OptionalBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let bytes = read(request, app.max_body_bytes).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(T::default()));
        }
        Ok(Self(input::parse(&app.limits, object(&bytes)?, &[])?))
    }
}

/// An action, and the session that shall do it.
pub struct Targeted<A> {
    pub session: SessionId,
    pub action: A,
}

impl<A: Action> FromRequest<App> for Targeted<A> {
    type Rejection = ApiError;

    /// Fields are checked before `session_id`, so that a client fixes its request first.
    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let mut object = object(&read(request, app.max_body_bytes).await?)?;
        let session = object.remove("session_id");
        let action = input::parse(&app.limits, object, &["session_id"])?;
        Ok(Self { session: session_id(session)?, action })
    }
}

/// What a new session shall be, in either of the two shapes that clients use.
pub struct Spec(pub SessionSpec);

impl FromRequest<App> for Spec {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let bytes = read(request, app.max_body_bytes).await?;
        let object = if bytes.trim_ascii().is_empty() { Map::new() } else { object(&bytes)? };
        Ok(Self(input::parse(&app.limits, flatten(object)?, &["spec"])?))
    }
}

/// The body, if it is not too large and arrives in time.
async fn read(request: Request, limit: usize) -> ApiResult<Bytes> {
    let body = Limited::new(request.into_body(), limit).collect();
    let broken = |message| ApiError::new(ErrorCode::InvalidJson, message);
    match tokio::time::timeout(ARRIVAL, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is larger than {limit} bytes");
            Err(ApiError::new(ErrorCode::PayloadTooLarge, message))
        }
        Ok(Err(_)) => Err(broken("the body broke off")),
        Err(_) => Err(broken("the body did not arrive within 30 s")),
    }
}

fn object(bytes: &[u8]) -> ApiResult<Map<String, Value>> {
    let invalid = |message| Err(ApiError::new(ErrorCode::InvalidJson, message));
    if bytes.trim_ascii().is_empty() {
        return invalid("the body is empty: expected a JSON object".to_owned());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => invalid(format!("the body is {}: expected a JSON object", kind(&other))),
        Err(error) => invalid(format!("the body is not JSON: {error}")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The session a request names.
pub fn session_id(value: Option<Value>) -> ApiResult<SessionId> {
    match value {
        Some(Value::String(id)) if !id.is_empty() => Ok(SessionId::new(id)),
        None | Some(Value::Null | Value::String(_)) => {
            let message = "session_id: say which session, by the id its creation answered with";
            Err(ApiError::new(field::codes("session_id").missing, message))
        }
        Some(other) => {
            let message = format!("session_id is {}: expected a string", kind(&other));
            Err(ApiError::new(field::codes("session_id").invalid, message))
        }
    }
}

/// Brings the fields under `spec` up to the top, and the two names of the wall clock limit
/// together. What is said twice is refused.
fn flatten(mut object: Map<String, Value>) -> ApiResult<Map<String, Value>> {
    let invalid = |message| ApiError::new(ErrorCode::InvalidInput, message);
    match object.remove("spec") {
        None | Some(Value::Null) => {}
        Some(Value::Object(nested)) => {
            for (key, value) in nested {
                if object.contains_key(&key) {
                    let message = format!("{key} stands both at the top and in spec: choose one");
                    return Err(invalid(message));
                }
                object.insert(key, value);
            }
        }
        Some(other) => {
            return Err(invalid(format!("spec is {}: expected an object", kind(&other))));
        }
    }
    if let Some(seconds) = object.remove("wallclock_timeout_s")
        && object.insert("timeout_seconds".to_owned(), seconds).is_some()
    {
        let message = "timeout_seconds and wallclock_timeout_s are the same limit: choose one";
        return Err(invalid(message.to_owned()));
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flat(value: Value) -> Result<Value, ErrorCode> {
        let Value::Object(object) = value else { panic!("not an object") };
        flatten(object).map(Value::Object).map_err(|error| error.code)
    }

    #[test]
    fn both_shapes_of_a_create_body_mean_the_same() {
        let nested = json!({"spec": {"image": "i", "wallclock_timeout_s": 600}});
        let mixed = json!({"image": "i", "spec": {"timeout_seconds": 600}});
        let expected = json!({"image": "i", "timeout_seconds": 600});
        assert_eq!(flat(nested), Ok(expected.clone()));
        assert_eq!(flat(mixed), Ok(expected));
    }

    #[test]
    fn saying_a_thing_twice_is_refused() {
        for twice in [
            json!({"label": "a", "spec": {"label": "a"}}),
            json!({"timeout_seconds": 1, "wallclock_timeout_s": 1}),
            json!({"timeout_seconds": 1, "spec": {"wallclock_timeout_s": 1}}),
            json!({"spec": []}),
        ] {
            assert_eq!(flat(twice.clone()), Err(ErrorCode::InvalidInput), "{twice}");
        }
    }

    #[test]
    fn a_session_must_be_named() {
        let code = |value| session_id(value).map_err(|error| error.code);
        assert_eq!(code(Some(json!("s"))), Ok(SessionId::new("s")));
        for missing in [None, Some(json!("")), Some(json!(null))] {
            assert_eq!(code(missing), Err(ErrorCode::MissingSessionId));
        }
        assert_eq!(code(Some(json!(5))), Err(ErrorCode::InvalidInput));
    }
}
