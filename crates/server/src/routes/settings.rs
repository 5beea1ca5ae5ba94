//! What an admin can change while the server runs.

use axum::{Extension, Json, extract::State};
use helmdeck_sessions::Caller;
use helmdeck_wire::{
    ErrorCode,
    settings::{ChangeSettings, Settings},
};

use crate::{
    App,
    body::Body,
    error::{ApiError, ApiResult},
};

/// The settings in effect.
pub async fn show_settings(State(app): State<App>) -> Json<Settings> {
    Json(app.settings.show())
}

/// Other settings.
pub async fn change_settings(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Body(change): Body<ChangeSettings>,
) -> ApiResult<Json<Settings>> {
    let fixed = app.settings.show().browser_passthrough.by_configuration;
    if fixed && change.browser_passthrough == Some(false) {
        let message = "browser_passthrough: the server's configuration turned it on, with \
                       HELMDECK_BROWSER_PASSTHROUGH or in its file; turn it off there";
        return Err(ApiError::new(ErrorCode::InvalidInput, message));
    }
    app.settings.change(&change, &caller.subject).await?;
    Ok(Json(app.settings.show()))
}
