//! A case: an action on something whose own log says what happened, and the effects that a reply
//! may then report.

use serde_json::{Value, json};

/// The program that is acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum App {
    /// The session's browser.
    Chromium,
    /// `xtask/effects/program.py`.
    Gtk,
    /// `xtask/effects/terminal.sh` in an xterm.
    Xterm,
    /// Writer and Calc.
    LibreOffice,
}

impl App {
    /// All programs, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Chromium, Self::Gtk, Self::Xterm, Self::LibreOffice];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::Gtk => "GTK",
            Self::Xterm => "xterm",
            Self::LibreOffice => "LibreOffice",
        }
    }
}

/// What a log says, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Something asks.
    Dialog,
    /// A download began.
    Download,
    /// Another document or address.
    Navigated,
    /// A tab opened.
    TabOpened,
    /// A window opened.
    WindowOpened,
    /// A tab closed.
    TabClosed,
    /// A window closed.
    WindowClosed,
    /// Something scrolled.
    Scrolled,
    /// A field of a page has another value.
    Value,
    /// Something in view looks different.
    Shown,
    /// An element or a place in a text got the keyboard.
    Focus,
    /// Another title.
    Title,
    /// Something happened that nobody can see.
    Hidden,
}

impl Fact {
    /// A line of a log. Lines that say nothing about effects are `None`.
    pub fn read(line: &str) -> Option<Self> {
        Some(match line {
            "dialog" => Self::Dialog,
            "download" => Self::Download,
            "navigated" => Self::Navigated,
            "tab_opened" => Self::TabOpened,
            "window_opened" => Self::WindowOpened,
            "tab_closed" => Self::TabClosed,
            "window_closed" => Self::WindowClosed,
            "scrolled" => Self::Scrolled,
            "value" => Self::Value,
            "shown" | "resized" => Self::Shown,
            "focus" | "caret" => Self::Focus,
            "title" => Self::Title,
            "hidden" => Self::Hidden,
            _ => return None,
        })
    }

    /// The effect that tells it.
    pub fn effect(self) -> &'static str {
        match self {
            Self::Dialog => "dialog",
            Self::Download => "download",
            Self::Navigated => "navigated",
            Self::TabOpened => "tab_opened",
            Self::WindowOpened => "window_opened",
            Self::TabClosed => "tab_closed",
            Self::WindowClosed => "window_closed",
            Self::Scrolled => "scrolled",
            Self::Value => "value_changed",
            Self::Shown => "confirmed",
            Self::Focus => "focus_moved",
            Self::Title => "title_changed",
            Self::Hidden => "no_visible_change",
        }
    }

    /// The most telling fact of a log; an empty log says that nothing happened.
    pub fn main(log: &[String]) -> Self {
        log.iter().filter_map(|line| Self::read(line)).min().unwrap_or(Self::Hidden)
    }
}

/// Where a step happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// Wherever the program decides: keys, targets, selectors.
    Anywhere,
    /// At the element, this far from its centre.
    Acted(i64, i64),
    /// From the element's centre to this far from it.
    Dragged(i64, i64),
    /// Where nothing is.
    Empty,
}

/// Whose action a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// `/api/v1/desktop/…`.
    Desktop,
    /// `/api/v1/browser/…`.
    Browser,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Step {
    /// Whose action.
    pub hand: Hand,
    /// Its name.
    pub action: &'static str,
    /// Its fields, without the session and the place.
    pub body: Value,
    /// Where.
    pub place: Place,
}

impl Step {
    /// An action of the desktop, at the element.
    pub fn at(action: &'static str) -> Self {
        Self { hand: Hand::Desktop, action, body: json!({}), place: Place::Acted(0, 0) }
    }

    /// An action of the desktop without a place.
    pub fn desktop(action: &'static str, body: Value) -> Self {
        Self { hand: Hand::Desktop, action, body, place: Place::Anywhere }
    }

    /// An action of the structured browser.
    pub fn browser(action: &'static str, body: Value) -> Self {
        Self { hand: Hand::Browser, action, body, place: Place::Anywhere }
    }

    /// Keys.
    pub fn key(keys: &str) -> Self {
        Self::desktop("key", json!({ "keys": keys }))
    }

    /// Text.
    pub fn type_text(text: &str) -> Self {
        Self::desktop("type", json!({ "text": text }))
    }

    /// A click on the element by its name.
    pub fn target(action: &'static str) -> Self {
        Self::desktop(action, json!({ "target": { "name": "Act", "exact": true } }))
    }

    /// A script of the page, which must succeed.
    pub fn script(script: &str) -> Self {
        Self::browser("execute", json!({ "script": script }))
    }

    /// The same step elsewhere.
    pub fn to(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The same step with another field.
    pub fn with(mut self, name: &str, value: Value) -> Self {
        if let Some(fields) = self.body.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
        self
    }
}

/// A case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Unique, such as `web/checkbox/pixel/spinner`.
    pub name: String,
    /// The program.
    pub app: App,
    /// What it shows.
    pub kind: String,
    /// What moves beside it: `none`, or a name that the program knows.
    pub beside: &'static str,
    /// Whether the element has the keyboard first.
    pub focused: bool,
    /// Steps before the action. They are not observed.
    pub before: Vec<Step>,
    /// Whether the action answers a question that the steps before opened. The page cannot be asked
    /// meanwhile, so the log is what follows the question.
    pub answers: bool,
    /// The action.
    pub action: Step,
    /// Steps after the reply, without which the log cannot be read.
    pub after: Vec<Step>,
    /// Steps after the log was read, which close what is open.
    pub last: Vec<Step>,
    /// What the log must say; otherwise the case itself is broken.
    pub fact: Fact,
    /// Further main effects that are right by docs/observe.md.
    pub also: Vec<&'static str>,
}

impl Case {
    /// A case without anything special.
    pub fn new(app: App, name: String, kind: &str, action: Step, fact: Fact) -> Self {
        Self {
            name,
            app,
            kind: kind.to_owned(),
            beside: "none",
            focused: false,
            before: Vec::new(),
            answers: false,
            action,
            after: Vec::new(),
            last: Vec::new(),
            fact,
            also: Vec::new(),
        }
    }

    /// With something that moves beside it, which becomes part of the name.
    pub fn beside(mut self, beside: &'static str) -> Self {
        if beside != "none" {
            self.name = format!("{}/{beside}", self.name);
        }
        Self { beside, ..self }
    }

    /// The element has the keyboard first.
    pub fn focused(self) -> Self {
        Self { focused: true, ..self }
    }

    /// With steps before the action.
    pub fn before(self, before: Vec<Step>) -> Self {
        Self { before, ..self }
    }

    /// The action answers a question.
    pub fn answers(self) -> Self {
        Self { answers: true, ..self }
    }

    /// With steps after the reply.
    pub fn after(self, after: Vec<Step>) -> Self {
        Self { after, ..self }
    }

    /// With steps after the log was read.
    pub fn last(self, last: Vec<Step>) -> Self {
        Self { last, ..self }
    }

    /// With further right effects; `why` is for the reader of the case.
    pub fn also(mut self, effects: &[&'static str], _why: &str) -> Self {
        self.also.extend(effects);
        self
    }

    /// The main effects that are right if the log says this.
    pub fn accepted(&self) -> Vec<&'static str> {
        std::iter::once(self.fact.effect()).chain(self.also.iter().copied()).collect()
    }
}
