//! Mouse actions and their replies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::action::action;
pub use crate::point::{Point, Px};

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-aliases" = ["wheel"]))]
pub enum Button {
    /// The main button.
    #[default]
    Left,
    /// The wheel pressed down.
    #[serde(alias = "wheel")]
    Middle,
    /// The context-menu button.
    Right,
    /// The thumb button that goes back in history.
    Back,
    /// The thumb button that goes forward in history.
    Forward,
}

impl Button {
    /// The button's number in the X protocol.
    pub fn number(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Middle => 2,
            Self::Right => 3,
            Self::Back => 8,
            Self::Forward => 9,
        }
    }
}

/// A modifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-aliases" =
    ["SHIFT", "control", "CTRL", "option", "ALT", "meta", "cmd", "win"]))]
pub enum Modifier {
    /// Shift.
    #[serde(alias = "SHIFT")]
    Shift,
    /// Control.
    #[serde(alias = "control", alias = "CTRL")]
    Ctrl,
    /// Alt.
    #[serde(alias = "option", alias = "ALT")]
    Alt,
    /// The Windows or command key.
    #[serde(alias = "meta", alias = "cmd", alias = "win")]
    Super,
}

/// Click once at a point on the desktop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Click {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
}
action!(Click, "click", Clicked, aims Point);

/// Where a single click went.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Clicked {
    /// Always true.
    pub ok: bool,
    /// Pixels from the left edge.
    pub x: Px,
    /// Pixels from the top edge.
    pub y: Px,
    /// The button's number in the X protocol: "1" left, "2" middle, "3" right.
    pub button: String,
}

/// Click twice in quick succession at a point on the desktop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoubleClick {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
}
action!(DoubleClick, "double_click", MultiClicked, aims Point);

/// Click three times in quick succession. This selects a line or paragraph of text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TripleClick {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
}
action!(TripleClick, "triple_click", MultiClicked, aims Point);

/// Where a double or triple click went.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MultiClicked {
    /// Always true.
    pub ok: bool,
    /// Pixels from the left edge.
    pub x: Px,
    /// Pixels from the top edge.
    pub y: Px,
    /// How many clicks were made.
    pub clicks: u8,
}

/// Click while modifier keys are held. They are always released afterwards.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModifierClick {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
    /// The keys to hold, at least one.
    #[schemars(length(min = 1, max = 4))]
    #[schemars(extend("x-error" = "invalid_modifier", "x-missing" = "missing_modifiers"))]
    pub modifiers: Vec<Modifier>,
}
action!(ModifierClick, "modifier_click", ModifierClicked, aims Point);

/// Where a click with modifiers went.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ModifierClicked {
    /// Always true.
    pub ok: bool,
    /// Pixels from the left edge.
    pub x: Px,
    /// Pixels from the top edge.
    pub y: Px,
    /// The keys that were held.
    pub modifiers: Vec<Modifier>,
}

/// Move the pointer without clicking.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseMove {
    /// Pixels from the left edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Px,
    /// Pixels from the top edge.
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Px,
}
action!(MouseMove, "mouse_move", Moved, aims Point);

/// Where the pointer is now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Always true.
    pub ok: bool,
    /// Pixels from the left edge.
    pub x: Px,
    /// Pixels from the top edge.
    pub y: Px,
}

/// Press a button and hold it until `mouse_up`, at the pointer or at the given point.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseDown {
    /// Pixels from the left edge; with `y`, moves there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Option<Px>,
    /// Pixels from the top edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Option<Px>,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
}
action!(MouseDown, "mouse_down", Clicked, aims Point);

/// Release a button, at the pointer or at the given point.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MouseUp {
    /// Pixels from the left edge; with `y`, moves there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Option<Px>,
    /// Pixels from the top edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Option<Px>,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
}
action!(MouseUp, "mouse_up", Clicked, aims Point);

/// Press at one point, move to another in small steps and release; or follow a `path`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Where to press, unless `path` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub start_x: Option<Px>,
    /// Where to press, unless `path` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub start_y: Option<Px>,
    /// Where to release, unless `path` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub end_x: Option<Px>,
    /// Where to release, unless `path` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub end_y: Option<Px>,
    /// Points to pass through, at least two. The button is pressed at the first and released at the
    /// last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub path: Vec<Point>,
    /// Which button; left if not given.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
    /// Modifier keys to hold during the drag.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-error" = "invalid_modifier", "x-missing" = "missing_modifiers"))]
    pub modifiers: Vec<Modifier>,
}
action!(Drag, "drag", Dragged, aims Start, kept |this: &Self| json!({ "path": this.points() }));

impl Drag {
    /// The points of the drag. `None` if neither form is complete.
    pub fn points(&self) -> Option<Vec<Point>> {
        if self.path.len() >= 2 {
            return Some(self.path.clone());
        }
        let start = Point { x: self.start_x?, y: self.start_y? };
        let end = Point { x: self.end_x?, y: self.end_y? };
        self.path.is_empty().then(|| vec![start, end])
    }

    /// The field that is missing if neither form is complete: the path, once it is begun.
    pub fn missing_field(&self) -> Option<&'static str> {
        let ends = [
            ("start_x", self.start_x),
            ("start_y", self.start_y),
            ("end_x", self.end_x),
            ("end_y", self.end_y),
        ];
        let missing = ends.into_iter().find(|(_, given)| given.is_none());
        missing.map(|(name, _)| name).filter(|_| self.path.is_empty())
    }

    /// The field with a coordinate, `x` or `y`, of one of the points.
    pub fn coordinate_field(&self, at: usize, axis: &str) -> String {
        match at {
            _ if self.path.len() >= 2 => format!("path[{at}].{axis}"),
            0 => format!("start_{axis}"),
            _ => format!("end_{axis}"),
        }
    }
}

/// Where a drag started and ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Dragged {
    /// Always true.
    pub ok: bool,
    /// Where the button was pressed.
    pub start_x: Px,
    /// Where the button was pressed.
    pub start_y: Px,
    /// Where the button was released.
    pub end_x: Px,
    /// Where the button was released.
    pub end_y: Px,
}

/// Scroll direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the beginning.
    Up,
    /// Towards the end.
    Down,
    /// Towards the left edge.
    Left,
    /// Towards the right edge.
    Right,
}

/// Turn the mouse wheel, at the given point or at the pointer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scroll {
    /// Pixels from the left edge; with `y`, moves there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub x: Option<Px>,
    /// Pixels from the top edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_coordinates"))]
    pub y: Option<Px>,
    /// Direction.
    #[schemars(extend("x-error" = "invalid_direction"))]
    pub direction: Direction,
    /// Wheel notches; defaults to 3, at most 50. Larger values are capped.
    #[serde(default = "Scroll::default_amount")]
    #[schemars(extend("x-error" = "invalid_amount"))]
    pub amount: u32,
    /// Modifier keys to hold, for example ctrl to zoom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-error" = "invalid_modifier", "x-missing" = "missing_modifiers"))]
    pub modifiers: Vec<Modifier>,
}
action!(Scroll, "scroll", Scrolled, aims Point);

impl Scroll {
    /// Maximum number of notches per call.
    pub const MAX_AMOUNT: u32 = 50;

    fn default_amount() -> u32 {
        3
    }
}

/// How far the wheel was turned.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Scrolled {
    /// Always true.
    pub ok: bool,
    /// Direction.
    pub direction: Direction,
    /// Notches turned, after capping.
    pub amount: u32,
}

/// Get the position of the pointer.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CursorPosition {}
action!(CursorPosition, "cursor_position", Point, drives |_: &Self| false);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drag_needs_both_ends_or_a_path() {
        let half: Drag = serde_json::from_str(r#"{"start_x": 1, "start_y": 1}"#).unwrap();
        assert_eq!(half.points(), None);
        let path: Drag =
            serde_json::from_str(r#"{"path": [{"x":0,"y":0},{"x":5,"y":5}]}"#).unwrap();
        assert_eq!(path.points().map(|p| p.len()), Some(2));
    }
}
