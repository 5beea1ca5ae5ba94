//! What an admin can change while the server runs.

use axum::{Extension, Json, extract::State};
use helmdeck_sessions::Caller;
use helmdeck_wire::settings::{ChangeSettings, Settings};

use crate::{App, body::Body, error::ApiResult};

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
    app.settings.change(&change, &caller.subject).await?;
    Ok(Json(app.settings.show()))
}
