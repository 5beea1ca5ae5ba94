//! Properties of a tool call: what it changes, and where people can see it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Mode;

/// What a call changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing.
    ReadOnly,
    /// Something in one session, or the set of sessions.
    #[default]
    ChangesSession,
    /// Something outside sessions: settings, tokens, stored files.
    ChangesWorld,
    /// Something that costs money.
    SpendsMoney,
}

impl Effect {
    /// What it changes, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "nothing",
            Self::ChangesSession => "the session",
            Self::ChangesWorld => "outside of sessions",
            Self::SpendsMoney => "spends money",
        }
    }
}

/// How an agent addresses things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ActionMode")]
pub enum Style {
    /// By name: fields, selectors, ids.
    #[default]
    Structured,
    /// By pixel, from pictures.
    Vision,
}

/// What performs the work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Substrate {
    /// The server.
    #[default]
    Server,
    /// The session's sandbox: files, programs, ports.
    Sandbox,
    /// The session's Chromium.
    Browser,
    /// The session's X display.
    Desktop,
}

/// Whether viewers can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// It needs no screen and shows nothing, unless the call names a session with a desktop.
    Headless,
    /// It works on the visible desktop.
    Visible,
    /// It works with both, and is visible if the session has a desktop.
    Both,
}

/// Properties of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Nature {
    /// What it changes.
    pub effect: Effect,
    /// Whether repeating it with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Whether it may end or delete something.
    pub destructive: bool,
    /// Whether it reaches things outside helmdeck, such as web pages.
    pub open_world: bool,
    /// How an agent addresses things.
    pub style: Style,
    /// What performs the work.
    pub substrate: Substrate,
    /// Whether viewers can see it.
    pub surface: Surface,
    /// Mode of a session that is created for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<Mode>,
}

impl Default for Nature {
    fn default() -> Self {
        Self {
            effect: Effect::default(),
            idempotent: false,
            destructive: false,
            open_world: false,
            style: Style::Structured,
            substrate: Substrate::default(),
            surface: Surface::Headless,
            default_mode: None,
        }
    }
}

impl Nature {
    /// It only reads.
    pub const fn reads(self) -> Self {
        Self { effect: Effect::ReadOnly, idempotent: true, ..self }
    }

    /// Calling it twice has the same effect as once.
    pub const fn idempotent(self) -> Self {
        Self { idempotent: true, ..self }
    }

    /// It ends or deletes something. A second call has no effect.
    pub const fn destroys(self) -> Self {
        Self { destructive: true, idempotent: true, ..self }
    }

    /// It changes something that outlives sessions.
    pub const fn changes_world(self) -> Self {
        Self { effect: Effect::ChangesWorld, ..self }
    }

    /// It costs money.
    pub const fn spends_money(self) -> Self {
        Self { effect: Effect::SpendsMoney, ..self }
    }

    /// It works in the sandbox.
    pub const fn in_sandbox(self) -> Self {
        Self { substrate: Substrate::Sandbox, ..self }
    }

    /// It works in the browser.
    pub fn in_browser() -> Self {
        Self {
            substrate: Substrate::Browser,
            surface: Surface::Both,
            open_world: true,
            default_mode: Some(Mode::Headless),
            ..Self::default()
        }
    }

    /// It works in a new browser without a screen for each call, unless the call names a session.
    pub fn in_new_browser() -> Self {
        Self { surface: Surface::Headless, ..Self::in_browser() }
    }

    /// It works on the desktop.
    pub fn on_desktop() -> Self {
        Self {
            style: Style::Vision,
            substrate: Substrate::Desktop,
            surface: Surface::Visible,
            open_world: true,
            default_mode: Some(Mode::Desktop),
            ..Self::default()
        }
    }

    /// It decides whether people see the session.
    pub const fn on_either_surface(self) -> Self {
        Self { surface: Surface::Both, ..self }
    }

    /// It addresses things by name.
    pub const fn structured(self) -> Self {
        Self { style: Style::Structured, ..self }
    }

    /// How and where it works, appended to descriptions: agents choose tools by their visibility.
    pub fn whereabouts(self) -> &'static str {
        match (self.substrate, self.style) {
            (Substrate::Server, _) if self.surface == Surface::Both => {
                " Structured, in the server. Mode desktop is a VISIBLE desktop with Chromium, where the \
                 operator watches live; mode headless is HEADLESS Chromium, not visible to the operator."
            }
            (Substrate::Browser, _) if self.surface == Surface::Headless => {
                " Structured, by page element, in a new HEADLESS Chromium, not visible to the operator, \
                 unless `_session_id` names a desktop session."
            }
            (Substrate::Browser, _) => {
                " Structured, by page element, in Chromium: HEADLESS in a headless session, not visible to \
                 the operator, for scraping and tests; VISIBLE in a desktop session, where the operator \
                 watches live."
            }
            (Substrate::Desktop, Style::Vision) => {
                " Vision, by pixel, on the VISIBLE desktop: Chromium is already open, the operator \
                 watches live."
            }
            (Substrate::Desktop, Style::Structured) => {
                " Structured, on the VISIBLE desktop: Chromium is already open, the operator watches live."
            }
            (Substrate::Sandbox, _) => " Structured, in the sandbox, not visible to the operator.",
            (Substrate::Server, _) => " Structured, in the server, not visible.",
        }
    }

    /// What a model works with, as vendors label it in the schemas of their own tools.
    pub const fn environment(self) -> Option<&'static str> {
        match self.substrate {
            Substrate::Browser => Some("browser"),
            Substrate::Desktop => Some("linux"),
            Substrate::Sandbox | Substrate::Server => None,
        }
    }
}
