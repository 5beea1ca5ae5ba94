//! Browser extensions that are kept for sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The name of an extension: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ExtensionName(
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_-]+$"))] String,
);

impl ExtensionName {
    /// The name as text; also the name of a file.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ExtensionName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if (1..=64).contains(&name.len()) && name.chars().all(plain) {
            return Ok(Self(name));
        }
        let expected = "expected 1 to 64 letters, digits, `-` or `_`";
        let message = format!("{name:?} is not the name of an extension: {expected}");
        Err(serde::de::Error::custom(message))
    }
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
