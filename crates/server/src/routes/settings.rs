//! Settings that an admin can change at runtime.

use helmdeck_gateway::ModelId;
use helmdeck_store::AuditEntry;
use helmdeck_wire::{
    ErrorCode,
    settings::{ChangeSettings, Settings},
};

use crate::{
    error::{ApiError, ApiResult},
    tool::{Call, NoInput},
};

/// Shows the settings in effect.
pub async fn show_settings(call: Call, _: NoInput) -> ApiResult<Settings> {
    Ok(call.app.settings.show())
}

/// Changes settings.
pub async fn change_settings(call: Call, change: ChangeSettings) -> ApiResult<Settings> {
    let pinned = change.vision_model.as_deref().map(|id| vision_model(&call, id)).transpose()?;
    call.app.settings.change(&change, &call.caller.subject).await?;
    if let Some(model) = pinned {
        let value = model.as_ref().map(ToString::to_string);
        call.app.settings.pin_vision_model(model, &call.caller.subject).await?;
        let changed = AuditEntry::new("settings.changed").actor(&call.caller);
        call.app.audit.record(changed.target("vision_model").detail("value", value));
    }
    if let Some(on) = change.browser_passthrough {
        let changed = AuditEntry::new("settings.changed").actor(&call.caller);
        call.app.audit.record(changed.target("browser_passthrough").detail("value", on));
    }
    Ok(call.app.settings.show())
}

/// The model to pin; nothing to unpin it.
fn vision_model(call: &Call, id: &str) -> ApiResult<Option<ModelId>> {
    if id.is_empty() {
        return Ok(None);
    }
    let refused = |code: ErrorCode, message: String| {
        ApiError::new(code, message).of_field("vision_model", Vec::new())
    };
    let model = ModelId::parse(id)
        .map_err(|invalid| refused(ErrorCode::InvalidInput, format!("vision_model: {invalid}")))?;
    if call.app.models.settings().provider(&model.provider).is_none() {
        let message = format!("vision_model: {id}: no provider is called {}", model.provider);
        return Err(refused(ErrorCode::ModelNotFound, message));
    }
    Ok(Some(model))
}
