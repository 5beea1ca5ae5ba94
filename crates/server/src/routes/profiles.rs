//! Browser profiles that are kept between sessions.

use helmdeck_store::AuditEntry;
use helmdeck_wire::{profile::ProfileList, session::ProfileName};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ApiResult,
    tool::{Call, NoInput, Outcome},
};

/// A profile.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneProfile {
    /// Its name.
    #[schemars(extend("x-error" = "not_found"))]
    name: ProfileName,
}

/// Lists the caller's profiles.
pub async fn list_profiles(call: Call, _: NoInput) -> ApiResult<ProfileList> {
    let profiles = call.app.sessions.profiles(&call.caller).await?;
    Ok(ProfileList { profiles })
}

/// Deletes a profile.
pub async fn delete_profile(call: Call, one: OneProfile) -> ApiResult<Outcome> {
    call.app.sessions.delete_profile(&call.caller, &one.name).await?;
    let deleted = AuditEntry::new("profile.deleted").actor(&call.caller).target(one.name.as_str());
    call.app.audit.record(deleted);
    Ok(Outcome::done())
}
