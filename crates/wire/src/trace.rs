//! What happened in a session, in one order: actions, windows, focus, pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    aim::Hit,
    browser::TabId,
    observe::Effect,
    point::{Pixel, Rect},
};

/// Which part of a trace to read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTrace {
    /// Only entries that are new or changed since an earlier reply: its `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Only actions, changes and windows within 100 pixels of this point, as `x,y`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{1,5},[0-9]{1,5}$"), extend("x-expected" = "x,y"))]
    pub near: Option<String>,
    /// Maximum number of entries: the first ones after `since`, or the last ones. Defaults to 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

impl ReadTrace {
    /// The point of `near`.
    pub fn point(&self) -> Option<Pixel> {
        let (x, y) = self.near.as_deref()?.split_once(',')?;
        Some(Pixel { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
    }
}

/// A part of a session's trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceLog {
    /// Oldest first.
    pub entries: Vec<TraceEntry>,
    /// Pass it as `since` to continue from here.
    pub next: u64,
    /// The time of this reply, in milliseconds on the clock of the entries.
    pub now_ms: u64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEntry {
    /// Increases with every entry.
    pub id: u64,
    /// When it happened, in milliseconds since the session started.
    pub at_ms: u64,
    /// What happened.
    pub kind: TraceKind,
    /// The action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its fields, without what was typed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// `ok`, or the code of its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Where it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acted_at: Option<Pixel>,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Hit>,
    /// Its main effect, if it was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Where the screen changed, or where the window is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Rect>,
    /// Milliseconds from the action to the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ms: Option<u32>,
    /// Id of a small picture of the place before the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Id of a small picture of the place after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Id of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The title of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// The address of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl TraceEntry {
    /// An entry without details.
    pub fn new(kind: TraceKind) -> Self {
        Self {
            id: 0,
            at_ms: 0,
            kind,
            action: None,
            detail: Value::Null,
            duration_ms: None,
            outcome: None,
            acted_at: None,
            hit: None,
            effect: None,
            regions: Vec::new(),
            settle_ms: None,
            before: None,
            after: None,
            window: None,
            title: None,
            tab: None,
            url: None,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// An agent or a person performed an action.
    Action,
    /// A window opened.
    WindowOpened,
    /// A window closed.
    WindowClosed,
    /// A window has another title.
    TitleChanged,
    /// Another window has the focus.
    FocusMoved,
    /// A page shows another document, or has another address.
    Navigated,
    /// A tab opened.
    TabOpened,
    /// A tab closed.
    TabClosed,
    /// A page opened a dialog.
    Dialog,
    /// A download began.
    Download,
}

/// A small picture of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TracePicture {
    /// Its id: the `before` or `after` of an entry.
    #[schemars(regex(pattern = "^crop-[0-9]{1,19}-(before|after)$"))]
    pub picture: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_numbers() {
        let near = |text: &str| ReadTrace { near: Some(text.into()), ..Default::default() }.point();
        assert_eq!(near("10,20"), Some(Pixel { x: 10, y: 20 }));
        assert_eq!(near("10"), None);
    }
}
