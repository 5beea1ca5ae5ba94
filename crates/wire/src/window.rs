//! The windows on a session's desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::action::action;

/// List the windows of programs on the desktop, at most 1024; the panel is not one.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWindows {}
action!(ListWindows, "windows", Windows, drives |_: &Self| false);

/// The windows, in the order in which they were opened.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Windows {
    /// The windows; empty if there are none.
    pub windows: Vec<Window>,
    /// How many.
    pub count: usize,
}

/// One window.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// X11 id, in decimal.
    pub id: String,
    /// The process that owns it, as `launch` and `ps` number it. The session's own browser runs apart
    /// from other programs and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether it is a window of the session's own browser.
    #[serde(default)]
    pub browser: bool,
    /// The title.
    pub name: String,
    /// The program's class, for example `Chromium`.
    pub class: String,
    /// Left edge on the screen; negative if it sticks out.
    pub x: i32,
    /// Top edge on the screen; negative if it sticks out.
    pub y: i32,
    /// Width without the frame.
    pub width: u32,
    /// Height without the frame.
    pub height: u32,
    /// Whether it has the keyboard.
    pub focused: bool,
    /// Whether it is minimised.
    pub minimized: bool,
}

/// Where the browser's window is on the desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserWindow {
    /// X11 id, in decimal.
    pub id: String,
    /// Left edge on the screen; negative if it sticks out.
    pub x: i32,
    /// Top edge on the screen; negative if it sticks out.
    pub y: i32,
    /// Width without the frame.
    pub width: u32,
    /// Height without the frame.
    pub height: u32,
}

/// A window's X11 id: decimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(transparent)]
pub struct WindowId(
    #[schemars(
        with = "String",
        regex(pattern = "^[0-9]{1,9}$"),
        extend("x-expected" = "the decimal id that /windows lists")
    )]
    pub u32,
);

impl<'de> Deserialize<'de> for WindowId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| {
            serde::de::Error::custom(format!(
                "{text:?} is not a window id: expected the decimal id that /windows lists"
            ))
        })
    }
}

impl Serialize for WindowId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Give a window the keyboard and raise it; a minimised one is restored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Focus {
    /// The id that `/windows` lists.
    #[schemars(extend("x-error" = "invalid_window_id", "x-missing" = "missing_window_id"))]
    pub window_id: WindowId,
}
action!(Focus, "focus", Focused);

/// Which window has the keyboard now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Focused {
    /// Always true.
    pub ok: bool,
    /// The window's id.
    pub window_id: WindowId,
}
