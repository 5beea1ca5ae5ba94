//! Mouse, keys and fingers of a viewer, as Chromium's own protocol names them.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::{Modifiers, Place, Text, Turn, Whole};

/// So many fingers are more than anybody has.
const MAX_TOUCHES: usize = 16;

/// What happens with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseKind {
    /// A button goes down.
    MousePressed,
    /// A button goes up.
    MouseReleased,
    /// It moves.
    MouseMoved,
    /// The wheel turns.
    MouseWheel,
}

/// A button of the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MouseButton {
    /// None.
    #[default]
    None,
    /// The left one.
    Left,
    /// The wheel.
    Middle,
    /// The right one.
    Right,
    /// The one that goes back.
    Back,
    /// The one that goes forward.
    Forward,
}

/// `Input.dispatchMouseEvent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MouseInput {
    /// What happens.
    #[serde(rename = "type")]
    pub kind: MouseKind,
    /// From the left edge of the page as it is shown.
    pub x: Place,
    /// From its top.
    pub y: Place,
    /// Which button goes down or up.
    #[serde(default)]
    pub button: MouseButton,
    /// Buttons that are down: left 1, right 2, middle 4, back 8, forward 16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buttons: Option<Whole<0, 31>>,
    /// Which click in a row it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub click_count: Option<Whole<0, 3>>,
    /// To the right.
    #[serde(default)]
    pub delta_x: Turn,
    /// Down.
    #[serde(default)]
    pub delta_y: Turn,
    /// Keys that are held meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
}

/// What happens with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum KeyKind {
    /// It goes down, and types its text.
    KeyDown,
    /// It goes up.
    KeyUp,
    /// It goes down, and types nothing.
    RawKeyDown,
    /// Text comes, from whichever key.
    Char,
}

/// `Input.dispatchKeyEvent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeyInput {
    /// What happens.
    #[serde(rename = "type")]
    pub kind: KeyKind,
    /// What is typed; an emoji may be made of many characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<64>>,
    /// The key's meaning, such as `a` or `Enter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text<32>>,
    /// The key's place, such as `KeyA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Text<32>>,
    /// The key's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows_virtual_key_code: Option<Whole<0, 255>>,
    /// Keys that are held meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
    /// Whether it is held for so long that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_repeat: Option<bool>,
    /// Left 1, right 2, of keys that there are twice; 3 on the number pad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Whole<0, 3>>,
}

/// What happens with fingers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TouchKind {
    /// Fingers touch.
    TouchStart,
    /// They move.
    TouchMove,
    /// All are lifted.
    TouchEnd,
    /// It was no touch after all.
    TouchCancel,
}

/// A finger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Finger {
    /// From the left edge of the page as it is shown.
    pub x: Place,
    /// From its top.
    pub y: Place,
    /// Tells fingers apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Whole<0, 1000>>,
}

/// `Input.dispatchTouchEvent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TouchInput {
    /// What happens.
    #[serde(rename = "type")]
    pub kind: TouchKind,
    /// The fingers that touch; none at the end.
    #[serde(deserialize_with = "fingers")]
    #[schemars(length(max = 16))]
    pub touch_points: Vec<Finger>,
    /// Keys that are held meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modifiers: Option<Modifiers>,
}

fn fingers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Finger>, D::Error> {
    let fingers = Vec::deserialize(deserializer)?;
    if fingers.len() > MAX_TOUCHES {
        return Err(D::Error::custom(format!("expected at most {MAX_TOUCHES} fingers")));
    }
    Ok(fingers)
}
