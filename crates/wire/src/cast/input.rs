//! Mouse, keyboard and touch input of a viewer, named as in the Chrome DevTools Protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{Modifiers, Place, Text, Turn, Whole};

/// Maximum number of simultaneous touch points.
const MAX_TOUCHES: usize = 16;

/// Kind of mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseKind {
    /// A button is pressed.
    MousePressed,
    /// A button is released.
    MouseReleased,
    /// The mouse moves.
    MouseMoved,
    /// The wheel turns.
    MouseWheel,
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseButton {
    /// No button.
    #[default]
    None,
    /// The left one.
    Left,
    /// The wheel.
    Middle,
    /// The right one.
    Right,
    /// The back button.
    Back,
    /// The forward button.
    Forward,
}

/// `Input.dispatchMouseEvent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MouseInput {
    /// Kind of event.
    #[serde(rename = "type")]
    pub kind: MouseKind,
    /// Pixels from the left edge of the visible page.
    pub x: Place,
    /// Pixels from the top edge of the visible page.
    pub y: Place,
    /// The button that is pressed or released.
    #[serde(default)]
    pub button: MouseButton,
    /// Bit mask of pressed buttons: left 1, right 2, middle 4, back 8, forward 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<Whole<0, 31>>,
    /// Number of consecutive clicks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_count: Option<Whole<0, 3>>,
    /// Horizontal scroll distance; positive is right.
    #[serde(default)]
    pub delta_x: Turn,
    /// Vertical scroll distance; positive is down.
    #[serde(default)]
    pub delta_y: Turn,
    /// Modifier keys that are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
}

/// Kind of keyboard event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyKind {
    /// The key is pressed and types its text.
    KeyDown,
    /// The key is released.
    KeyUp,
    /// The key is pressed and types nothing.
    RawKeyDown,
    /// Text input, independent of a key.
    Char,
}

/// `Input.dispatchKeyEvent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeyInput {
    /// Kind of event.
    #[serde(rename = "type")]
    pub kind: KeyKind,
    /// Text that the key types. An emoji can consist of many characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<64>>,
    /// Meaning of the key, such as `a` or `Enter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text<32>>,
    /// Physical key, such as `KeyA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Text<32>>,
    /// Windows virtual key code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows_virtual_key_code: Option<Whole<0, 255>>,
    /// Modifier keys that are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
    /// Whether this is a repeated event of a key that is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_repeat: Option<bool>,
    /// Location of keys that exist more than once: 1 left, 2 right, 3 number pad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Whole<0, 3>>,
}

/// Kind of touch event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TouchKind {
    /// Fingers touch the screen.
    TouchStart,
    /// They move.
    TouchMove,
    /// All fingers are lifted.
    TouchEnd,
    /// The touch is cancelled.
    TouchCancel,
}

/// A touch point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Finger {
    /// Pixels from the left edge of the visible page.
    pub x: Place,
    /// Pixels from the top edge of the visible page.
    pub y: Place,
    /// Id that distinguishes touch points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Whole<0, 1000>>,
}

/// `Input.dispatchTouchEvent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TouchInput {
    /// Kind of event.
    #[serde(rename = "type")]
    pub kind: TouchKind,
    /// Active touch points; empty at the end.
    #[serde(deserialize_with = "fingers")]
    #[schemars(length(max = 16))]
    pub touch_points: Vec<Finger>,
    /// Modifier keys that are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
}

fn fingers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Finger>, D::Error> {
    let fingers = Vec::deserialize(deserializer)?;
    if fingers.len() > MAX_TOUCHES {
        return Err(D::Error::custom(format!("expected at most {MAX_TOUCHES} touch points")));
    }
    Ok(fingers)
}
