//! What a client asks of a session, and what it is told about one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::{
    attach::Attached,
    browser::{ColorScheme, Geolocation},
    cast::{BrowserView, Pictures},
    control::Control,
    extension::ExtensionName,
    forward::{Forward, ForwardRule},
    id::SessionId,
    name::name,
    private::PrivateSignIn,
    proxy::Proxy,
    size::{Bytes, Geometry},
    window::BrowserWindow,
};

/// The longest limit, in seconds: longer is a mistake, and would overflow clocks.
pub const A_YEAR_S: u64 = 365 * 24 * 3600;
/// Text without control characters.
const PRINTABLE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

/// Whether a session has a screen that people can watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A browser without a screen: fast, for automated work.
    #[default]
    Headless,
    /// A whole Linux desktop with a visible browser: for work that people watch.
    Desktop,
}

/// What a session shall be. Every field is optional.
///
/// The same fields may also stand one level deeper, in an object called `spec`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSpec {
    /// A name for people.
    #[schemars(length(max = 200), regex(pattern = PRINTABLE))]
    #[schemars(extend("x-expected" = "at most 200 printable characters"))]
    pub label: String,
    /// The container image, where the runtime uses one. Recorded otherwise.
    #[schemars(length(max = 500), regex(pattern = PRINTABLE))]
    #[schemars(extend("x-expected" = "at most 500 printable characters"))]
    pub image: String,
    /// Headless if neither this nor `env.HELMDECK_MODE` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The page that the browser opens first; `https://` is added if there is no scheme. The session
    /// is ready once the page is loaded, or could not be: then `notes` says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4000))]
    pub start_url: Option<String>,
    /// The screen's size, or that of a headless browser's window. If neither this nor
    /// `env.HELMDECK_DISPLAY_GEOMETRY` is given: 1920x1080, headless 1280x800.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_geometry"))]
    pub geometry: Option<Geometry>,
    /// The most memory the session may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<Bytes>,
    /// The size of /dev/shm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm_size: Option<Bytes>,
    /// The most processor cores the session may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1024.0))]
    pub cpu_limit: Option<f64>,
    /// Seconds from creation to the end, whatever happens; no limit if not given.
    #[serde(alias = "wallclock_timeout_s", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = A_YEAR_S))]
    pub timeout_seconds: Option<u64>,
    /// Seconds without a call after which the session ends; 300 if not given, 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = A_YEAR_S))]
    pub idle_timeout_s: Option<u64>,
    /// The session ends after this many actions; 0 for no limit.
    pub max_tasks: u64,
    /// The clock's place inside the session, for example `Europe/Paris`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), regex(pattern = "^[A-Za-z0-9+_-]+(/[A-Za-z0-9+_-]+)*$"))]
    #[schemars(example = "Europe/Paris")]
    #[schemars(extend("x-expected" = "a time zone such as Europe/Paris"))]
    pub timezone: Option<String>,
    /// The language inside the session, for example `de-DE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$"))]
    #[schemars(example = "de-DE")]
    #[schemars(extend("x-expected" = "a language such as de-DE"))]
    pub locale: Option<String>,
    /// Where the browser tells pages that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// The colours that the browser tells pages its reader prefers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// The name of a browser profile that is kept from session to session: who is signed in stays
    /// so. One session at a time has it; others of the same caller find it as it was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// The names of extensions of the caller's that the browser has from its start on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("uniqueItems" = true))]
    pub extensions: Vec<ExtensionName>,
    /// The proxy that all connections of the session leave by; directly if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Ports of the server's machine that the session opens as its own: with `localhost:5173`, its
    /// browser and programs reach a development server at `http://localhost:5173`. Needs the admin,
    /// or a port of HELMDECK_FORWARD_ALLOW.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub forward: Vec<ForwardRule>,
    /// Whether browsers that the agent's own programs start, by Playwright or Puppeteer for example,
    /// answer the browser's calls while they run; as the server is set if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_passthrough: Option<bool>,
    /// Whether the browser tells pages that a program drives it: `navigator.webdriver` is true, and
    /// the user agent of a headless browser says `HeadlessChrome`. If not given: true for headless
    /// sessions, false for desktops, where pages see an ordinary Chromium.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce_automation: Option<bool>,
    /// Whether the agent's programs are stopped while a person has control, and go on afterwards.
    /// Browsers that they started are stopped as well; the session's own browser and its desktop are
    /// not.
    pub freeze_on_takeover: bool,
    /// The pictures of `/api/v1/sessions/{id}/cdp-stream`, for viewers that do not ask for others;
    /// quality 70, 1280x800 and 15 a second if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_stream: Option<Pictures>,
    /// Environment of the agent's programs. Replies show the values of `HELMDECK_*` only.
    #[schemars(extend(
        "propertyNames" = { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "x-expected": "names of variables" },
        "additionalProperties" = { "type": "string", "pattern": "^[^\\x00]*$", "x-expected": "text without NUL" },
    ))]
    pub env: BTreeMap<String, String>,
}

name! {
    /// The name of a profile: letters, digits, `-` and `_`.
    ProfileName, "a profile"
}

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not ready yet.
    Starting,
    /// Ready: calls are answered.
    Running,
    /// Running, but made by another version of the server: it can be watched and ended.
    Outdated,
    /// Over, as asked or at a limit.
    Terminated,
    /// Over, because something broke.
    Error,
}

/// Why a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// A caller asked for it.
    Requested,
    /// `timeout_seconds` went by.
    WallClock,
    /// `idle_timeout_s` went by without a call.
    Idle,
    /// `max_tasks` were done.
    MaxTasks,
    /// The server stopped.
    ServerStopped,
    /// It could not be started.
    StartFailed,
    /// The guest stopped answering.
    GuestLost,
    /// The X server is gone.
    DisplayLost,
    /// Chromium is gone and could not be brought back.
    BrowserLost,
    /// The session used more memory than it may.
    OutOfMemory,
}

impl EndReason {
    /// Its name in replies and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::WallClock => "wall_clock",
            Self::Idle => "idle",
            Self::MaxTasks => "max_tasks",
            Self::ServerStopped => "server_stopped",
            Self::StartFailed => "start_failed",
            Self::GuestLost => "guest_lost",
            Self::DisplayLost => "display_lost",
            Self::BrowserLost => "browser_lost",
            Self::OutOfMemory => "out_of_memory",
        }
    }
}

/// How long one stage of the start took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageTiming {
    /// sandbox, display, desktop, browser.
    pub stage: String,
    /// Milliseconds from the moment the session was asked for until the stage was done.
    pub done_ms: u64,
}

/// What a session may use, and uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// What enforces the limits: cgroup-v2, cgroup-v1, rlimit+watchdog, or none.
    pub limits_by: String,
    /// Bytes of memory in use, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
    /// How often a process was killed because the session's memory was used up.
    pub out_of_memory: u64,
}

/// What became of the session's requests to reach the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Egress {
    /// Connections that were made.
    pub allowed: u64,
    /// Connections that the policy refused.
    pub denied: u64,
    /// Connections that were allowed and did not come about.
    pub failed: u64,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its name in every later call.
    pub id: SessionId,
    /// The runtime's name for the sandbox.
    pub container_id: String,
    /// Where it is in its life.
    pub status: Status,
    /// Whether people can watch it.
    pub mode: Mode,
    /// The token subject that created it.
    pub owner: String,
    /// When it was asked for.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it ends at the latest, if that is known.
    #[serde(with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    #[serde(default)]
    pub expires_at: Option<OffsetDateTime>,
    /// When it ends unless it is used before; absent while it is in use, and without an idle limit.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub idle_ends_at: Option<OffsetDateTime>,
    /// When an agent last did something in it; absent if none has.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub agent_acted_at: Option<OffsetDateTime>,
    /// Why it is over, once it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// When it ended, once it has.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<OffsetDateTime>,
    /// Whether `/api/v1/sessions/{id}/last-picture` shows how it looked at its end.
    #[serde(default)]
    pub last_picture: bool,
    /// What went wrong, with the end of the log, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long each stage of the start took.
    pub timings: Vec<StageTiming>,
    /// What it may use and uses, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Its requests to reach the network.
    pub egress: Egress,
    /// Ports outside that it opens as its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forwards: Vec<Forward>,
    /// Actions done so far.
    pub tasks: u64,
    /// What the agent says it is doing; empty if it says nothing.
    pub agent_status: String,
    /// Where on the desktop the window is of the browser that was used last, if one is to be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_window: Option<BrowserWindow>,
    /// Who drives it.
    pub control: Control,
    /// Whether its browser can be watched at `/api/v1/sessions/{id}/cdp-stream`.
    #[serde(default)]
    pub browser_view: BrowserView,
    /// Who signs in privately, while a person does.
    #[serde(default)]
    pub private_sign_in: Option<PrivateSignIn>,
    /// The attached display or browser, if the server did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Attached>,
    /// Remarks, for example about an image that this runtime does not use, or a program that
    /// attached the session and is not connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The session as it was asked for, defaults filled in.
    pub spec: SessionSpec,
}

/// All sessions the caller may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// Oldest first; of those that have ended, the last to end first.
    pub sessions: Vec<Session>,
}
