//! Fifty interactions: what is done, what the page does then, and what else moves in view.

use serde_json::{Value, json};

use super::shown::{Shown, with};

/// Centre of the button, in the page.
const BUTTON: (i64, i64) = (160, 60);
/// In the middle of the page.
const MIDDLE: (i64, i64) = (700, 400);

/// What the agent does.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Clicks the button.
    Click,
    /// Clicks the button with the right mouse button.
    Context,
    /// Types into the field.
    Type(&'static str),
    /// Scrolls down.
    Scroll,
    /// Types into a terminal.
    Terminal(&'static str),
}

use Act::{Click, Context, Scroll, Terminal, Type};

/// An interaction.
#[derive(Debug, Clone, Copy)]
pub struct Interaction {
    /// What the page does, as `pages.rs` names it.
    pub kind: &'static str,
    /// How long that takes.
    pub ms: u32,
    /// What else moves in view; may be empty.
    pub with: &'static str,
    pub act: Act,
}

const fn of(kind: &'static str, ms: u32, with: &'static str, act: Act) -> Interaction {
    Interaction { kind, ms, with, act }
}

pub const INTERACTIONS: [Interaction; 50] = [
    of("now", 0, "", Click),
    of("now", 0, "spinner", Click),
    of("now", 0, "caret", Click),
    of("now", 0, "video", Click),
    of("now", 0, "clock", Click),
    of("now", 0, "canvas", Click),
    of("check", 0, "", Click),
    of("fetch", 30, "", Click),
    of("fetch", 100, "", Click),
    of("fetch", 150, "caret", Click),
    of("fetch", 200, "", Click),
    of("fetch", 250, "video", Click),
    of("more", 300, "", Click),
    of("fetch", 400, "spinner", Click),
    of("more", 500, "", Click),
    of("fetch", 600, "", Click),
    of("list", 800, "video", Click),
    of("transition", 100, "", Click),
    of("transition", 200, "spinner", Click),
    of("transition", 300, "", Click),
    of("transition", 400, "caret", Click),
    of("fade", 150, "", Click),
    of("unfold", 250, "", Click),
    of("toast", 300, "", Click),
    of("navigate", 0, "", Click),
    of("navigate", 150, "", Click),
    of("navigate", 400, "spinner", Click),
    of("link", 0, "", Click),
    of("tab", 0, "", Click),
    of("menu", 0, "", Click),
    of("fading", 150, "clock", Click),
    of("select", 0, "", Click),
    of("context", 0, "", Context),
    of("dialog", 0, "", Click),
    of("modal", 200, "", Click),
    of("type", 0, "", Type("hello world")),
    of("type", 0, "spinner", Type("hello world")),
    of("suggest", 120, "", Type("hello world")),
    of("suggest", 300, "video", Type("hello world")),
    of("list", 120, "", Click),
    of("list", 200, "spinner", Click),
    of("timers", 100, "", Click),
    of("image", 200, "", Click),
    of("image", 2200, "clock", Click),
    of("busy", 400, "", Click),
    of("scroll", 0, "", Scroll),
    of("terminal: a word", 0, "", Terminal("hello")),
    of("terminal: echo", 0, "", Terminal("echo hello\n")),
    of("terminal: ls", 0, "", Terminal("ls -l /usr /etc\n")),
    of("terminal: slow command", 300, "", Terminal("sleep 0.3; echo done\n")),
];

impl Interaction {
    /// For tables.
    pub fn name(&self) -> String {
        let Self { kind, ms, with, .. } = self;
        let time = if *ms > 0 { format!(" {ms} ms") } else { String::new() };
        let with = if with.is_empty() { String::new() } else { format!(" + {with}") };
        format!("{kind}{time}{with}")
    }

    /// The path of its page.
    pub fn path(&self) -> String {
        format!("/act?do={}&ms={}&with={}", self.kind, self.ms, self.with)
    }

    /// Whether the field has the keyboard focus before.
    pub fn has_caret(&self) -> bool {
        self.with == "caret" || matches!(self.act, Type(_))
    }

    /// Whether it needs a terminal instead of a page.
    pub fn is_terminal(&self) -> bool {
        matches!(self.act, Terminal(_))
    }

    /// Does it, with further fields in the request.
    pub async fn perform(&self, page: &Shown<'_>, more: &Value) -> Value {
        let (action, body) = match self.act {
            Click => ("click", page.point(BUTTON)),
            Context => ("click", with(page.point(BUTTON), &json!({ "button": "right" }))),
            Type(text) | Terminal(text) => ("type", json!({ "text": text })),
            Scroll => {
                let down = json!({ "direction": "down", "amount": 5 });
                ("scroll", with(page.point(MIDDLE), &down))
            }
        };
        page.desk.act(action, with(body, more)).await
    }
}
