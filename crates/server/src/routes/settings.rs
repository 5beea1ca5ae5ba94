//! What an admin can change while the server runs.

use helmdeck_wire::{
    ErrorCode,
    settings::{ChangeSettings, Settings},
};

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput},
};

/// The settings in effect.
pub async fn show_settings(call: Call, _: NoInput) -> ApiResult<Settings> {
    Ok(call.app.settings.show())
}

/// Other settings.
pub async fn change_settings(call: Call, change: ChangeSettings) -> ApiResult<Settings> {
    let settings = &call.app.settings;
    let fixed = settings.show().browser_passthrough.by_configuration;
    if fixed && change.browser_passthrough == Some(false) {
        let message = "browser_passthrough: the server's configuration turned it on, with \
                       HELMDECK_BROWSER_PASSTHROUGH or in its file; turn it off there";
        return Err(ApiError::new(ErrorCode::InvalidInput, message));
    }
    settings.change(&change, &call.caller.subject).await?;
    Ok(settings.show())
}
