//! Aggregates manual input for the journal.

use std::{future::pending, time::Duration};

use helmdeck_rfb::Input;
use helmdeck_sessions::View;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

/// How long keys and wheel events are aggregated into one record.
const GATHER: Duration = Duration::from_secs(1);
/// Number of clicks per [`GATHER`] that are recorded one by one. People are not faster.
const SINGLE_NOTES: u32 = 20;

/// Records manual input: clicks one by one, everything else at most once per second. Never which
/// keys.
#[derive(Default)]
pub struct InputJournal {
    keys: u32,
    notches: u32,
    /// Clicks and similar events that were recorded one by one, and those that were only counted.
    single: u32,
    more: u32,
    since: Option<Instant>,
}

impl InputJournal {
    /// The wheel is buttons four to seven.
    const WHEEL: u8 = 0b0111_1000;

    pub fn add(&mut self, inputs: &[Input], view: &View) {
        for input in inputs {
            match *input {
                Input::Key { down: true } => self.keys += 1,
                Input::Pointer { pressed, .. } if pressed & Self::WHEEL != 0 => self.notches += 1,
                Input::Pointer { x, y, pressed, .. } if pressed != 0 => {
                    let button = match pressed {
                        1 => "left",
                        2 => "middle",
                        4 => "right",
                        _ => "other",
                    };
                    self.note_one(view, "click", || json!({ "x": x, "y": y, "button": button }));
                }
                Input::Resize { width, height } => self.note_one(
                    view,
                    "resize",
                    || json!({ "geometry": format!("{width}x{height}") }),
                ),
                Input::CutText => self.note_one(view, "clipboard", || json!({})),
                Input::Key { down: false } | Input::Pointer { .. } => {}
            }
        }
        if self.keys + self.notches > 0 {
            self.since.get_or_insert_with(Instant::now);
        }
        if !inputs.is_empty() {
            view.session().touch();
        }
    }

    /// Records a single event after earlier ones. Too many are only counted.
    pub fn note_one(&mut self, view: &View, action: &str, detail: impl Fn() -> Value) {
        if self.single >= SINGLE_NOTES {
            self.more += 1;
            return;
        }
        self.note_keys(view);
        self.single += 1;
        self.since.get_or_insert_with(Instant::now);
        view.acted(action, detail());
    }

    pub async fn due(&self) {
        match self.since {
            Some(since) => sleep_until(since + GATHER).await,
            None => pending().await,
        }
    }

    fn note_keys(&mut self, view: &View) {
        let (keys, notches) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.notches));
        if keys > 0 {
            view.acted("type", json!({ "characters": keys }));
        }
        if notches > 0 {
            view.acted("scroll", json!({ "amount": notches }));
        }
    }

    pub fn note(&mut self, view: &View) {
        self.note_keys(view);
        if self.more > 0 {
            view.acted("click", json!({ "clicks": self.more }));
        }
        *self = Self::default();
    }
}
