//! Single elements of a page: acting on them, and reading them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Acted, Patience, Selector, TabId};
use crate::{
    action::action,
    file::HomePath,
    pointer::{Button, Modifier},
};

/// Click an element of the page, once it can be clicked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClickElement {
    /// Which element.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// With which button.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
    /// How often: 2 for a double click.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 3))]
    pub count: u8,
    /// Keys held meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    #[schemars(extend("x-error" = "invalid_modifier", "x-missing" = "missing_modifiers"))]
    pub modifiers: Vec<Modifier>,
    /// How a question that the click brings up is answered: with OK, or, by default, with Cancel.
    #[serde(default)]
    pub accept_dialogs: bool,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser ClickElement, "browser_click", Clicked, lasts |this: &Self| this.timeout_s.duration());

fn once() -> u8 {
    1
}

/// What a click hit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ElementClicked")]
pub struct Clicked {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The element.
    pub hit: Hit,
}

/// An element that was acted on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// Its HTML tag.
    pub tag: String,
    /// What it says, or is called; cut after 200 characters.
    pub name: String,
    /// Where it was used, in the browser's view of the page: 0 is the view's left edge.
    pub x: i32,
    /// The same from the view's top edge.
    pub y: i32,
    /// The same place on the whole page, however far that is scrolled.
    #[serde(default)]
    pub page: Pixel,
    /// The same place on the desktop's screen, as `/api/v1/desktop/click` takes it; not in headless
    /// sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Pixel>,
}

/// A pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pixel {
    /// From the left edge.
    pub x: i32,
    /// From the top edge.
    pub y: i32,
}

/// Move the mouse onto an element of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoverElement {
    /// Which element.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser HoverElement, "browser_hover", Clicked, lasts |this: &Self| this.timeout_s.duration());

/// Put text into a field of the page, in place of what is there.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeInto {
    /// Which field.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// What; may be empty, to clear the field.
    #[schemars(length(max = 1_000_000))]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: String,
    /// Add to what is there instead.
    #[serde(default)]
    pub append: bool,
    /// Key by key, for pages that listen to keys, instead of at once.
    #[serde(default)]
    pub slowly: bool,
    /// Press Enter afterwards.
    #[serde(default)]
    pub submit: bool,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser TypeInto, "browser_type", Clicked, lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "selector": this.selector, "characters": this.text.chars().count(), "submit": this.submit,
}));

/// Choose options of a `<select>`, by value or label.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectOptions {
    /// Which list.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Which options; all others are not chosen.
    #[schemars(length(min = 1, max = 1000))]
    pub values: Vec<String>,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser SelectOptions, "browser_select", Selected, lasts |this: &Self| this.timeout_s.duration());

/// What is chosen now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The values of the options.
    pub values: Vec<String>,
}

/// Press a key or chord in the page, such as `Enter`, `Control+a` or `ArrowDown`; several separated
/// by spaces are pressed one after the other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressKeys {
    /// The key or chord.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-error" = "invalid_keys", "x-missing" = "missing_keys"))]
    pub keys: String,
    /// Which element has the focus first; what has it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser PressKeys, "browser_press", Acted, lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "selector": this.selector, "keys": crate::keyboard::without_characters(&this.keys),
}));

/// Give files of the session's home to a file field of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadFiles {
    /// Which field.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Which files, from the home on; put them there with `PUT /api/v1/sessions/{id}/files/…`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 100))]
    pub files: Vec<HomePath>,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser UploadFiles, "browser_upload", Acted, lasts |this: &Self| this.timeout_s.duration());

/// Read an element of the page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Which element; the whole page if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// As what.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: ExtractFormat,
    /// Which tab; the active one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Extract, "browser_extract", Extracted,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// How an element is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFormat {
    /// The text that can be seen.
    #[default]
    Text,
    /// The HTML, the element's own tag included.
    Html,
}

/// What an element holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extracted {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The text or HTML.
    pub content: String,
    /// Which of both.
    pub format: ExtractFormat,
    /// Whether there is more than 32 MB.
    pub truncated: bool,
}

/// The older way to act on an element: one route for several actions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interact {
    /// What to do.
    pub action: Interaction,
    /// Which element.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// The text to type, or the value to select.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1_000_000))]
    pub value: Option<String>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Interact, "browser_interact", Acted, lasts |this: &Self| this.timeout_s.duration(),
    kept |this: &Self| json!({ "selector": this.selector, "action": this.action }));

/// What to do with an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interaction {
    /// Click it.
    Click,
    /// Put `value` into it.
    Type,
    /// Give it the focus.
    Focus,
    /// Move the mouse onto it.
    Hover,
    /// Choose the option `value`.
    Select,
}
