//! JSON bodies of requests and replies.
//!
//! In place of axum's `Json`, which compiles another deserializer for each type.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use helmdeck_task::BoxFuture;
use helmdeck_wire::{ErrorBody, ErrorCode, parse::parse};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{begin::Guest, error::GuestError};

/// A body of this type.
pub struct Json<T>(pub T);

/// A body that is not parsed yet.
pub struct Unparsed(pub Value);

impl FromRequest<Guest> for Unparsed {
    type Rejection = GuestError;

    async fn from_request(request: Request, guest: &Guest) -> Result<Self, GuestError> {
        read(request, guest).await.map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<Guest> for Json<T> {
    type Rejection = GuestError;

    async fn from_request(request: Request, guest: &Guest) -> Result<Self, GuestError> {
        parse(read(request, guest).await?).map(Self).map_err(|invalid| unreadable(&invalid))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        answer(serde_json::to_vec(&self.0))
    }
}

fn read(request: Request, guest: &Guest) -> BoxFuture<'_, Result<Value, GuestError>> {
    Box::pin(async move {
        let body = Bytes::from_request(request, guest).await.map_err(|e| unreadable(&e))?;
        serde_json::from_slice(&body).map_err(|e| unreadable(&e))
    })
}

fn answer(body: serde_json::Result<Vec<u8>>) -> Response {
    let json = HeaderValue::from_static("application/json");
    match body {
        Ok(body) => ([(CONTENT_TYPE, json)], body).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The error for a request that the server must not send.
pub fn unreadable(error: &dyn std::fmt::Display) -> GuestError {
    let message = format!("the guest cannot read the request: {error}");
    GuestError::Refused(ErrorBody::new(ErrorCode::Internal, message))
}
