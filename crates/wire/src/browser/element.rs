//! Actions on single elements of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Acted, Patience, Selector, TabId};
pub use crate::point::Pixel;
use crate::{
    action::action,
    file::HomePath,
    point::Rect,
    pointer::{Button, Modifier},
};

/// Click an element of the page as soon as it is clickable.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClickElement {
    /// The element to click.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Mouse button.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_button"))]
    pub button: Button,
    /// Number of clicks: 2 for a double click.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 3))]
    pub count: u8,
    /// Modifier keys to hold during the click.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    #[schemars(extend("x-error" = "invalid_modifier", "x-missing" = "missing_modifiers"))]
    pub modifiers: Vec<Modifier>,
    /// Answer dialogs that the click opens with OK. By default they are answered with Cancel.
    #[serde(default)]
    pub accept_dialogs: bool,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser ClickElement, "browser_click", Clicked, aims Element, lasts |this: &Self| this.timeout_s.duration());

fn once() -> u8 {
    1
}

/// The element that a click hit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ElementClicked")]
pub struct Clicked {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The element.
    pub hit: Hit,
}

/// An element that an action used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// HTML tag.
    pub tag: String,
    /// Visible text or accessible name, cut after 200 characters.
    pub name: String,
    /// Where the action happened, in pixels from the left edge of the viewport.
    pub x: i32,
    /// Pixels from the top edge of the viewport.
    pub y: i32,
    /// The same point in coordinates of the whole page, independent of scrolling.
    #[serde(default)]
    pub page: Pixel,
    /// The same point on the desktop's screen, for `/api/v1/desktop/click`. Absent in headless
    /// sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Pixel>,
    /// Accessible role, with `hit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// States such as `focused`, `disabled` or `checked`, with `hit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Its place in the viewport, with `hit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rect: Option<Rect>,
    /// A selector that finds it, with `hit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// The address of its document, with `hit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Move the mouse over an element of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoverElement {
    /// The element.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser HoverElement, "browser_hover", Clicked, aims Element, lasts |this: &Self| this.timeout_s.duration());

/// Fill a field of the page with text, replacing its content.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeInto {
    /// The field.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// The text. An empty text clears the field.
    #[schemars(length(max = 1_000_000))]
    #[schemars(extend("x-error" = "invalid_text", "x-missing" = "missing_text"))]
    pub text: String,
    /// Append to the content instead of replacing it.
    #[serde(default)]
    pub append: bool,
    /// Type key by key, for pages that listen to key events, instead of at once.
    #[serde(default)]
    pub slowly: bool,
    /// Press Enter afterwards.
    #[serde(default)]
    pub submit: bool,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser TypeInto, "browser_type", Clicked, aims Element, lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "selector": this.selector, "characters": this.text.chars().count(), "submit": this.submit,
}));

/// Select options of a `<select>`, by value or label.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectOptions {
    /// The `<select>` element.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Options to select. All others are deselected.
    #[schemars(length(min = 1, max = 1000))]
    pub values: Vec<String>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser SelectOptions, "browser_select", Selected, aims Element, lasts |this: &Self| this.timeout_s.duration());

/// The options that are selected now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Selected {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// Values of the selected options.
    pub values: Vec<String>,
}

/// Draw the text of a field as dots and leave it out of lists of elements, until the field is empty
/// or its page is left. For secrets that are typed next. Not an operation of the API.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConcealField {
    /// The field.
    pub selector: Selector,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser ConcealField, "conceal_field", Concealed, lasts |this: &Self| this.timeout_s.duration());

/// A field whose text is concealed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Concealed {
    /// The address of the document that gets what is typed into it: that of its frame. Empty if the
    /// document belongs to no site.
    pub url: String,
}

/// Press a key or chord in the page, such as `Enter`, `Control+a` or `ArrowDown`. Several,
/// separated by spaces, are pressed one after the other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressKeys {
    /// The key or chord.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-error" = "invalid_keys", "x-missing" = "missing_keys"))]
    pub keys: String,
    /// Element to focus first. By default the focus stays where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser PressKeys, "browser_press", Acted, aims Element, lasts |this: &Self| this.timeout_s.duration(),
kept |this: &Self| json!({
    "selector": this.selector, "keys": crate::keyboard::without_characters(&this.keys),
}));

/// Put files from the session's home into a file field of the page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UploadFiles {
    /// The file field.
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Selector,
    /// Paths of the files, relative to the home. Upload them with `PUT
    /// /api/v1/sessions/{id}/files/…`.
    #[schemars(with = "Vec<String>", length(min = 1, max = 100))]
    pub files: Vec<HomePath>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser UploadFiles, "browser_upload", Acted, aims Element, lasts |this: &Self| this.timeout_s.duration());

/// Read an element of the page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// The element; defaults to the whole page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_selector", "x-missing" = "missing_selector"))]
    pub selector: Option<Selector>,
    /// Text or HTML.
    #[serde(default)]
    #[schemars(extend("x-error" = "invalid_format"))]
    pub format: ExtractFormat,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Seconds to wait.
    #[serde(default)]
    pub timeout_s: Patience,
}
action!(browser Extract, "browser_extract", Extracted, aims Element,
    drives |_: &Self| false, lasts |this: &Self| this.timeout_s.duration());

/// How an element is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFormat {
    /// Visible text.
    #[default]
    Text,
    /// HTML, including the element's own tag.
    Html,
}

/// Content of an element.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Extracted {
    /// What else happened.
    #[serde(flatten)]
    pub acted: Acted,
    /// The text or HTML.
    pub content: String,
    /// Format of `content`.
    pub format: ExtractFormat,
    /// Whether the content was cut at 32 MB.
    pub truncated: bool,
}

/// Act on an element through one route for several actions. The separate routes are newer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interact {
    /// What to do.
    pub action: Interaction,
    /// The element.
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
action!(browser Interact, "browser_interact", Acted, aims Element, lasts |this: &Self| this.timeout_s.duration(),
    kept |this: &Self| json!({ "selector": this.selector, "action": this.action }));

/// What to do with the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interaction {
    /// Click it.
    Click,
    /// Fill it with `value`.
    Type,
    /// Focus it.
    Focus,
    /// Move the mouse over it.
    Hover,
    /// Select the option `value`.
    Select,
}
