//! What a model can do, in pixels of the screen. Every dialect is translated to and from this.

use helmdeck_wire::{
    point::{Pixel, Rect},
    pointer::{Button, Modifier},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pixels that one notch of a wheel stands for.
pub const NOTCH: i32 = 100;
/// The longest wait or hold, in seconds.
pub const LONGEST: f64 = 30.0;

/// Where an action acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Place {
    /// At a pixel of the screen.
    At(Pixel),
    /// At an element, by its ref.
    Element {
        /// The ref.
        #[serde(rename = "ref")]
        reference: String,
    },
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Click, at the pointer if no place is given.
    Click {
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// Which button.
        #[serde(default)]
        button: Button,
        /// How often: 1 to 3.
        #[serde(default = "one")]
        count: u8,
        /// Keys to hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
    },
    /// Move the pointer.
    Move {
        /// Where to.
        at: Place,
    },
    /// Press a button and hold it.
    Press {
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// Which button.
        #[serde(default)]
        button: Button,
    },
    /// Release a button.
    Release {
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// Which button.
        #[serde(default)]
        button: Button,
    },
    /// Drag along a path. A path of one point begins at the pointer.
    Drag {
        /// The points.
        path: Vec<Pixel>,
        /// Keys to hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
    },
    /// Scroll by pixels: to the right and down if positive.
    Scroll {
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// To the right.
        #[serde(default)]
        dx: i32,
        /// Down.
        #[serde(default)]
        dy: i32,
        /// Keys to hold.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        modifiers: Vec<Modifier>,
    },
    /// Type text.
    Type {
        /// The text.
        text: String,
    },
    /// Press keys: chords, separated by spaces.
    Key {
        /// The keys.
        keys: String,
    },
    /// Press a key and hold it for the actions that follow.
    KeyDown {
        /// The key.
        key: String,
    },
    /// Release a key.
    KeyUp {
        /// The key.
        key: String,
    },
    /// Hold a chord for some seconds.
    Hold {
        /// The keys.
        keys: String,
        /// How long.
        seconds: f64,
    },
    /// Wait.
    Wait {
        /// How long.
        seconds: f64,
    },
    /// Look at the whole screen.
    Screenshot,
    /// Look at a part of the screen.
    Zoom {
        /// The part.
        region: Rect,
    },
    /// Ask where the pointer is.
    CursorPosition,
    /// Open an address in the browser.
    Navigate {
        /// The address.
        url: String,
    },
    /// Go back in the history of the page.
    Back,
    /// Go forward in the history of the page.
    Forward,
    /// Read what can be used on the screen.
    Read,
    /// Find elements by text.
    Find {
        /// The text.
        text: String,
    },
    /// Replace the value of a field.
    Fill {
        /// The field.
        at: Place,
        /// Its new value.
        text: String,
    },
    /// The goal is reached, says the model.
    Done {
        /// What it says.
        #[serde(default)]
        text: String,
    },
    /// The model needs a person.
    AskUser {
        /// What it asks.
        #[serde(default)]
        text: String,
    },
}

fn one() -> u8 {
    1
}

impl Place {
    /// The pixel, if it is one.
    pub fn pixel(&self) -> Option<Pixel> {
        match self {
            Self::At(pixel) => Some(*pixel),
            Self::Element { .. } => None,
        }
    }
}

impl Action {
    /// A click with the left button.
    pub fn click(x: i32, y: i32) -> Self {
        Self::clicks(Some(Place::At(Pixel { x, y })), Button::Left, 1)
    }

    /// A click.
    pub fn clicks(at: Option<Place>, button: Button, count: u8) -> Self {
        Self::Click { at, button, count, modifiers: Vec::new() }
    }

    /// A key or a chord.
    pub fn key(keys: &str) -> Self {
        Self::Key { keys: keys.to_owned() }
    }

    /// Where it acts, if it says so by position.
    pub fn pixel(&self) -> Option<Pixel> {
        match self {
            Self::Click { at, .. }
            | Self::Press { at, .. }
            | Self::Release { at, .. }
            | Self::Scroll { at, .. } => at.as_ref().and_then(Place::pixel),
            Self::Move { at } | Self::Fill { at, .. } => at.pixel(),
            Self::Drag { path, .. } => path.first().copied(),
            _ => None,
        }
    }

    /// Whether it only looks.
    pub fn only_looks(&self) -> bool {
        matches!(
            self,
            Self::Screenshot
                | Self::Zoom { .. }
                | Self::CursorPosition
                | Self::Read
                | Self::Find { .. }
                | Self::Wait { .. }
                | Self::Done { .. }
                | Self::AskUser { .. }
        )
    }

    /// What it does, for a status line: never what it types.
    pub fn label(&self) -> String {
        let at = |at: &Option<Place>| match at {
            Some(Place::At(Pixel { x, y })) => format!(" at {x},{y}"),
            Some(Place::Element { reference }) => format!(" {reference}"),
            None => String::new(),
        };
        match self {
            Self::Click { at: place, button, count, .. } => {
                let times = ["", "double-", "triple-"].get(usize::from(*count).saturating_sub(1));
                let button = match button {
                    Button::Left => "",
                    Button::Right => "right-",
                    Button::Middle => "middle-",
                    Button::Back => "back-",
                    Button::Forward => "forward-",
                };
                format!("{}{button}clicking{}", times.copied().unwrap_or_default(), at(place))
            }
            Self::Move { at: place } => format!("pointing{}", at(&Some(place.clone()))),
            Self::Press { at: place, .. } => format!("pressing the button{}", at(place)),
            Self::Release { at: place, .. } => format!("releasing the button{}", at(place)),
            Self::Drag { .. } => "dragging".to_owned(),
            Self::Scroll { dy, dx, .. } => match (*dx, *dy) {
                (_, 1..) => "scrolling down".to_owned(),
                (_, ..=-1) => "scrolling up".to_owned(),
                (1.., _) => "scrolling right".to_owned(),
                _ => "scrolling left".to_owned(),
            },
            Self::Type { text } | Self::Fill { text, .. } => {
                format!("typing {} characters", text.chars().count())
            }
            Self::Key { keys } | Self::Hold { keys, .. } => {
                format!("pressing {}", crate::keys::shown(keys))
            }
            Self::KeyDown { key } => format!("holding {}", crate::keys::shown(key)),
            Self::KeyUp { key } => format!("releasing {}", crate::keys::shown(key)),
            Self::Wait { .. } => "waiting".to_owned(),
            Self::Screenshot => "looking".to_owned(),
            Self::Zoom { .. } => "looking closer".to_owned(),
            Self::CursorPosition => "asking for the pointer".to_owned(),
            Self::Navigate { url } => {
                format!("opening {}", url.chars().take(100).collect::<String>())
            }
            Self::Back => "going back".to_owned(),
            Self::Forward => "going forward".to_owned(),
            Self::Read => "reading the screen".to_owned(),
            Self::Find { .. } => "searching the screen".to_owned(),
            Self::Done { .. } => "done".to_owned(),
            Self::AskUser { .. } => "asking".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_never_says_what_is_typed() {
        let typed = Action::Type { text: "hunter2".to_owned() };
        assert_eq!(typed.label(), "typing 7 characters");
        assert_eq!(Action::key("ctrl+l").label(), "pressing ctrl+l");
        assert_eq!(Action::key("h u n").label(), "pressing • • •");
        assert_eq!(Action::click(3, 4).label(), "clicking at 3,4");
    }
}
