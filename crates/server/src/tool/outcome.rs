//! The outcome of a tool, independent of the door.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;

use crate::error::{ApiError, ApiResult};

/// The outcome of a tool.
#[derive(Debug)]
pub struct Outcome {
    /// The reply.
    pub payload: Payload,
    /// Headers for HTTP clients.
    pub headers: HeaderMap,
    /// HTTP status, if it differs from the table.
    pub status: Option<StatusCode>,
}

/// The reply itself.
#[derive(Debug)]
pub enum Payload {
    /// Serialized JSON.
    Json(Bytes),
    /// A picture, a document or a text.
    Bytes {
        /// Media type.
        media_type: HeaderValue,
        /// Content.
        bytes: Bytes,
    },
    /// Streamed bytes.
    Stream {
        /// Media type.
        media_type: HeaderValue,
        /// Size in bytes, if known.
        size: Option<u64>,
        /// The stream.
        body: Body,
    },
    /// An empty reply.
    Nothing,
}

impl Outcome {
    /// Success without a reply.
    pub fn done() -> Self {
        Self::new(Payload::Nothing)
    }

    /// A value as JSON.
    pub fn json(value: &impl Serialize) -> ApiResult<Self> {
        let text = serde_json::to_vec(value).map_err(ApiError::internal)?;
        Ok(Self::new(Payload::Json(text.into())))
    }

    /// Bytes with a media type.
    pub fn bytes(media_type: &'static str, bytes: impl Into<Bytes>) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        Self::new(Payload::Bytes { media_type, bytes: bytes.into() })
    }

    /// An outcome without headers.
    pub fn new(payload: Payload) -> Self {
        Self { payload, headers: HeaderMap::new(), status: None }
    }

    /// Adds a header for HTTP clients.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}
