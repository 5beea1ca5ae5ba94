//! Stored browser extensions.

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
    /// The extensions.
    pub extensions: Vec<Extension>,
}

/// An extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extension {
    /// Name that sessions use.
    pub name: ExtensionName,
    /// Name in the manifest.
    pub title: String,
    /// Version in the manifest.
    pub version: String,
    /// Version of the manifest format, 2 or 3. Chromium no longer loads 2.
    pub manifest_version: u8,
    /// Total size of its files in bytes.
    pub size: u64,
    /// Number of files.
    pub files: u32,
    /// When it was added.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub added_at: OffsetDateTime,
}
