//! What a tool answers, before any door has put it into its own form.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::error::{ApiError, ApiResult};

/// What a tool answers.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub payload: Payload,
    /// What HTTP clients are told about it.
    pub headers: HeaderMap,
    /// The HTTP status, if it is not the one of the table.
    pub status: Option<StatusCode>,
}

/// The answer itself.
#[derive(Debug)]
pub enum Payload {
    /// JSON, as text.
    Json(Bytes),
    /// A picture, a document or a text.
    Bytes {
        /// What it is.
        media_type: HeaderValue,
        /// All of it.
        bytes: Bytes,
    },
    /// Bytes that come piece by piece.
    Stream {
        /// What it is.
        media_type: HeaderValue,
        /// How many bytes, if that is known.
        size: Option<u64>,
        /// The bytes.
        body: Body,
    },
    /// It is done, and there is nothing to say.
    Nothing,
}

impl Outcome {
    /// It is done.
    pub fn done() -> Self {
        Self::new(Payload::Nothing)
    }

    /// A value as JSON.
    pub fn json(value: &impl Serialize) -> ApiResult<Self> {
        let text = serde_json::to_vec(value).map_err(ApiError::internal)?;
        Ok(Self::new(Payload::Json(text.into())))
    }

    /// Bytes of a known kind.
    pub fn bytes(media_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        Self::new(Payload::Bytes { media_type, bytes: bytes.into() })
    }

    /// An answer without headers.
    pub fn new(payload: Payload) -> Self {
        Self { payload, headers: HeaderMap::new(), status: None }
    }

    /// With a header for HTTP clients.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}
