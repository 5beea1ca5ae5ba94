//! Settings that an admin can change while the server runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings in effect. Those of sessions apply to new ones only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Whether sessions watch and drive browsers that an agent's own programs start, like their own
    /// browser.
    pub browser_passthrough: Feature,
    /// The model of vision that is pinned, `provider/model`; absent if the server's configuration decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision_model: Option<String>,
}

/// A feature that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Feature {
    /// Whether new sessions have it by default.
    pub enabled: bool,
    /// Whether the server's configuration enables it. It cannot be disabled here then.
    pub by_configuration: bool,
}

/// Change settings. Fields that are not given keep their values.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    /// Turn it on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_passthrough: Option<bool>,
    /// Pin the model of vision, `provider/model`, for runs and packs that name none. An empty text unpins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub vision_model: Option<String>,
}
