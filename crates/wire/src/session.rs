//! Sessions: how clients describe them in requests, and how the server describes them in replies.

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
    nature::Style,
    private::PrivateSignIn,
    proxy::Proxy,
    size::{Bytes, Geometry},
    window::BrowserWindow,
};

/// Longest time limit, in seconds. Longer limits are mistakes and could overflow clocks.
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
    /// A Linux desktop with a visible browser, for work that people watch.
    Desktop,
}

/// Settings of a new session. Every field is optional.
///
/// The fields may also be nested in an object called `spec`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSpec {
    /// A name for people.
    #[schemars(length(max = 200), regex(pattern = PRINTABLE))]
    #[schemars(extend("x-expected" = "at most 200 printable characters"))]
    pub label: String,
    /// Container image, for runtimes that use one. Other runtimes only record it.
    #[schemars(length(max = 500), regex(pattern = PRINTABLE))]
    #[schemars(extend("x-expected" = "at most 500 printable characters"))]
    pub image: String,
    /// `desktop` is a VISIBLE desktop with Chromium, where the operator watches live; `headless` is
    /// HEADLESS Chromium, not visible to the operator. Defaults to `env.HELMDECK_MODE`, then to headless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Page that the browser opens first; `https://` is added if there is no scheme. The session
    /// becomes ready when the page is loaded. If it cannot be loaded, `notes` explains why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4000))]
    pub start_url: Option<String>,
    /// Size of the screen, or of a headless browser's window. Defaults to
    /// `env.HELMDECK_DISPLAY_GEOMETRY`, then to 1920x1080, or 1280x800 if headless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-error" = "invalid_geometry"))]
    pub geometry: Option<Geometry>,
    /// Memory limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<Bytes>,
    /// Size of /dev/shm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm_size: Option<Bytes>,
    /// CPU limit, in cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 1024.0))]
    pub cpu_limit: Option<f64>,
    /// Seconds from creation to the end of the session; no limit by default.
    #[serde(alias = "wallclock_timeout_s", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = A_YEAR_S))]
    pub timeout_seconds: Option<u64>,
    /// Seconds without a call after which the session ends; defaults to 300, 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = A_YEAR_S))]
    pub idle_timeout_s: Option<u64>,
    /// Number of actions after which the session ends; 0 for no limit.
    pub max_tasks: u64,
    /// Time zone of the session, for example `Europe/Paris`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), regex(pattern = "^[A-Za-z0-9+_-]+(/[A-Za-z0-9+_-]+)*$"))]
    #[schemars(example = "Europe/Paris")]
    #[schemars(extend("x-expected" = "a time zone such as Europe/Paris"))]
    pub timezone: Option<String>,
    /// Language of the session, for example `de-DE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$"))]
    #[schemars(example = "de-DE")]
    #[schemars(extend("x-expected" = "a language such as de-DE"))]
    pub locale: Option<String>,
    /// Geolocation reported to pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// Colour scheme that pages see as the reader's preference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<ColorScheme>,
    /// Name of a browser profile that is kept between sessions, including its logins. Only one
    /// session at a time can use it; the next one finds it as it was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// Names of the caller's extensions to load into the browser.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("uniqueItems" = true))]
    pub extensions: Vec<ExtensionName>,
    /// Proxy for all outgoing connections; by default they are direct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Proxy>,
    /// Ports of the server's machine to open inside the session. With `localhost:5173`, its browser
    /// and programs reach a development server at `http://localhost:5173`. Requires the admin scope
    /// or a port in HELMDECK_FORWARD_ALLOW.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub forward: Vec<ForwardRule>,
    /// Whether browser calls go to browsers that the agent's own programs start, for example with
    /// Playwright or Puppeteer, while these run. Defaults to the server's setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser_passthrough: Option<bool>,
    /// Whether the browser tells pages that it is automated: `navigator.webdriver` is true, and a
    /// headless browser's user agent says `HeadlessChrome`. Defaults to true for headless sessions
    /// and to false for desktops, where pages see an ordinary Chromium.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce_automation: Option<bool>,
    /// Whether the agent's programs are stopped while a person has control. This includes browsers
    /// that they started, but not the session's own browser and desktop.
    pub freeze_on_takeover: bool,
    /// Default pictures of `/api/v1/sessions/{id}/cdp-stream`; quality 70, 1280x800 and 15 per
    /// second if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_stream: Option<Pictures>,
    /// Environment of the agent's programs. Replies show only the values of `HELMDECK_*`.
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

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not ready yet.
    Starting,
    /// Ready for calls.
    Running,
    /// Running, but created by another version of the server: it can only be watched and ended.
    Outdated,
    /// Ended on request or at a limit.
    Terminated,
    /// Ended because of a failure.
    Error,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// A caller ended it.
    Requested,
    /// It reached `timeout_seconds`.
    WallClock,
    /// It reached `idle_timeout_s` without a call.
    Idle,
    /// It reached `max_tasks`.
    MaxTasks,
    /// The server stopped.
    ServerStopped,
    /// It could not be started.
    StartFailed,
    /// The guest stopped answering.
    GuestLost,
    /// The X server is gone.
    DisplayLost,
    /// Chromium is gone and could not be restarted.
    BrowserLost,
    /// It exceeded its memory limit.
    OutOfMemory,
}

impl EndReason {
    /// Name in replies and messages.
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
    /// Milliseconds from the creation request until the stage was done.
    pub done_ms: u64,
}

/// Limits and usage of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resources {
    /// What enforces the limits: cgroup-v2, cgroup-v1, rlimit+watchdog, or none.
    pub limits_by: String,
    /// Memory in use, in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Number of processes and threads, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
    /// How often a process was killed because the session ran out of memory.
    pub out_of_memory: u64,
}

/// Counts of the session's outgoing connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Egress {
    /// Connections that were established.
    pub allowed: u64,
    /// Connections that the egress policy refused.
    pub denied: u64,
    /// Connections that were allowed but failed.
    pub failed: u64,
}

/// A session, as its owner sees it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Id for later calls.
    pub id: SessionId,
    /// The runtime's id of the sandbox.
    pub container_id: String,
    /// State of the session.
    pub status: Status,
    /// Desktop or headless.
    pub mode: Mode,
    /// How it is used: by names of elements, or by pictures and a model. It is the mode of the last
    /// run, or what a person chose since.
    #[serde(default)]
    pub action_mode: Style,
    /// The token subject that created it.
    pub owner: String,
    /// When it was created.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub created_at: OffsetDateTime,
    /// When it ends at the latest, if it has such a limit.
    #[serde(with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    #[serde(default)]
    pub expires_at: Option<OffsetDateTime>,
    /// When it ends if it is not used; absent while it is in use and if it has no idle limit.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub idle_ends_at: Option<OffsetDateTime>,
    /// When an agent last acted in it; absent before the first action.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub agent_acted_at: Option<OffsetDateTime>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// When it ended.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub ended_at: Option<OffsetDateTime>,
    /// Whether `/api/v1/sessions/{id}/last-picture` has a picture of its end.
    #[serde(default)]
    pub last_picture: bool,
    /// What went wrong, with the end of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long each stage of the start took.
    pub timings: Vec<StageTiming>,
    /// Limits and usage, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Its outgoing connections.
    pub egress: Egress,
    /// Forwarded ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forwards: Vec<Forward>,
    /// Number of actions so far.
    pub tasks: u64,
    /// Status line of the agent; empty if it has set none.
    pub agent_status: String,
    /// Position of the window of the browser that was used last, if it is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_window: Option<BrowserWindow>,
    /// Who controls it.
    pub control: Control,
    /// Whether its browser can be watched at `/api/v1/sessions/{id}/cdp-stream`.
    #[serde(default)]
    pub browser_view: BrowserView,
    /// The private sign-in in progress.
    #[serde(default)]
    pub private_sign_in: Option<PrivateSignIn>,
    /// The attached display or browser, if the server did not start the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Attached>,
    /// Remarks, for example that this runtime ignores the image, or that the program that attached
    /// the session is not connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The requested settings, with defaults filled in.
    pub spec: SessionSpec,
}

/// All sessions the caller may see.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// Oldest first. Ended sessions are sorted by their end, newest first.
    pub sessions: Vec<Session>,
}
