//! What an admin can change while the server runs.

use helmdeck_wire::settings::{ChangeSettings, Settings};

use crate::{
    error::ApiResult,
    tool::{Call, NoInput},
};

/// The settings in effect.
pub async fn show_settings(call: Call, _: NoInput) -> ApiResult<Settings> {
    Ok(call.app.settings.show())
}

/// Other settings.
pub async fn change_settings(call: Call, change: ChangeSettings) -> ApiResult<Settings> {
    call.app.settings.change(&change, &call.caller.subject).await?;
    Ok(call.app.settings.show())
}
