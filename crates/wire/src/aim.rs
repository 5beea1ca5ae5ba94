//! Where an action acts: by name instead of by position, and what is there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    observe::ActionOptions,
    parse::{Invalid, MISSING},
    point::{Pixel, Rect},
};

/// An element, by what a person sees of it. All given fields must match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Visible text or accessible name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub text: Option<String>,
    /// Accessible role, such as `button`, `menu_item` or `entry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 60))]
    pub role: Option<String>,
    /// Accessible name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// Reference that `tree` or `find` returned. Browser actions also take refs of snapshots.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub reference: Option<String>,
    /// Part of the title of its window; of the page, for actions of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub window: Option<String>,
    /// Prefer what is close to this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<Pixel>,
    /// Which of several matches, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub nth: Option<u32>,
    /// Whether text and name must match exactly.
    #[serde(default)]
    pub exact: bool,
}

/// What a caller believes to be under a point. All given fields must match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Accessible role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 60))]
    pub role: Option<String>,
    /// Accessible name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub name: Option<String>,
    /// Part of its name, value or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub text: Option<String>,
    /// Part of the title of its window; of the page, for actions of the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub window: Option<String>,
    /// Part of the address of its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2000))]
    pub url: Option<String>,
    /// Selector that it matches, on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub selector: Option<String>,
    /// Whether it can be used. States that are not known match nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether it has the keyboard focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
    /// Whether it is checked or selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<bool>,
}

/// What is under a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HitTarget")]
pub struct Hit {
    /// Title of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Accessible role.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// Accessible name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Value of a field; never of a password field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// States such as `focused`, `disabled` or `checked`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Where it is: on the screen, or in the viewport if a browser action tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rect: Option<Rect>,
    /// HTML tag, on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Selector, on a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Address of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where this information comes from.
    pub source: Source,
}

/// Where information about an element comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The list of windows.
    #[default]
    Window,
    /// The accessibility tree of a program.
    Accessibility,
    /// The page.
    Dom,
    /// Recognized text.
    Ocr,
}

/// Which fields of an action say where it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// None.
    Nowhere,
    /// `x` and `y`.
    Point,
    /// `start_x` and `start_y`.
    Start,
    /// `selector`.
    Element,
    /// None: it goes to what has the keyboard focus.
    Focus,
}

impl Aim {
    /// The fields that a target replaces.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Nowhere | Self::Focus => &[],
            Self::Point => &["x", "y"],
            Self::Start => &["start_x", "start_y"],
            Self::Element => &["selector"],
        }
    }

    /// The fields that the `end_target` of a drag replaces.
    pub fn end_fields(self) -> &'static [&'static str] {
        match self {
            Self::Start => &["end_x", "end_y"],
            _ => &[],
        }
    }

    /// The fields that the targets of a call replace.
    pub fn replaced(self, options: &ActionOptions) -> Vec<&'static str> {
        let start = options.target.iter().flat_map(|_| self.fields());
        start.chain(options.end_target.iter().flat_map(|_| self.end_fields())).copied().collect()
    }

    /// Checks that an action says once where it acts. With a target, fills in values that parse:
    /// the guest replaces them.
    pub fn prepare(
        self,
        options: &ActionOptions,
        fields: &mut Map<String, Value>,
    ) -> Result<(), Invalid> {
        if options.end_target.is_some() && self != Self::Start {
            let reason = "only a drag has an end".to_owned();
            return Err(Invalid { field: "end_target".to_owned(), reason });
        }
        let targets = [
            ("target", &options.target, self.fields()),
            ("end_target", &options.end_target, self.end_fields()),
        ];
        for (name, _, replaced) in targets.iter().filter(|(_, target, _)| target.is_some()) {
            let path: &[_] = if self == Self::Start { &["path"] } else { &[] };
            let mut given = replaced.iter().chain(path);
            if let Some(given) = given.find(|field| fields.contains_key(**field)) {
                let reason = format!("{name} and {given} are both given: choose one");
                return Err(Invalid { field: (*name).to_owned(), reason });
            }
            for field in *replaced {
                let value = if self == Self::Element { json!("css=*") } else { json!(0) };
                fields.insert((*field).to_owned(), value);
            }
        }
        Ok(())
    }

    /// Mentions the target if the position is missing.
    pub fn explain(self, mut invalid: Invalid) -> Invalid {
        if invalid.reason == MISSING && self.fields().contains(&invalid.field.as_str()) {
            invalid.reason = format!("missing: give {}, or a target", self.fields().join(" and "));
        }
        invalid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_position_exclude_each_other() {
        let target = Some(Target { text: Some("OK".to_owned()), ..Target::default() });
        let options = ActionOptions { target, ..ActionOptions::default() };
        let mut fields = Map::new();
        Aim::Point.prepare(&options, &mut fields).unwrap();
        assert_eq!(Value::Object(fields.clone()), json!({"x": 0, "y": 0}));
        let refused = Aim::Point.prepare(&options, &mut fields).unwrap_err();
        assert_eq!(refused.to_string(), "target: target and x are both given: choose one");
        assert!(Aim::Point.prepare(&ActionOptions::default(), &mut fields).is_ok());
    }

    #[test]
    fn a_drag_has_a_target_for_each_end_and_no_path_beside_them() {
        let target = |text: &str| Some(Target { text: Some(text.to_owned()), ..Target::default() });
        let options = ActionOptions { end_target: target("Trash"), ..ActionOptions::default() };
        let fields = |value: Value| value.as_object().unwrap().clone();
        let mut to = fields(json!({"start_x": 4, "start_y": 5}));
        Aim::Start.prepare(&options, &mut to).unwrap();
        assert_eq!(Value::Object(to), json!({"start_x": 4, "start_y": 5, "end_x": 0, "end_y": 0}));
        let both = ActionOptions { target: target("File"), ..options.clone() };
        assert_eq!(Aim::Start.replaced(&both), ["start_x", "start_y", "end_x", "end_y"]);
        let refused = |aim: Aim, value: Value| {
            aim.prepare(&options, &mut fields(value)).unwrap_err().to_string()
        };
        let path = refused(Aim::Start, json!({"path": []}));
        assert_eq!(path, "end_target: end_target and path are both given: choose one");
        assert_eq!(refused(Aim::Point, json!({})), "end_target: only a drag has an end");
    }
}
