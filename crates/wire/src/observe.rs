//! What an action reports about its own effect, and how a caller asks for it.
//!
//! [`ActionOptions`] are fields that a caller may add to any action that changes something.
//! [`Observation`] is what the reply then has in addition.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    aim::{Expect, Hit, Target},
    parse::{Invalid, parse},
    point::{Pixel, Rect},
    vendor_size::SizeRule,
};

/// Options of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionOptions {
    /// Answer when the screen is quiet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// What the reply says about the effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe: Option<Observe>,
    /// The models that see the picture of `observe`: it is scaled down to what they see as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe_for: Option<SizeRule>,
    /// Say what is there before the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<bool>,
    /// Act only if this is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// Where to act, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// Where a drag ends, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_target: Option<Target>,
    /// Positions are pixels of this picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shot: Option<ShotId>,
}

/// When the screen counts as quiet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settle {
    /// Milliseconds without a change. Blinking carets, spinners, clocks and videos do not count. After the
    /// program has handled its input, its picture is awaited for 100 ms at least.
    #[schemars(range(min = 20, max = 5000))]
    pub quiet_ms: u32,
    /// Milliseconds after which to answer anyway.
    #[schemars(range(min = 50, max = 60_000))]
    pub timeout_ms: u32,
}

impl Default for Settle {
    fn default() -> Self {
        Self { quiet_ms: 150, timeout_ms: 5000 }
    }
}

impl Settle {
    /// Time without a change.
    pub fn quiet(self) -> Duration {
        Duration::from_millis(self.quiet_ms.into())
    }

    /// Time after which to answer anyway.
    pub fn timeout(self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }
}

/// What a reply says about the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Observe {
    /// Nothing.
    #[default]
    None,
    /// What changed, without a picture.
    Diff,
    /// What changed, and the whole screen.
    Screenshot,
    /// What changed, and the smallest picture that shows it.
    Auto,
}

/// Id of a picture, such as `shot-12`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ShotId(#[schemars(regex(pattern = "^shot-[0-9]{1,10}$"))] pub String);

/// What an action did, as far as the screen shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Whether the screen became quiet in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<bool>,
    /// Milliseconds from the action to the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_ms: Option<u32>,
    /// Regions that keep changing by themselves, which do not count as changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periodic: Vec<PeriodicRegion>,
    /// Whether the screen changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// Where it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Rect>,
    /// The main effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// All effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Whether the focused field of a page has the text as it was typed, and nothing else changed: `auto` then sends no
    /// picture. Absent if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_entered: Option<bool>,
    /// The picture of the screen after the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shot: Option<ShotId>,
    /// The earlier picture that still shows the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_since: Option<ShotId>,
    /// The picture, if one was asked for and something changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<ObservedPicture>,
    /// What was under the point, or had the keyboard focus, before the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<Hit>,
    /// Where the action happened, in pixels of the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acted_at: Option<Pixel>,
    /// Small pictures of the place, in the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TracePictures>,
    /// Why the effect is not known. The action itself was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_observed: Option<String>,
    /// What to try instead, if the same action has had no effect several times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Ids of small pictures of the place of an action, in the trace of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracePictures {
    /// Before the action.
    pub before: String,
    /// After it.
    pub after: String,
}

impl TracePictures {
    /// Those of the entry with this id.
    pub fn of_entry(id: u64) -> Self {
        Self { before: format!("crop-{id}-before"), after: format!("crop-{id}-after") }
    }

    /// Whether a picture is one of them.
    pub fn has(&self, picture: &str) -> bool {
        self.before == picture || self.after == picture
    }
}

/// An effect of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The screen changed where the action happened or could have an effect.
    Confirmed,
    /// The screen looks the same.
    NoVisibleChange,
    /// A page has another address.
    Navigated,
    /// A window opened.
    WindowOpened,
    /// A window closed.
    WindowClosed,
    /// Another element or window has the keyboard focus.
    FocusMoved,
    /// A dialog opened.
    Dialog,
    /// A download started or completed.
    Download,
    /// Content scrolled.
    Scrolled,
    /// The value of a field changed.
    ValueChanged,
    /// A tab opened.
    TabOpened,
    /// A tab closed.
    TabClosed,
    /// A window has another title.
    TitleChanged,
}

/// A region that keeps changing by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PeriodicRegion {
    /// The region.
    #[serde(flatten)]
    pub rect: Rect,
    /// Milliseconds between changes.
    pub period_ms: u32,
    /// What it looks like.
    pub kind: PeriodicKind,
}

/// What a periodic region looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodicKind {
    /// A text cursor that blinks.
    Caret,
    /// A small animation.
    Spinner,
    /// Text that changes once a second or minute.
    Clock,
    /// A moving picture.
    Video,
    /// Another animation.
    Animation,
}

/// A picture inside a JSON reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedPicture {
    /// Its id.
    pub id: ShotId,
    /// Its media type.
    pub media_type: String,
    /// The picture in base64.
    pub data: String,
    /// The part of the screen that it shows.
    #[serde(flatten)]
    pub rect: Rect,
    /// Picture pixels per screen pixel.
    pub scale: f64,
}

impl ActionOptions {
    /// The names of all options.
    pub const NAMES: [&str; 8] =
        ["settle", "observe", "observe_for", "hit", "expect", "target", "end_target", "shot"];

    /// Takes the options out of an action's fields.
    pub fn split(fields: &mut Map<String, Value>) -> Result<Self, Invalid> {
        let mut options = Map::new();
        for name in Self::NAMES {
            // `hit` and the like in other places are not ours, but these are checked by the schema.
            if let Some(value) = fields.remove(name) {
                options.insert(name.to_owned(), value);
            }
        }
        if options.is_empty() {
            return Ok(Self::default());
        }
        parse(Value::Object(options))
    }

    /// Whether there are no options.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The targets, with the names of their fields.
    pub fn targets(&self) -> impl Iterator<Item = (&'static str, &Target)> {
        let both = [("target", &self.target), ("end_target", &self.end_target)];
        both.into_iter().filter_map(|(name, target)| Some((name, target.as_ref()?)))
    }

    /// Whether the reply describes the effect.
    pub fn observes(&self) -> bool {
        !matches!(self.observe, None | Some(Observe::None))
    }

    /// Time that the options take, in addition to the action itself.
    pub fn asked_duration(&self) -> Duration {
        let settle = self.settle.map_or(Duration::ZERO, Settle::timeout);
        let looks = self.observes() || self.targets().next().is_some() || self.expect.is_some();
        settle + if looks { Duration::from_secs(5) } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_taken_out_and_the_rest_stays() {
        let mut fields = json!({"x": 1, "settle": {}, "observe": "auto"});
        let options = ActionOptions::split(fields.as_object_mut().unwrap()).unwrap();
        assert_eq!(options.settle, Some(Settle { quiet_ms: 150, timeout_ms: 5000 }));
        assert!(options.observes() && !options.is_empty());
        assert_eq!(fields, json!({"x": 1}));
        assert!(ActionOptions::split(fields.as_object_mut().unwrap()).unwrap().is_empty());
    }

    #[test]
    fn every_field_is_in_the_list_of_names() {
        let schema = schemars::schema_for!(ActionOptions);
        let fields = schema.get("properties").and_then(Value::as_object).unwrap();
        let mut known: Vec<_> = fields.keys().map(String::as_str).collect();
        let mut names = ActionOptions::NAMES.to_vec();
        known.sort_unstable();
        names.sort_unstable();
        assert_eq!(known, names);
    }
}
