//! Browser extensions that are kept for sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::name::name;

name! {
    /// The name of an extension: letters, digits, `-` and `_`.
    ExtensionName, "an extension"
}

/// The caller's extensions, by name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ExtensionList {
    /// Each.
    pub extensions: Vec<Extension>,
}

/// An extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extension {
    /// As sessions ask for it.
    pub name: ExtensionName,
    /// What its manifest calls it.
    pub title: String,
    /// Its version, by its manifest.
    pub version: String,
    /// The version of the manifest's own format, 2 or 3. Chromium no longer loads 2.
    pub manifest_version: u8,
    /// Bytes of all its files.
    pub size: u64,
    /// How many files it has.
    pub files: u32,
    /// When it was added.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub added_at: OffsetDateTime,
}
