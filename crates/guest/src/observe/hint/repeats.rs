//! Notices an action that is repeated without effect. Pure.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use helmdeck_wire::aim::Hit;
use serde_json::Value;

/// How often an action may have no effect before a hint.
const TIMES: u32 = 3;
/// Points this near to each other are the same, in pixels.
const NEAR: f64 = 6.0;
/// How many elements a hint names that are near.
pub const NEARBY: usize = 3;
/// Fields that hold positions.
const POSITIONS: [&str; 6] = ["x", "y", "start_x", "start_y", "end_x", "end_y"];

/// The last action without effect.
#[derive(Debug, Default)]
pub struct Repeats {
    last: Option<Action>,
    times: u32,
}

/// An action. What was typed is compared by a hash, and not kept.
#[derive(Debug, PartialEq)]
pub struct Action {
    name: &'static str,
    positions: BTreeMap<String, f64>,
    rest: u64,
}

/// What is known about an action without effect.
pub struct NoEffect<'a> {
    pub hit: Option<&'a Hit>,
    /// Descriptions of what could be used instead, nearest first.
    pub near: &'a [String],
    /// The title of the window with the focus.
    pub window: Option<&'a str>,
    /// Whether the page changed where it is not in view.
    pub out_of_view: bool,
    /// Whether a new window or dialog could cover what was meant.
    pub windows: usize,
}

impl Repeats {
    /// Forgets the last action: one followed whose effect is not known.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Notes an action; returns how often in a row it had no effect.
    pub fn note(&mut self, action: Action, effective: bool) -> u32 {
        if effective {
            self.forget();
            return 0;
        }
        self.times = match &self.last {
            Some(last) if last.is(&action) => self.times.saturating_add(1),
            _ => 1,
        };
        self.last = Some(action);
        self.times
    }
}

impl Action {
    pub fn new(name: &'static str, value: &Value) -> Self {
        let (mut positions, mut rest) = (BTreeMap::new(), DefaultHasher::new());
        for (field, value) in value.as_object().into_iter().flatten() {
            match value.as_f64().filter(|_| POSITIONS.contains(&field.as_str())) {
                Some(position) => {
                    positions.insert(field.clone(), position);
                }
                None => (field, value.to_string()).hash(&mut rest),
            }
        }
        Self { name, positions, rest: rest.finish() }
    }

    /// Whether it goes to what has the keyboard focus.
    pub fn goes_to_focus(&self) -> bool {
        matches!(self.name, "type" | "key" | "hold_key" | "browser_press")
    }

    fn is(&self, other: &Self) -> bool {
        self.name == other.name
            && self.rest == other.rest
            && self.positions.len() == other.positions.len()
            && self.positions.iter().all(|(field, position)| {
                let other = other.positions.get(field);
                other.is_some_and(|other| (position - other).abs() <= NEAR)
            })
    }
}

/// Whether an action that had no effect this often gets a hint.
pub fn is_time(times: u32) -> bool {
    times >= TIMES
}

/// A hint for an action that had no effect this often.
pub fn hint(times: u32, nothing: &NoEffect<'_>) -> String {
    let mut hint = format!("this action had no visible effect {times} times in a row");
    match nothing.hit {
        Some(hit) => {
            let name = if hit.name.is_empty() { String::new() } else { format!(" {:?}", hit.name) };
            let what = match &hit.window {
                Some(title) if hit.role.is_empty() => format!("the window {title:?}"),
                _ if hit.role.is_empty() => "an element".to_owned(),
                _ => hit.role.clone(),
            };
            hint.push_str(&format!("; it acted on {what}{name}"));
            if hit.states.iter().any(|state| state == "disabled") {
                hint.push_str(", which is disabled");
            }
        }
        None => hint.push_str("; what it acted on is not known"),
    }
    if !nothing.near.is_empty() {
        hint.push_str(&format!("; near it are {}", nothing.near.join(", ")));
    }
    if let Some(window) = nothing.window.filter(|window| !window.is_empty()) {
        hint.push_str(&format!("; the window {window:?} has the focus"));
    }
    if nothing.windows > 1 {
        hint.push_str(&format!("; {} windows are open", nothing.windows));
    }
    if nothing.out_of_view {
        hint.push_str("; the page changed where it is not in view, so scroll to see it");
    } else {
        hint.push_str("; try another target, or look at the screen first");
    }
    hint
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nothing() -> NoEffect<'static> {
        NoEffect { hit: None, near: &[], window: None, out_of_view: false, windows: 1 }
    }

    #[test]
    fn the_same_action_three_times_without_effect_gets_a_hint() {
        let mut repeats = Repeats::default();
        let mut click =
            |x: i32| repeats.note(Action::new("click", &json!({"x": x, "y": 20})), false);
        assert_eq!((click(100), click(103), click(101)), (1, 2, 3));
        assert!(!is_time(2) && is_time(3));
        assert!(hint(3, &nothing()).contains("3 times"));
    }

    #[test]
    fn another_place_other_keys_or_an_effect_begin_again() {
        let mut repeats = Repeats::default();
        let (here, there) = (json!({"x": 1, "y": 1}), json!({"x": 1, "y": 90}));
        repeats.note(Action::new("click", &here), false);
        assert_eq!(repeats.note(Action::new("click", &there), false), 1);
        assert_eq!(repeats.note(Action::new("double_click", &there), false), 1);
        assert_eq!(repeats.note(Action::new("double_click", &there), true), 0);
        assert_eq!(repeats.note(Action::new("double_click", &there), false), 1);
        assert_eq!(repeats.note(Action::new("key", &json!({"keys": "Tab"})), false), 1);
        assert_eq!(repeats.note(Action::new("key", &json!({"keys": "Return"})), false), 1);
        repeats.forget();
        assert_eq!(repeats.note(Action::new("key", &json!({"keys": "Return"})), false), 1);
    }

    #[test]
    fn a_hint_says_what_was_hit_what_is_near_and_where_to_look() {
        let states = vec!["disabled".to_owned()];
        let (role, name) = ("button".to_owned(), "Save".to_owned());
        let hit = Hit { role, name, states, ..Hit::default() };
        let window = Some("Settings");
        let near = ["link \"Help\" (a3) at 9,9".to_owned()];
        let nothing =
            NoEffect { hit: Some(&hit), near: &near, window, out_of_view: true, windows: 2 };
        let hint = hint(4, &nothing);
        let parts =
            ["button \"Save\"", "disabled", "\"Help\"", "\"Settings\"", "2 windows", "scroll"];
        for part in parts {
            assert!(hint.contains(part), "{hint}");
        }
    }
}
