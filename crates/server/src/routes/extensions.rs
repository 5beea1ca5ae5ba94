//! Browser extensions that sessions can be created with.

use axum::{Extension as With, Json, body::Body, extract::State, response::IntoResponse};
use helmdeck_sessions::Caller;
use helmdeck_wire::extension::ExtensionList;
use http::StatusCode;
use http_body_util::BodyExt;

use crate::{App, error::ApiResult, query::NamedExtension};

/// The caller's.
pub async fn list_extensions(
    State(app): State<App>,
    With(caller): With<Caller>,
) -> ApiResult<Json<ExtensionList>> {
    let extensions = app.sessions.extensions(&caller).await?;
    Ok(Json(ExtensionList { extensions }))
}

/// A new one, or one in another's place.
pub async fn add_extension(
    State(app): State<App>,
    With(caller): With<Caller>,
    NamedExtension(name): NamedExtension,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let upload = body.map_err(Into::into).boxed_unsync();
    let added = app.sessions.add_extension(&caller, &name, upload).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// The end of one.
pub async fn delete_extension(
    State(app): State<App>,
    With(caller): With<Caller>,
    NamedExtension(name): NamedExtension,
) -> ApiResult<StatusCode> {
    app.sessions.delete_extension(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
