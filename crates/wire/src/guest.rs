//! Messages from the server to a guest, and the guest's progress reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, serde::rfc3339};

use crate::{
    browser::{ColorScheme, Geolocation},
    byte_range::ByteRange,
    exec::ExecId,
    extension::ExtensionName,
    file::HomePath,
    proxy::Proxy,
    session::Mode,
    site::Site,
    size::Geometry,
    window::BrowserWindow,
};

/// Version of the link. Server and guest only understand each other if they have the same one.
pub const LINK_VERSION: u32 = 9;

/// Everything a guest needs to start a session. It is never written to a disk or a command line,
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
    /// Geolocation reported to pages.
    pub geolocation: Option<Geolocation>,
    /// Colour scheme reported to pages.
    pub color_scheme: Option<ColorScheme>,
    /// Size of the agent's /tmp.
    pub tmp_bytes: u64,
    /// Size limit of /workspace on disk. Without it, /workspace is in memory and part of the home.
    pub workspace_bytes: Option<u64>,
    /// Size of the agent's /dev/shm.
    pub shm_bytes: u64,
    /// Maximum number of processes and threads in the sandbox.
    pub pids: u64,
    /// Memory limit, if only the guest can enforce it.
    pub watch_memory_bytes: Option<u64>,
    /// Environment of the agent's programs.
    pub env: BTreeMap<String, String>,
    /// Browser extensions, sent before.
    pub extensions: Vec<ExtensionName>,
    /// Proxy that the server uses for this session. The guest keeps it for the next server.
    pub proxy: Option<Proxy>,
    /// Whether the session adopts browsers that the agent's programs start.
    pub browser_passthrough: bool,
    /// Whether the browser tells pages that it is automated.
    pub announce_automation: bool,
    /// Whether the agent's programs are stopped while a person has control.
    pub freeze_on_takeover: bool,
    /// When the guest ends by itself if no server is connected.
    pub orphan_limits: OrphanLimits,
}

/// How long a guest runs without a server.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct OrphanLimits {
    /// Milliseconds until the session's wall-clock limit.
    pub wall_clock_ms: Option<u64>,
    /// Milliseconds without an action.
    pub idle_ms: Option<u64>,
    /// Milliseconds without a server, independent of the other limits.
    pub server_gone_ms: u64,
}

/// A query about a command.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneExec {
    /// The command.
    pub id: ExecId,
    /// How long to wait for it to end.
    #[serde(default)]
    pub wait_ms: u64,
}

/// A command that was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecStarted {
    /// Its id.
    pub id: ExecId,
}

/// A request for a command's output, from these offsets on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExecOutput {
    /// The command.
    pub id: ExecId,
    /// Offset in standard output.
    #[serde(default)]
    pub stdout: u64,
    /// Offset in standard error.
    #[serde(default)]
    pub stderr: u64,
}

/// A request to open a terminal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OpenTerminal {
    /// Its columns.
    pub cols: u16,
    /// Its lines.
    pub rows: u16,
    /// A shell line; defaults to a login shell.
    #[serde(default)]
    pub command: Option<String>,
}

/// All ports inside the session that the guest listens on for the server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ForwardedPorts {
    /// The ports. Others are closed.
    pub ports: Vec<u16>,
}

/// An extension that is sent to the guest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneExtension {
    /// Its name.
    pub name: ExtensionName,
}

/// A request for the browser profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SaveProfile {
    /// Whether to close the browser first and not restart it.
    pub last: bool,
}

/// A request for a file or folder of the home.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneFile {
    /// Its path.
    pub path: HomePath,
    /// Whether a new file may replace an existing one.
    #[serde(default)]
    pub replace: bool,
    /// The part of the file to read; defaults to all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<ByteRange>,
    /// The time of the last change that a new file gets; defaults to now.
    #[serde(default, with = "rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub modified_at: Option<OffsetDateTime>,
}

impl OneFile {
    /// The whole file or folder at a path.
    pub fn new(path: HomePath) -> Self {
        Self { path, replace: false, range: None, modified_at: None }
    }
}

/// One line of the guest's progress report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A stage is done.
    Done(Stage),
    /// All stages are done: the session is ready.
    Ready,
    /// A stage failed; the guest will not become ready.
    Failed {
        /// The stage that failed.
        stage: Stage,
        /// Why.
        reason: String,
        /// The last lines of the log.
        log_tail: String,
    },
    /// An event that did not end the session; a sentence for the log.
    Event(String),
    /// The browser ended, in the given way, and is being restarted.
    BrowserEnded(String),
    /// The browser runs again.
    BrowserBack,
    /// A private sign-in ended without a request.
    PrivateEnded,
    /// Whether commands of callers are running. They keep the session from being idle.
    Executing(bool),
    /// The browser's window changed or moved; `None` if no window is visible.
    BrowserWindow(Option<BrowserWindow>),
    /// A required part is gone: the session is over.
    Lost {
        /// The part that is gone.
        part: Part,
        /// The last lines of the log.
        log_tail: String,
    },
}

/// A part that a session cannot run without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The X server.
    Display,
    /// Chromium, which could not be restarted.
    Browser,
    /// The nested sandbox.
    Nest,
}

/// Control of the session changed: pressed keys and buttons are released.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HandedOver {
    /// Whether a person has control now.
    pub to_person: bool,
    /// Key of the holder: [`OneClient::key`] of their own connections.
    #[serde(default)]
    pub key: Option<String>,
}

/// Starts a private sign-in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartPrivate {
    /// [`OneClient::key`] of the person's own connections.
    pub key: String,
    /// Name of the person, shown to others.
    pub by: String,
}

/// Ends a private sign-in.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct EndPrivate {
    /// Whether the agent's browser takes over the signed-in page.
    pub keep: bool,
}

/// Limits the sites that the browser opens in its tabs, for some minutes. Limits of several owners hold together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LimitSites {
    /// Whose limit it is.
    #[serde(default)]
    pub owner: String,
    /// The sites, or nothing to end the owner's limit.
    pub sites: Option<Vec<Site>>,
}

/// What an owner's limit refused, and what began, since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSites {
    /// The addresses that were not opened.
    #[serde(default)]
    pub urls: Vec<String>,
    /// How many downloads began.
    #[serde(default)]
    pub downloads: u64,
}

/// The client that opens a connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OneClient {
    /// The token or ticket that it used.
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
    /// The agent's sandbox, with session bus and window manager.
    Desktop,
    /// The browser answers and, in desktop sessions, is painted.
    Browser,
}

impl Stage {
    /// Name in timings and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Display => "display",
            Self::Desktop => "desktop",
            Self::Browser => "browser",
        }
    }
}

/// A request for pictures of the screen whenever it changes. Without a screen they show the
/// browser's page.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct PictureRequest {
    /// Maximum width. Wider pictures are scaled down; so are pages that are higher.
    pub width: u32,
    /// Maximum pictures per second.
    pub fps: f32,
    /// JPEG quality, from 1 to 100.
    pub quality: u8,
}

/// The guest's answer to the server's greeting.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// The guest's [`LINK_VERSION`].
    pub link_version: u32,
    /// Number of actions so far.
    pub actions: u64,
    /// Memory in use, in bytes, if the guest measures it.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, if the guest counts them.
    pub pids: Option<u64>,
    /// The proxy that the session was started with.
    pub proxy: Option<Proxy>,
}
