//! Conditions that a caller can check without a model.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{action::action, aim::Target, observe::ShotId, point::Rect};

/// Check whether conditions hold on the desktop, and wait for them if `within_ms` is given. The
/// reply says what was found instead.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// Conditions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub all: Vec<Condition>,
    /// Conditions of which one must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub any: Vec<Condition>,
    /// Milliseconds to wait until they hold.
    #[serde(default)]
    #[schemars(range(max = 60_000))]
    pub within_ms: u32,
}
action!(Verify, "verify", Verified, drives |_: &Self| false, lasts |this: &Self| {
    Duration::from_millis(this.within_ms.into()) + LAST_LOOK
});

/// Check whether conditions hold in the browser, and wait for them if `within_ms` is given. The
/// reply says what was found instead.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyPage {
    /// Conditions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub all: Vec<Condition>,
    /// Conditions of which one must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub any: Vec<Condition>,
    /// Milliseconds to wait until they hold.
    #[serde(default)]
    #[schemars(range(max = 60_000))]
    pub within_ms: u32,
}
action!(browser VerifyPage, "browser_verify", Verified, drives |_: &Self| false, lasts |this: &Self| {
    Duration::from_millis(this.within_ms.into()) + LAST_LOOK
});

/// How long the last look may take, which may read the text of a picture.
const LAST_LOOK: Duration = Duration::from_secs(20);

/// A condition. `check` says which other fields it uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// What to check.
    pub check: Check,
    /// The text of `text_visible`, the exact text of `clipboard_equals`, or the value of
    /// `element_value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    pub text: Option<String>,
    /// The element of `element_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Part of the title of `window_…`, the program of `process_running`, or part of the file name
    /// of `download_finished`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// The address of `url_matches`. `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub url: Option<String>,
    /// The file of `file_exists`, relative to the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4000))]
    pub path: Option<String>,
    /// The earlier picture of `screen_…` and `region_similar`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shot: Option<ShotId>,
    /// The region of `region_similar`, in pixels of the screen or of a page without a screen. It is
    /// compared in squares of 32 pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Rect>,
    /// How many of the squares may differ, from 0 to 1; defaults to 0.02.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub tolerance: Option<f64>,
}

/// What a condition checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// `text` is visible.
    TextVisible,
    /// `target` exists, possibly out of view.
    ElementExists,
    /// `target` has the keyboard focus.
    ElementFocused,
    /// `target` can be used.
    ElementEnabled,
    /// `target` is checked or selected.
    ElementChecked,
    /// `target` has the value `text`.
    ElementValue,
    /// A window whose title contains `name` is open.
    WindowOpen,
    /// It has the keyboard focus.
    WindowFocused,
    /// No such window is open.
    WindowClosed,
    /// A tab shows an address that matches `url`.
    UrlMatches,
    /// The screen differs from `shot`.
    ScreenChanged,
    /// The screen looks like `shot`.
    ScreenUnchanged,
    /// `region` looks as in `shot`.
    RegionSimilar,
    /// The clipboard holds exactly `text`.
    ClipboardEquals,
    /// The file at `path` exists.
    FileExists,
    /// A program with the name `name` runs.
    ProcessRunning,
    /// A download is complete, of a file whose name contains `name` if given.
    DownloadFinished,
}

/// Whether conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Whether they hold.
    pub holds: bool,
    /// What was found for each condition, first those of `all`.
    pub evidence: Vec<Evidence>,
    /// Conditions that do not hold, such as `all[0]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Milliseconds that it took.
    pub duration_ms: u32,
}

/// What was found for a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The condition, such as `all[0]`.
    pub condition: String,
    /// What it checks.
    pub check: Check,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
}

impl Check {
    /// The fields that it needs.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            Self::TextVisible | Self::ClipboardEquals => &["text"],
            Self::ElementExists
            | Self::ElementFocused
            | Self::ElementEnabled
            | Self::ElementChecked => &["target"],
            Self::ElementValue => &["target", "text"],
            Self::WindowOpen | Self::WindowFocused | Self::WindowClosed | Self::ProcessRunning => {
                &["name"]
            }
            Self::UrlMatches => &["url"],
            Self::ScreenChanged | Self::ScreenUnchanged => &["shot"],
            Self::RegionSimilar => &["shot", "region"],
            Self::FileExists => &["path"],
            Self::DownloadFinished => &[],
        }
    }
}

impl Condition {
    /// A condition without fields.
    pub fn new(check: Check) -> Self {
        Self {
            check,
            text: None,
            target: None,
            name: None,
            url: None,
            path: None,
            shot: None,
            region: None,
            tolerance: None,
        }
    }

    /// The first field that is missing.
    pub fn missing(&self) -> Option<&'static str> {
        let given = |field: &str| match field {
            "text" => self.text.is_some(),
            "target" => self.target.is_some(),
            "name" => self.name.is_some(),
            "url" => self.url.is_some(),
            "shot" => self.shot.is_some(),
            "region" => self.region.is_some(),
            "path" => self.path.is_some(),
            _ => true,
        };
        self.check.needs().iter().copied().find(|field| !given(field))
    }
}

/// The name of a condition: its list and its place there.
pub fn place(list: &str, at: usize) -> String {
    format!("{list}[{at}]")
}

/// Whether conditions hold, from those of `all` and `any`. Without any, nothing is claimed.
pub fn holds(all: &[bool], any: &[bool]) -> bool {
    let nothing = all.is_empty() && any.is_empty();
    !nothing && all.iter().all(|one| *one) && (any.is_empty() || any.contains(&true))
}

/// Whether an address matches a pattern, in which `*` stands for any text.
pub fn url_matches(pattern: &str, url: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| url.strip_prefix(first)) else {
        return false;
    };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let parts: Vec<_> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        if at + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(found) => rest = rest.get(found + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_of_the_first_and_one_of_the_second_must_hold() {
        assert!(holds(&[true, true], &[]) && holds(&[], &[false, true]));
        assert!(!holds(&[true, false], &[]) && !holds(&[true], &[false]));
        assert!(!holds(&[], &[]), "without conditions, nothing is claimed");
    }

    #[test]
    fn a_star_stands_for_any_text() {
        let url = "https://example.com/orders/7?done=1";
        for pattern in [url, "https://example.com/*", "*/orders/*", "*done=1", "https://*.com/*7*"]
        {
            assert!(url_matches(pattern, url), "{pattern}");
        }
        for pattern in ["https://example.com", "*/carts/*", "http://*", "*done=2", ""] {
            assert!(!url_matches(pattern, url), "{pattern}");
        }
    }

    #[test]
    fn a_condition_names_the_field_that_it_lacks() {
        let condition = |value| serde_json::from_value::<Condition>(value).unwrap();
        assert_eq!(condition(json!({"check": "text_visible"})).missing(), Some("text"));
        let value = json!({"check": "element_value", "target": {"text": "Name"}});
        assert_eq!(condition(value).missing(), Some("text"));
        assert_eq!(condition(json!({"check": "download_finished"})).missing(), None);
    }
}
