//! Query and path parameters of plain routes.

use axum::extract::{FromRequestParts, Path};
use helmdeck_wire::{ErrorCode, SessionId};
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::{
    App,
    error::{ApiError, ApiResult},
    input,
};

/// The query string, parsed as `T`.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + 'static> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> ApiResult<Self> {
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

/// Parses a query string.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(query: &str) -> ApiResult<T> {
    let schema = input::schema_of::<T>()?;
    let mut object = Map::new();
    for (name, text) in pairs(query) {
        let value = schema.coerce(&name, &text);
        if object.insert(name.clone(), value).is_some() {
            return Err(input::given_twice(&name));
        }
    }
    input::read(object)
}

/// Names and values, percent-decoded.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    serde_urlencoded::from_str(query).unwrap_or_default()
}

/// The session and the forwarded port in the path.
pub struct NamedForward(pub SessionId, pub u16);

impl FromRequestParts<App> for NamedForward {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path((id, port))) => Ok(Self(id, port)),
            Err(_) => {
                let message = "port: expected the number of a port inside the session";
                Err(ApiError::new(ErrorCode::InvalidInput, message).of_field("port", Vec::new()))
            }
        }
    }
}

/// The session in the path.
pub struct Named(pub SessionId);

impl FromRequestParts<App> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(id)) => Ok(Self(id)),
            // Only invalid UTF-8 gets here.
            Err(_) => Err(ApiError::new(ErrorCode::NotFound, "the session does not exist")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::cast::CastQuery;

    #[test]
    fn a_query_is_refused_by_field_and_with_what_is_expected() {
        for (query, message) in [
            ("quality=abc", "quality is \"abc\": expected 1 to 100"),
            ("max_fps=-1", "max_fps is -1: expected 1 to 60"),
            ("ack=maybe", "ack is \"maybe\": expected true or false"),
            ("take=1", "take is \"1\": expected true or false"),
            ("role=boss", "role is \"boss\": expected view or control"),
        ] {
            assert_eq!(read::<CastQuery>(query).err().expect("it is refused").message, message);
        }
        let twice = read::<CastQuery>("ack=true&ack=true").err().expect("it is refused").body();
        assert_eq!(twice.message, "ack is given twice: choose one");
        assert_eq!(twice.field.as_deref(), Some("ack"));
        let unknown =
            read::<CastQuery>("ticket=secret&fp%73=3").err().expect("it is refused").message;
        assert!(unknown.starts_with("unknown field \"fps\": known fields are "), "{unknown}");
        assert!(unknown.contains("max_fps") && unknown.contains("ticket"), "{unknown}");
        assert!(!unknown.contains("secret"), "{unknown}");
    }
}
