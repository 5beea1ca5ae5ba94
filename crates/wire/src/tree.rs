//! What is on the screen: windows and accessible elements.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    action::action,
    aim::{Source, Target},
    browser::TabId,
    point::{Pixel, Rect},
    window::WindowId,
};

/// Read what is on the desktop: windows, topmost first, and the elements that are visible in them,
/// with role, name, value, states and rectangle. Needs no model.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTree {
    /// Return only changes since the tree with this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Only this window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_window_id"))]
    pub window_id: Option<WindowId>,
    /// Maximum number of elements; defaults to 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub max_nodes: Option<u32>,
    /// Maximum size of the elements in bytes; defaults to 100,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_000, max = 5_000_000))]
    pub max_bytes: Option<u32>,
}
action!(ReadTree, "tree", Tree, drives |_: &Self| false);

/// Windows and elements on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    /// Pass it as `since` to get only the changes.
    pub id: u64,
    /// Whether `nodes` holds only changes. Elements that are neither in `nodes` nor in `removed` are
    /// as before.
    pub delta: bool,
    /// Windows, topmost first.
    pub windows: Vec<TreeWindow>,
    /// The element with the keyboard focus, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// Elements, window by window, parents before children.
    pub nodes: Vec<TreeNode>,
    /// Elements of the earlier tree that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Whether elements were left out because of `max_nodes` or `max_bytes`.
    pub truncated: bool,
    /// Sources that could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A window in a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeWindow {
    /// X11 id, in decimal.
    pub id: String,
    /// The title.
    pub name: String,
    /// The program's class, for example `Chromium`.
    pub class: String,
    /// Process that owns it; absent for the session's own browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether it belongs to the session's own browser.
    #[serde(default)]
    pub browser: bool,
    /// The address of the page that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its place on the screen, without the frame.
    pub rect: Rect,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Whether it is a menu, tooltip or other window without a frame.
    #[serde(default)]
    pub popup: bool,
    /// Whether it is a panel of the desktop. Its buttons are found by reading the picture.
    #[serde(default)]
    pub panel: bool,
    /// Whether other windows cover all of it.
    #[serde(default)]
    pub covered: bool,
    /// Whether its program did not answer in time, so that elements are missing.
    #[serde(default)]
    pub unresponsive: bool,
    /// Whether its program has no accessible elements. Its text can only be found by reading the
    /// picture.
    #[serde(default)]
    pub opaque: bool,
}

/// An element in a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeNode {
    /// Names the element as long as it exists: `a12`, or `p1x9z.12` for an element of a page.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The ref of the element that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The id of its window.
    pub window: String,
    /// Its role, as web pages name it: button, textbox, menuitem, …
    pub role: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its text or value. Values of password fields are left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// States: checked, disabled, focused, selected, expanded, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The part of the screen that it covers.
    pub rect: Rect,
}

/// Find elements on the desktop by text, role or name, without a model. Programs are asked first;
/// if they have nothing that matches, the text of the picture is read. Without a wish, everything
/// that can be used is found.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// A part of its name, value or visible text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub text: Option<String>,
    /// Its role: button, link, textbox, checkbox, menuitem, tab, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub role: Option<String>,
    /// Its name, or a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// Its ref in a tree or list of candidates. Refs of snapshots are for `selector`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub reference: Option<String>,
    /// Only in this window: its id, or a part of its title or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub window: Option<String>,
    /// Nearest to this point first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Pixel>,
    /// Only the one with this number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub nth: Option<u32>,
    /// Whether the whole text or name must match, with case.
    #[serde(default)]
    pub exact: bool,
    /// Maximum number of candidates; defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Whether the text of the picture may be read if nothing else matches.
    #[serde(default = "yes")]
    pub ocr: bool,
}
action!(Find, "find", Found, drives |_: &Self| false, lasts |this: &Self| {
    if this.ocr { OCR } else { Duration::ZERO }
});

/// How long reading the text of a picture may take.
const OCR: Duration = Duration::from_secs(20);

/// Find elements of the page by text, role or name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindInPage {
    /// A part of its name, value or visible text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub text: Option<String>,
    /// Its role: button, link, textbox, checkbox, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub role: Option<String>,
    /// Its name, or a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// Its ref in a list of candidates. Refs of snapshots are for `selector`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub reference: Option<String>,
    /// Nearest to this point of the viewport first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Pixel>,
    /// Only the one with this number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub nth: Option<u32>,
    /// Whether the whole text or name must match, with case.
    #[serde(default)]
    pub exact: bool,
    /// Maximum number of candidates; defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// The tab; defaults to the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
}
action!(browser FindInPage, "browser_find", Found, drives |_: &Self| false);

impl Find {
    /// What is looked for.
    pub fn target(&self) -> Target {
        let Self { text, role, name, reference, window, near, nth, exact, .. } = self.clone();
        Target { text, role, name, reference, window, near, nth, exact }
    }
}

impl FindInPage {
    /// What is looked for.
    pub fn target(&self) -> Target {
        let Self { text, role, name, reference, near, nth, exact, .. } = self.clone();
        Target { text, role, name, reference, window: None, near, nth, exact }
    }
}

fn yes() -> bool {
    true
}

/// Elements that match, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The candidates; empty if nothing matches.
    pub candidates: Vec<Candidate>,
    /// Number of matches, also of those left out.
    pub count: usize,
    /// Names that resemble what was looked for, if nothing matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Sources that could not be used, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An element that matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its ref. Text that was read from the picture has none.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Its role.
    pub role: String,
    /// Its name or text.
    pub name: String,
    /// Its text or value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Its states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// The part of the screen that it covers; of the viewport in `/api/v1/browser/find`.
    pub rect: Rect,
    /// How well it matches, from 0 to 1.
    pub confidence: f64,
    /// Where it was found.
    pub source: Source,
    /// The id of its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Whether it is scrolled out of view. Actions scroll to it.
    #[serde(default)]
    pub off_screen: bool,
}
