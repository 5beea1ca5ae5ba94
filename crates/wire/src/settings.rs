//! What an admin can change while the server runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings in effect. New sessions follow them; those that exist stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Whether browsers that an agent's own programs start are watched and driven as the session's
    /// own is.
    pub browser_passthrough: Feature,
}

/// Something that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feature {
    /// Whether new sessions have it, unless they choose themselves.
    pub enabled: bool,
    /// Whether the server's configuration turned it on; then it cannot be turned off here.
    pub by_configuration: bool,
}

/// Change settings; what is not given stays.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    /// Turn it on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_passthrough: Option<bool>,
}
