//! Settings that an admin can change at runtime.

use helmdeck_store::AuditEntry;
use helmdeck_wire::settings::{ChangeSettings, Settings};

use crate::{
    error::ApiResult,
    tool::{Call, NoInput},
};

/// Shows the settings in effect.
pub async fn show_settings(call: Call, _: NoInput) -> ApiResult<Settings> {
    Ok(call.app.settings.show())
}

/// Changes settings.
pub async fn change_settings(call: Call, change: ChangeSettings) -> ApiResult<Settings> {
    call.app.settings.change(&change, &call.caller.subject).await?;
    if let Some(on) = change.browser_passthrough {
        let changed = AuditEntry::new("settings.changed").actor(&call.caller);
        call.app.audit.record(changed.target("browser_passthrough").detail("value", on));
    }
    Ok(call.app.settings.show())
}
