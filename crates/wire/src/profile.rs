//! Stored browser profiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The caller's profiles, by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProfileList {
    /// The profiles.
    pub profiles: Vec<Profile>,
}

/// A profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Name that sessions use.
    pub name: String,
    /// Size on the server's disk, in bytes.
    pub size: u64,
    /// When it was last saved.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub kept_at: OffsetDateTime,
}
