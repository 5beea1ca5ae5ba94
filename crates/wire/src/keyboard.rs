//! Keyboard actions and their replies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{action::action, status::Seconds};

/// Type Unicode text into the focused element. A newline presses Return, a tab presses Tab.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Type {
    /// What to type; must not be empty.
    #[schemars(length(min = 1, max = 100_000))]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: String,
    /// Milliseconds between characters. 0, the default, types as fast as the program can read.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    pub delay_ms: u32,
}
action!(Type, "type", Typed, aims Focus, lasts |this: &Self| {
    let characters = u32::try_from(this.text.chars().count()).unwrap_or(u32::MAX);
    std::time::Duration::from_millis(u64::from(characters) * (u64::from(this.delay_ms) + 1))
}, kept |this: &Self| json!({ "characters": this.text.chars().count() }));

/// What was typed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Typed {
    /// Always true.
    pub ok: bool,
    /// Number of characters (Unicode code points), not bytes.
    pub length: usize,
}

/// Press a key or a chord such as `Return`, `ctrl+a` or `alt+Tab`. Several, separated by spaces,
/// are pressed one after the other.
///
/// Accepts X keysym names and common aliases: Enter, CTRL, ArrowLeft, cmd, PageDown and so on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The key or chord; must not be empty.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-error" = "invalid_keys", "x-missing" = "missing_keys"))]
    pub keys: String,
}
action!(Key, "key", Pressed, aims Focus, kept |this: &Self| json!({ "keys": without_characters(&this.keys) }));

/// The keys without those that type a character: together they may be a password.
pub(crate) fn without_characters(keys: &str) -> String {
    let shown = keys.split_whitespace().map(|key| if writes(key) { "•" } else { key });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether a key or chord may type a character. Unknown keys may.
fn writes(chord: &str) -> bool {
    const COMMANDS: [&str; 9] =
        ["ctrl", "control", "alt", "option", "super", "meta", "cmd", "command", "win"];
    const SILENT: [&str; 28] = [
        "return",
        "enter",
        "tab",
        "escape",
        "esc",
        "backspace",
        "delete",
        "del",
        "insert",
        "home",
        "end",
        "pageup",
        "pagedown",
        "page_up",
        "page_down",
        "prior",
        "next",
        "up",
        "down",
        "left",
        "right",
        "arrowup",
        "arrowdown",
        "arrowleft",
        "arrowright",
        "shift",
        "menu",
        "caps_lock",
    ];
    let chord = chord.to_ascii_lowercase();
    let mut parts = chord.split('+');
    if parts.clone().count() > 1 && parts.clone().any(|part| COMMANDS.contains(&part)) {
        return false;
    }
    parts.any(|part| {
        let number = part.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
        let function = number.is_some_and(|number| (1..=24).contains(&number));
        !function && !SILENT.contains(&part) && !COMMANDS.contains(&part)
    })
}

/// The keys that were pressed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Pressed {
    /// Always true.
    pub ok: bool,
    /// The keys as requested.
    pub keys: String,
}

/// Hold a key or chord down for some seconds, then release it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldKey {
    /// The key or chord; must not be empty.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-error" = "invalid_keys", "x-missing" = "missing_keys"))]
    pub keys: String,
    /// How long, in seconds; at most 30. Longer values are capped.
    #[schemars(extend("x-error" = "invalid_seconds"))]
    pub seconds: Seconds,
}
action!(HoldKey, "hold_key", Held, aims Focus, lasts |this: &Self| this.seconds.duration(), kept |this: &Self| {
    json!({ "keys": without_characters(&this.keys), "seconds": this.seconds })
});

/// The keys that were held.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Always true.
    pub ok: bool,
    /// The keys as requested.
    pub keys: String,
    /// Seconds, after the cap.
    pub seconds: Seconds,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_keep_command_keys_but_no_typed_characters() {
        let kept = "ctrl+l Return alt+Tab shift+Tab F5 ArrowLeft ctrl+shift+p super";
        assert_eq!(without_characters(kept), kept);
        assert_eq!(without_characters("p shift+P U+0070 KP_1 period é F99"), "• • • • • • •");
    }
}
