//! Request bodies: JSON objects, read with a size limit and a deadline.
//!
//! The content type is ignored: `curl -d` sends JSON as a form, and all bodies are JSON.

use std::time::Duration;

use axum::{
    body::Body as Incoming,
    extract::{FromRequest, Request},
};
use bytes::Bytes;
use helmdeck_wire::ErrorCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    App,
    error::{ApiError, ApiResult},
    input,
    tool::Tool,
};

/// How long a client may take to send its body.
const ARRIVAL: Duration = Duration::from_secs(30);
/// The largest body of a call of a pack, unless the operator allows larger ones. It has room for
/// the longest text that a schema of a pack allows.
pub const PACK_BODY: usize = 12 << 20;

impl App {
    /// The largest body of a request that may call a pack.
    pub(crate) fn max_pack_body_bytes(&self) -> usize {
        self.max_body_bytes.max(PACK_BODY)
    }
}

/// A JSON object, deserialized as `T`.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + 'static> FromRequest<App> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let bytes = read(request.into_body(), app.max_body_bytes).await?;
        Ok(Self(input::read(object(&bytes)?)?))
    }
}

/// Reads the body, with a size limit and a deadline.
pub async fn read(body: Incoming, limit: usize) -> ApiResult<Bytes> {
    let body = Limited::new(body, limit).collect();
    let broken = |message| ApiError::new(ErrorCode::InvalidJson, message);
    match tokio::time::timeout(ARRIVAL, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body is larger than {limit} bytes");
            Err(ApiError::new(ErrorCode::PayloadTooLarge, message))
        }
        Ok(Err(_)) => Err(broken("the body ended early")),
        Err(_) => Err(broken("the body did not arrive within 30 s")),
    }
}

/// Reads the body of a call. Those of packs may be larger.
pub async fn read_call(body: Incoming, app: &App, tool: &Tool) -> ApiResult<Bytes> {
    if tool.pack.is_none() {
        return read(body, app.max_body_bytes).await;
    }
    read(body, app.max_pack_body_bytes()).await.map_err(|error| {
        let large = error.code == ErrorCode::PayloadTooLarge;
        let hint = "upload large content with POST /api/v1/artifacts/upload, and pass its key";
        ApiError { hint: large.then(|| hint.to_owned()), ..error }
    })
}

/// Parses a body as a JSON object.
pub fn object(bytes: &[u8]) -> ApiResult<Map<String, Value>> {
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
