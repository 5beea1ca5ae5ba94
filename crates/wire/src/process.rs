//! Programs that an agent launches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::action::action;

/// Start a program in the session, detached. It keeps running after the call.
///
/// Chromium is already running on the desktop: there is no need to launch it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// A program in the session's PATH, or an absolute path.
    #[schemars(length(min = 1, max = 4096))]
    #[schemars(extend("x-missing" = "missing_command"))]
    pub command: String,
    /// Arguments, passed unchanged. No shell is involved.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub args: Vec<String>,
}
// Arguments may hold secrets.
action!(Launch, "launch", Launched, kept |this: &Self| json!({ "command": this.command }));

/// What was started.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Launched {
    /// Always true.
    pub ok: bool,
    /// The command as requested.
    pub command: String,
    /// Process id, as programs in the session see it.
    pub pid: u32,
}
