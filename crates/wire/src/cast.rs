//! The browser's page as pictures, without a screen: what a viewer may ask, and what it is told.
//!
//! The same words travel from a viewer to the server and from there to the guest; whoever has one of
//! these types may trust it.

mod bounds;
mod input;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use bounds::{Modifiers, Pace, Place, Quality, Side, Text, Turn, Whole, Within};
pub use input::{
    Finger, KeyInput, KeyKind, MouseButton, MouseInput, MouseKind, TouchInput, TouchKind,
};

use crate::browser::{DialogKind, Tab, TabId};

/// The browser's pictures, for viewers that do not ask for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pictures {
    /// Of the pictures, which are JPEG.
    pub quality: Quality,
    /// Wider pages are scaled down to this.
    pub max_width: Side,
    /// Higher pages are scaled down to this.
    pub max_height: Side,
    /// The most pictures in a second.
    pub max_fps: Pace,
}

impl Default for Pictures {
    fn default() -> Self {
        Self {
            quality: Quality::of::<70>(),
            max_width: Side::of::<1280>(),
            max_height: Side::of::<800>(),
            max_fps: Pace::of::<15>(),
        }
    }
}

/// How a viewer wants to see the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastView {
    /// Which tab; the active one, whichever that is, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Of the pictures.
    pub quality: Quality,
    /// Wider pages are scaled down.
    pub max_width: Side,
    /// Higher pages are scaled down.
    pub max_height: Side,
    /// The most pictures in a second.
    pub max_fps: Pace,
    /// Whether pictures wait until the viewer has acknowledged those before.
    #[serde(default)]
    pub ack: bool,
}

/// Another way to see it, from now on. What is not given stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeView {
    /// A tab, or `null` for the active one.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TabId>")]
    pub tab: Option<Option<TabId>>,
    /// Of the pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Wider pages are scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<Side>,
    /// Higher pages are scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_height: Option<Side>,
    /// The most pictures in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_fps: Option<Pace>,
}

/// Tells `null` from nothing.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<TabId>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl CastView {
    /// The same view, changed.
    pub fn change(&mut self, change: ChangeView) {
        let ChangeView { tab, quality, max_width, max_height, max_fps } = change;
        self.tab = tab.unwrap_or_else(|| self.tab.take());
        self.quality = quality.unwrap_or(self.quality);
        self.max_width = max_width.unwrap_or(self.max_width);
        self.max_height = max_height.unwrap_or(self.max_height);
        self.max_fps = max_fps.unwrap_or(self.max_fps);
    }
}

/// Pictures that have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrived {
    /// The number of the last one.
    pub seq: u64,
}

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DialogAnswer {
    /// Whether the answer is OK.
    pub accept: bool,
    /// What a prompt is answered with; what it proposes, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<10_000>>,
}

/// What a viewer may ask, once it is known that it may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CastRequest {
    /// Use the mouse.
    Mouse(MouseInput),
    /// Use a key.
    Key(KeyInput),
    /// Touch.
    Touch(TouchInput),
    /// Answer a dialog.
    Dialog(DialogAnswer),
    /// See it another way.
    View(ChangeView),
    /// Pictures have arrived.
    Ack(Arrived),
    /// Let go whatever is pressed. The server's own word.
    ReleaseAll,
}

/// What a viewer is told. Each message is an object with one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CastMessage {
    /// What the pictures show from now on.
    Frame(Shown),
    /// The tabs there are.
    Tabs(Vec<Tab>),
    /// Whether there is something to see.
    Status(BrowserView),
    /// Whether input passes.
    Control(MayDrive),
    /// A dialog that waits for an answer, or none.
    Dialog(Option<OpenDialog>),
    /// A message that was refused.
    Error(Refusal),
}

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Which tab.
    pub tab: TabId,
    /// The page's width in CSS pixels, all of which the picture shows.
    pub width: f64,
    /// The page's height in CSS pixels.
    pub height: f64,
    /// How far the page is zoomed in by fingers.
    pub page_scale: f64,
    /// What is above the page, in CSS pixels.
    pub offset_top: f64,
    /// How far the page is scrolled.
    pub scroll_x: f64,
    /// How far the page is scrolled.
    pub scroll_y: f64,
    /// The number of the next picture; each has the next number.
    pub seq: u64,
}

/// Whether a viewer's input passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MayDrive {
    /// It has the role and the lease.
    pub may_drive: bool,
}

/// A dialog of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenDialog {
    /// Which kind.
    pub kind: DialogKind,
    /// What it says.
    pub message: String,
    /// What a prompt proposes.
    pub proposal: String,
}

/// Why a message was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For people.
    pub message: String,
}

/// Whether a session's browser can be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserView {
    /// Whether it can.
    pub status: ViewStatus,
    /// Why not.
    pub reason: Option<String>,
}

/// Whether a browser can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViewStatus {
    /// Not known.
    #[default]
    Unspecified,
    /// The session is not ready yet.
    Starting,
    /// It can.
    Ready,
    /// Being watched.
    Streaming,
    /// The browser is gone, and is being started again.
    NoBrowser,
    /// Another person signs in privately.
    Private,
    /// An attached browser (`helmdeck attach`) that can be watched.
    Passthrough,
    /// It cannot: the session is over, or of another version, or the page crashed, or the program
    /// that attached it is not connected.
    Unavailable,
}

impl ViewStatus {
    /// With a reason.
    pub fn because(self, reason: impl Into<String>) -> BrowserView {
        BrowserView { status: self, reason: Some(reason.into()) }
    }

    /// Without one.
    pub fn plainly(self) -> BrowserView {
        BrowserView { status: self, reason: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_message_is_an_object_with_one_key() {
        let status = CastMessage::Status(ViewStatus::NoBrowser.because("it ended"));
        let written = json!({ "status": { "status": "no_browser", "reason": "it ended" } });
        assert_eq!(to_value(status).unwrap(), written);
        let drive = CastMessage::Control(MayDrive { may_drive: true });
        assert_eq!(to_value(drive).unwrap(), json!({ "control": { "may_drive": true } }));
        assert_eq!(to_value(CastMessage::Dialog(None)).unwrap(), json!({ "dialog": null }));
    }

    #[test]
    fn no_tab_is_not_the_same_as_nothing_said_of_tabs() {
        let change = |value| from_value::<ChangeView>(value).unwrap();
        let mut view: CastView = from_value(json!({
            "tab": "A", "quality": 70, "max_width": 1280, "max_height": 800, "max_fps": 15,
        }))
        .unwrap();
        view.change(change(json!({ "quality": 30 })));
        assert_eq!((view.tab.clone(), view.quality.get()), (Some(TabId("A".into())), 30));
        view.change(from_value(to_value(change(json!({ "tab": null }))).unwrap()).unwrap());
        assert_eq!(view.tab, None);
    }

    #[test]
    fn what_is_out_of_bounds_is_no_value() {
        let mouse = |more: serde_json::Value| {
            let mut value = json!({ "type": "mousePressed", "x": 1, "y": 2 });
            value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            from_value::<MouseInput>(value).is_ok()
        };
        assert!(mouse(json!({ "button": "left", "clickCount": 2, "modifiers": 15 })));
        for bad in [
            json!({ "x": 20_000 }),
            json!({ "x": null }),
            json!({ "modifiers": 16 }),
            json!({ "clickCount": -1 }),
            json!({ "button": "primary" }),
            json!({ "type": "mouseDragged" }),
            json!({ "timestamp": 1 }),
        ] {
            assert!(!mouse(bad.clone()), "{bad}");
        }
        let key = |text: &str| json!({ "type": "char", "text": text });
        assert!(from_value::<KeyInput>(key(&"x".repeat(64))).is_ok());
        let secret = from_value::<KeyInput>(key(&"secret".repeat(11))).unwrap_err();
        assert!(!secret.to_string().contains("secret"), "{secret}");
    }
}
