//! The clipboard of a session's desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::action::action;

/// Read the clipboard, or set it when `text` is given.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clipboard {
    /// The new content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: Option<String>,
}
action!(Clipboard, "clipboard", ClipboardText, drives |this: &Self| this.text.is_some(), kept |this: &Self| {
    json!({ "characters": this.text.as_ref().map(|text| text.chars().count()) })
});

/// What the clipboard holds now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClipboardText {
    /// The text; empty if the clipboard has none.
    pub text: String,
}
