//! What stands after the question mark, and in the path.

mod refusal;

use axum::extract::{FromRequestParts, Path, Query};
use helmdeck_wire::{ErrorCode, SessionId, extension::ExtensionName, session::ProfileName};
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    App,
    error::{ApiError, ApiResult},
};

/// The query string as a `T`.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + JsonSchema> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> ApiResult<Self> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => {
                let query = parts.uri.query().unwrap_or_default();
                let message = refusal::sentence::<T>(query, &rejection.body_text());
                Err(ApiError::new(ErrorCode::InvalidInput, message))
            }
        }
    }
}

/// The session and the ticket that the path names.
pub struct NamedTicket(pub SessionId, pub String);

impl FromRequestParts<App> for NamedTicket {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path((id, ticket))) => Ok(Self(id, ticket)),
            Err(_) => Err(ApiError::new(ErrorCode::NotFound, "there is no such ticket")),
        }
    }
}

/// The session and the forwarded port that the path names.
pub struct NamedForward(pub SessionId, pub u16);

impl FromRequestParts<App> for NamedForward {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path((id, port))) => Ok(Self(id, port)),
            Err(_) => {
                let message = "port: expected the number of a port inside the session";
                Err(ApiError::new(ErrorCode::InvalidInput, message))
            }
        }
    }
}

/// The session and the file that the path names.
pub struct NamedFile(pub SessionId, pub String);

impl FromRequestParts<App> for NamedFile {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path((id, path))) => Ok(Self(id, path)),
            Err(_) => {
                let message = "path: a name of a file is UTF-8, percent-encoded where needed";
                Err(ApiError::new(ErrorCode::InvalidPath, message))
            }
        }
    }
}

/// The profile that the path names.
pub struct NamedProfile(pub ProfileName);

impl FromRequestParts<App> for NamedProfile {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(ApiError::new(ErrorCode::NotFound, "there is no such profile")),
        }
    }
}

/// The extension that the path names.
pub struct NamedExtension(pub ExtensionName);

impl FromRequestParts<App> for NamedExtension {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => {
                let message = "name: expected 1 to 64 letters, digits, `-` or `_`";
                Err(ApiError::new(ErrorCode::InvalidInput, message))
            }
        }
    }
}

/// The session that the path names.
pub struct Named(pub SessionId);

impl FromRequestParts<App> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(id)) => Ok(Self(id)),
            // Only text that is no UTF-8 gets here.
            Err(_) => Err(ApiError::new(ErrorCode::NotFound, "there is no such session")),
        }
    }
}
