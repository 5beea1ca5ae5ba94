//! What the server tells a new guest, and what the guest reports while it starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    browser::{ColorScheme, Geolocation},
    byte_range::ByteRange,
    exec::ExecId,
    extension::ExtensionName,
    file::HomePath,
    proxy::Proxy,
    session::Mode,
    size::Geometry,
    window::BrowserWindow,
};

/// Server and guest understand each other only if this is equal on both sides.
pub const LINK_VERSION: u32 = 8;

/// What a guest needs to know to become a session. It never touches a disk or a command line,
/// because `env` and `proxy` may hold secrets.
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
    /// Where pages are made to believe they are.
    pub geolocation: Option<Geolocation>,
    /// The colours that pages are made to believe their reader prefers.
    pub color_scheme: Option<ColorScheme>,
    /// Size of the agent's /tmp.
    pub tmp_bytes: u64,
    /// The most that /workspace on the disk may hold; in memory, as a part of the home, if not given.
    pub workspace_bytes: Option<u64>,
    /// Size of the agent's /dev/shm.
    pub shm_bytes: u64,
    /// Processes and threads of the whole sandbox.
    pub pids: u64,
    /// The most memory, where nobody but the guest can enforce it.
    pub watch_memory_bytes: Option<u64>,
    /// Environment of the agent's programs.
    pub env: BTreeMap<String, String>,
    /// Extensions of the browser, which were sent before.
    pub extensions: Vec<ExtensionName>,
    /// What the server leaves by for this session. The guest keeps it for the next server.
    pub proxy: Option<Proxy>,
    /// Whether browsers that the agent's programs start are browsers of the session.
    pub browser_passthrough: bool,
    /// Whether the browser tells pages that a program drives it.
    pub announce_automation: bool,
    /// Whether the agent's programs are stopped while a person has control.
    pub freeze_on_takeover: bool,
    /// When the guest ends by itself while no server is there to do it.
    pub alone: Alone,
}

/// How long a guest lives without a server.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Alone {
    /// Milliseconds from now to the session's wall-clock end.
    pub wall_clock_ms: Option<u64>,
    /// Milliseconds without an action.
    pub idle_ms: Option<u64>,
    /// Milliseconds without a server, whatever else.
    pub server_gone_ms: u64,
}

/// A command that is asked about.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneExec {
    /// Which one.
    pub id: ExecId,
    /// How long to wait for its end.
    #[serde(default)]
    pub wait_ms: u64,
}

/// The command that was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecStarted {
    /// Its id.
    pub id: ExecId,
}

/// The output of a command that is wanted, from these bytes on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecOutput {
    /// Of which command.
    pub id: ExecId,
    /// The first byte of its standard output that is wanted.
    #[serde(default)]
    pub stdout: u64,
    /// The first byte of its standard error.
    #[serde(default)]
    pub stderr: u64,
}

/// A terminal that is wanted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenTerminal {
    /// Its columns.
    pub cols: u16,
    /// Its lines.
    pub rows: u16,
    /// A line for a shell; a login shell if not given.
    #[serde(default)]
    pub command: Option<String>,
}

/// The ports inside that the guest listens on for the server, all of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ForwardedPorts {
    /// Others are closed.
    pub ports: Vec<u16>,
}

/// An extension that is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneExtension {
    /// What it is called.
    pub name: ExtensionName,
}

/// A profile that is asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SaveProfile {
    /// Whether the browser is closed first, and not started again.
    pub last: bool,
}

/// A file or folder of the home that is asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneFile {
    /// Where it is.
    pub path: HomePath,
    /// Whether a new file may take the place of an old one.
    #[serde(default)]
    pub replace: bool,
    /// The part that is wanted of a file that is read; all of it if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<ByteRange>,
}

/// A line of the guest's report on its start and its life.
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
    /// Something happened that did not end the session; a sentence for the log.
    Event(String),
    /// The browser ended, and is being started again; how it ended.
    BrowserEnded(String),
    /// The browser is there again.
    BrowserBack,
    /// A private sign-in is over that nobody asked to end.
    PrivateEnded,
    /// Whether commands of callers run, which keep the session from being idle.
    Executing(bool),
    /// The browser's window is another one, or elsewhere; nothing if none is to be seen.
    BrowserWindow(Option<BrowserWindow>),
    /// A part that the session cannot do without is gone: the session is over.
    Lost {
        /// What is gone.
        part: Part,
        /// The last lines of the log.
        log_tail: String,
    },
}

/// What a session cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The X server.
    Display,
    /// Chromium, which could not be brought back.
    Browser,
    /// The nested sandbox.
    Nest,
}

/// Control of the session changed hands: what is held down is let go.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HandedOver {
    /// Whether a person has it now.
    pub to_person: bool,
    /// The key of the one who has it: [`OneClient::key`] of their own connections.
    #[serde(default)]
    pub key: Option<String>,
}

/// A person signs in privately.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartPrivate {
    /// [`OneClient::key`] of the person's own connections.
    pub key: String,
    /// Who it is, for others.
    pub by: String,
}

/// A private sign-in ends.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct EndPrivate {
    /// Whether the agent's browser gets the page, signed in.
    pub keep: bool,
}

/// Whose connection is opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneClient {
    /// The token or ticket that was used.
    pub key: String,
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

/// Pictures of the screen that somebody wants, whenever it changes; without one, of the browser's page.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Frames {
    /// What is wider is scaled down to this; so is a page that is higher.
    pub width: u32,
    /// The most in a second.
    pub fps: f32,
    /// Of the JPEG, from 1 to 100.
    pub quality: u8,
}

/// The link's own answer to "who are you".
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// The guest's [`LINK_VERSION`].
    pub link_version: u32,
    /// Actions it was asked for so far.
    pub actions: u64,
    /// Bytes of memory in use, if the guest measures them.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, if the guest counts them.
    pub pids: Option<u64>,
    /// What it was begun with.
    pub proxy: Option<Proxy>,
}
