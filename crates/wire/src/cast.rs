//! The browser's page as pictures, without a screen: messages from and to a viewer.
//!
//! The same types travel from a viewer to the server and on to the guest. Values are validated when
//! they are parsed.

mod bounds;
mod input;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use bounds::{Modifiers, Pace, Place, Quality, Side, Text, Turn, Whole, Within};
pub use input::{
    Finger, KeyInput, KeyKind, MouseButton, MouseInput, MouseKind, TouchInput, TouchKind,
};

use crate::browser::{DialogKind, Tab, TabId};

/// Default pictures for viewers that ask for nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pictures {
    /// JPEG quality.
    pub quality: Quality,
    /// Maximum width. Wider pages are scaled down.
    pub max_width: Side,
    /// Maximum height. Higher pages are scaled down.
    pub max_height: Side,
    /// Maximum pictures per second.
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

/// How a viewer sees the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastView {
    /// The tab. Without it, the view follows the active tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// JPEG quality.
    pub quality: Quality,
    /// Maximum width. Wider pages are scaled down.
    pub max_width: Side,
    /// Maximum height. Higher pages are scaled down.
    pub max_height: Side,
    /// Maximum pictures per second.
    pub max_fps: Pace,
    /// Whether the next pictures wait until the viewer has acknowledged the previous ones.
    #[serde(default)]
    pub ack: bool,
}

/// Change the view. Fields that are not given keep their values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeView {
    /// A tab, or `null` to follow the active one.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<TabId>")]
    pub tab: Option<Option<TabId>>,
    /// JPEG quality.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// Maximum width. Wider pages are scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_width: Option<Side>,
    /// Maximum height. Higher pages are scaled down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_height: Option<Side>,
    /// Maximum pictures per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_fps: Option<Pace>,
}

/// Distinguishes `null` from an absent field.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<TabId>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl CastView {
    /// Applies a change to the view.
    pub fn change(&mut self, change: ChangeView) {
        let ChangeView { tab, quality, max_width, max_height, max_fps } = change;
        self.tab = tab.unwrap_or_else(|| self.tab.take());
        self.quality = quality.unwrap_or(self.quality);
        self.max_width = max_width.unwrap_or(self.max_width);
        self.max_height = max_height.unwrap_or(self.max_height);
        self.max_fps = max_fps.unwrap_or(self.max_fps);
    }
}

/// Acknowledges pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrived {
    /// Number of the last picture that arrived.
    pub seq: u64,
}

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DialogAnswer {
    /// Whether to answer with OK.
    pub accept: bool,
    /// Text for a prompt; defaults to what the prompt proposes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<10_000>>,
}

/// A request from a viewer, once it is authorized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CastRequest {
    /// Mouse input.
    Mouse(MouseInput),
    /// Keyboard input.
    Key(KeyInput),
    /// Touch input.
    Touch(TouchInput),
    /// Answer a dialog.
    Dialog(DialogAnswer),
    /// Change the view.
    View(ChangeView),
    /// Acknowledge pictures.
    Ack(Arrived),
    /// Release everything that is pressed. Sent by the server only.
    ReleaseAll,
}

/// A message to a viewer: an object with one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CastMessage {
    /// What the next pictures show.
    Frame(Shown),
    /// All open tabs.
    Tabs(Vec<Tab>),
    /// Whether the browser can be seen.
    Status(BrowserView),
    /// Whether the viewer's input is accepted.
    Control(MayDrive),
    /// A dialog that waits for an answer; `null` if none is open.
    Dialog(Option<OpenDialog>),
    /// A message from the viewer was refused.
    Error(Refusal),
}

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The tab.
    pub tab: TabId,
    /// Width of the page in CSS pixels. The picture shows all of it.
    pub width: f64,
    /// Height of the page in CSS pixels.
    pub height: f64,
    /// Pinch zoom factor.
    pub page_scale: f64,
    /// Height of what is above the page, in CSS pixels.
    pub offset_top: f64,
    /// Horizontal scroll position.
    pub scroll_x: f64,
    /// Vertical scroll position.
    pub scroll_y: f64,
    /// Number of the next picture. Numbers increase by one.
    pub seq: u64,
}

/// Whether a viewer's input is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MayDrive {
    /// Whether the viewer has the control role and the lease.
    pub may_drive: bool,
}

/// A dialog of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenDialog {
    /// Kind of dialog.
    pub kind: DialogKind,
    /// Text of the dialog.
    pub message: String,
    /// Default text of a prompt.
    pub proposal: String,
}

/// Why a message was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Message for people.
    pub message: String,
}

/// Whether a session's browser can be watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserView {
    /// The state of the view.
    pub status: ViewStatus,
    /// Why the browser cannot be watched.
    pub reason: Option<String>,
}

/// State of a browser view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ViewStatus {
    /// Unknown.
    #[default]
    Unspecified,
    /// The session is not ready yet.
    Starting,
    /// It can be watched.
    Ready,
    /// It is being watched.
    Streaming,
    /// The browser is gone and is being restarted.
    NoBrowser,
    /// Another person signs in privately.
    Private,
    /// An attached browser (`helmdeck attach`) that can be watched.
    Passthrough,
    /// It cannot be watched: the session has ended or runs another version, the page crashed, or
    /// the program that attached it is not connected.
    Unavailable,
}

impl ViewStatus {
    /// The status with a reason.
    pub fn because(self, reason: impl Into<String>) -> BrowserView {
        BrowserView { status: self, reason: Some(reason.into()) }
    }

    /// The status without a reason.
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
    fn a_null_tab_differs_from_an_absent_one() {
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
    fn out_of_bounds_values_are_refused() {
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
