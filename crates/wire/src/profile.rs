//! Browser profiles that are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The caller's profiles, by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ProfileList {
    /// Each.
    pub profiles: Vec<Profile>,
}

/// A profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// As sessions ask for it.
    pub name: String,
    /// Bytes on the server's disk.
    pub size: u64,
    /// When it was kept last.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub kept_at: OffsetDateTime,
}
