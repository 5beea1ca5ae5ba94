//! What the loop needs: a screen and a model. Tests have scripted ones.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use helmdeck_wire::{
    guest::RefusedSites,
    observe::Observation,
    point::{Pixel, Rect},
    site::Site,
    tree::Candidate,
    vendor_size::SizeRule,
    verify::{Condition, Verified},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{action::Action, dialect::Dialect};

/// An answer of the screen.
pub type Seen<'a, T> = BoxFuture<'a, Result<T, Failure>>;

/// A screen that can be looked at and used.
pub trait Eyes: Send + Sync {
    /// Takes a picture of the whole screen, for a vendor.
    fn look(&self, rule: SizeRule) -> Seen<'_, Shot>;
    /// Takes a picture of a part of the screen.
    fn zoom(&self, region: Rect) -> Seen<'_, Shot>;
    /// Takes a picture of a part of the screen that fits into this size.
    fn crop(&self, region: Rect, size: (u32, u32)) -> Seen<'_, Shot>;
    /// Acts and says what happened, with a picture of what changed if `picture` is set.
    fn act<'a>(&'a self, action: &'a Action, picture: bool) -> Seen<'a, Acted>;
    /// Elements with this name, without reading pictures.
    fn find<'a>(&'a self, name: &'a str) -> Seen<'a, Vec<Candidate>>;
    /// Elements that can be used, nearest to this point first, without reading pictures.
    fn usable(&self, near: Pixel) -> Seen<'_, Vec<Candidate>>;
    /// Whether conditions hold, or hold within some time.
    fn verify<'a>(&'a self, success: &'a Success, within_ms: u32) -> Seen<'a, Verified>;
    /// Windows and pages.
    fn scene(&self) -> Seen<'_, Scene>;
    /// Limits the sites that the browser opens, and says what was refused and what began meanwhile. `None` ends the
    /// limit.
    fn limit_sites(&self, sites: Option<Vec<Site>>) -> Seen<'_, RefusedSites>;
    /// Tells people what happens next.
    fn tell<'a>(&'a self, status: &'a str) -> BoxFuture<'a, ()>;
    /// Waits while the run is paused.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
    /// Asks the person who watches. Nothing if nobody decides.
    fn confirm<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<bool>>;
}

/// Why the screen did not do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The action is not possible: the model may try another.
    Bad(String),
    /// A person has control.
    ControlTaken(String),
    /// The caller may not do this.
    Denied(String),
    /// The session is over.
    Gone(String),
}

/// A picture of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// Its id.
    pub id: String,
    /// Its media type.
    pub media_type: String,
    /// The picture in base64.
    pub data: Arc<str>,
    /// Width and height of the picture.
    pub size: (u32, u32),
    /// What it shows.
    pub rect: Rect,
}

/// What an action did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Acted {
    /// What the screen shows of it.
    pub observation: Observation,
    /// What was read, for actions that read.
    pub text: Option<String>,
}

/// Windows and pages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Windows, topmost first.
    pub windows: Vec<SceneWindow>,
    /// The name of the element with the keyboard focus.
    pub focus: Option<String>,
}

/// A window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SceneWindow {
    /// Its id.
    pub id: String,
    /// Whether it belongs to the session's browser.
    pub browser: bool,
    /// Whether it is a menu, tooltip or other window without a frame.
    pub popup: bool,
    /// Its title.
    pub title: String,
    /// The class of its program.
    pub class: String,
    /// The address of its page.
    pub url: Option<String>,
    /// Where it is.
    pub rect: Rect,
    /// Whether it has the keyboard focus.
    pub focused: bool,
}

/// When a goal is reached, by conditions as in `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Success {
    /// Conditions that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub all: Vec<Condition>,
    /// Conditions of which one must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub any: Vec<Condition>,
}

impl Success {
    /// Whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.any.is_empty()
    }
}

/// A model.
pub trait Model: Send + Sync {
    /// Its id: `provider/model`.
    fn id(&self) -> &str;
    /// How it speaks.
    fn dialect(&self) -> Dialect;
    /// Sends a request, and waits for the whole reply.
    fn ask(&self, body: Value) -> BoxFuture<'_, Result<Reply, ModelFailure>>;
}

/// A reply of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// As the provider sent it.
    pub body: Value,
    /// What it used.
    pub spent: Spent,
}

/// What calls of models used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Tokens that were read, with cached ones.
    pub input_tokens: u64,
    /// Tokens that were read from a cache.
    pub cached_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Dollars, if the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Spent {
    /// Adds what another call used.
    pub fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, cost) | (cost, None) => cost,
            (Some(one), Some(two)) => Some(one + two),
        };
    }
}

/// Why a model did not reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFailure {
    /// A budget does not allow the call.
    Budget(String),
    /// The reply is not what the provider's API promises: asking again may help.
    Malformed(String),
    /// The provider failed.
    Provider(String),
    /// The caller may not use the model.
    Denied(String),
}

impl Scene {
    /// The window with the keyboard focus, else the topmost one.
    pub fn front(&self) -> Option<&SceneWindow> {
        self.windows.iter().find(|window| window.focused).or(self.windows.first())
    }
}

/// The middle of a rectangle.
pub fn middle(rect: Rect) -> Pixel {
    let half = |start: i32, side: u32| start.saturating_add(i32::try_from(side / 2).unwrap_or(0));
    Pixel { x: half(rect.x, rect.width), y: half(rect.y, rect.height) }
}

/// Pixels from a point to a rectangle; 0 if it is inside.
pub fn distance(at: Pixel, rect: Rect) -> i32 {
    let far = |value: i32, start: i32, side: u32| {
        let end = start.saturating_add(i32::try_from(side).unwrap_or(i32::MAX)).saturating_sub(1);
        if value < start { start - value } else { (value - end).max(0) }
    };
    far(at.x, rect.x, rect.width).max(far(at.y, rect.y, rect.height))
}
