//! What the server tells a new guest, and what the guest reports while it starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{session::Mode, size::Geometry};

/// Server and guest understand each other only if this is equal on both sides.
pub const LINK_VERSION: u32 = 1;

/// What a guest needs to know to become a session. It never touches a disk or a command line,
/// because `env` may hold secrets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Begin {
    /// With a screen or without.
    pub mode: Mode,
    /// The screen's size.
    pub geometry: Geometry,
    /// Time zone of the agent's programs.
    pub timezone: Option<String>,
    /// Language of the agent's programs.
    pub locale: Option<String>,
    /// Size of the agent's /dev/shm.
    pub shm_bytes: u64,
    /// Environment of the agent's programs.
    pub env: BTreeMap<String, String>,
}

/// A line of the guest's report on its start.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A stage is done.
    Done(Stage),
    /// All stages are done: the session is ready.
    Ready,
    /// A stage failed; the guest will not become ready.
    Failed {
        /// Which one.
        stage: Stage,
        /// Why.
        reason: String,
        /// The last lines of the log.
        log_tail: String,
    },
}

/// The stages of a start, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The sandbox runs and its guest answers.
    Sandbox,
    /// The X server accepts clients.
    Display,
    /// The agent's own sandbox, with bus and window manager.
    Desktop,
    /// The browser answers and, with a screen, is painted.
    Browser,
}

impl Stage {
    /// Its name in timings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Display => "display",
            Self::Desktop => "desktop",
            Self::Browser => "browser",
        }
    }
}

/// The link's own answer to "who are you".
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// The guest's [`LINK_VERSION`].
    pub link_version: u32,
}
