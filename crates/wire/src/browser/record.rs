//! Recorded console messages and network requests of pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use super::TabId;
use crate::action::action;

/// Read the console messages of pages, frames and workers: `console` calls, uncaught errors and
/// warnings of the browser. Recording starts with the first call of the structured browser and
/// includes earlier messages of open pages. The last few thousand messages are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadConsole {
    /// Only messages of this tab, open or closed; defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Minimum severity; defaults to all levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<ConsoleLevel>,
    /// Only entries after this id: the `next` of an earlier reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Maximum number of entries; defaults to 100. With `since` the first ones after it are
    /// returned, otherwise the last ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}
action!(browser ReadConsole, "browser_console", ConsoleLog, drives |_: &Self| false);

/// Severity of a console message, worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConsoleLevel {
    /// `console.error`, uncaught errors and resources that failed to load.
    Error,
    /// `console.warn`, and warnings of the browser.
    Warning,
    /// `console.log`, `console.info` and the rest.
    Info,
    /// `console.debug`.
    Debug,
}

/// Recorded console messages.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConsoleLog {
    /// Oldest first.
    pub entries: Vec<ConsoleEntry>,
    /// Number of entries after `since`, of any tab and level, that are no longer kept.
    pub dropped: u64,
    /// Pass it as `since` to continue from here.
    pub next: u64,
}

/// One console message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsoleEntry {
    /// Increases with every entry.
    pub id: u64,
    /// When it was written.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// The tab; absent for messages about the browser itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Severity.
    pub level: ConsoleLevel,
    /// The text as DevTools shows it, cut after 8 KiB.
    pub text: String,
    /// URL of the script or resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Line number in the script, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Read the network requests of pages. Recording starts with the first call of the structured
/// browser. The last few thousand requests are kept, without bodies. The first requests of a worker
/// or of a cross-site frame may be missing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadNetwork {
    /// Only requests of this tab, open or closed; defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Only requests that started, were answered or ended after the reply with this `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Maximum number of requests; defaults to 100. With `since` the first ones after it are
    /// returned, otherwise the last ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Only failed requests: without a response, or with a status of 400 or higher.
    #[serde(default)]
    pub failed: bool,
    /// Only requests of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RequestKind>,
}
action!(browser ReadNetwork, "browser_network", NetworkLog, drives |_: &Self| false);

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// A page or a frame.
    Document,
    /// A style sheet.
    Stylesheet,
    /// An image.
    Image,
    /// Audio or video.
    Media,
    /// A font.
    Font,
    /// A script or a worker.
    Script,
    /// Subtitles.
    TextTrack,
    /// `XMLHttpRequest`.
    Xhr,
    /// `fetch`.
    Fetch,
    /// A prefetched resource.
    Prefetch,
    /// `EventSource`.
    EventSource,
    /// The handshake of a WebSocket.
    WebSocket,
    /// A web app manifest.
    Manifest,
    /// A beacon.
    Ping,
    /// A CORS preflight.
    Preflight,
    /// Anything else.
    #[default]
    Other,
}

impl RequestKind {
    /// The name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Stylesheet => "stylesheet",
            Self::Image => "image",
            Self::Media => "media",
            Self::Font => "font",
            Self::Script => "script",
            Self::TextTrack => "texttrack",
            Self::Xhr => "xhr",
            Self::Fetch => "fetch",
            Self::Prefetch => "prefetch",
            Self::EventSource => "eventsource",
            Self::WebSocket => "websocket",
            Self::Manifest => "manifest",
            Self::Ping => "ping",
            Self::Preflight => "preflight",
            Self::Other => "other",
        }
    }
}

/// Recorded network requests.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLog {
    /// Oldest first. With `since`, in the order of their last change.
    pub requests: Vec<NetworkRequest>,
    /// Number of requests that changed after `since`, of any tab, and are no longer kept.
    pub dropped: u64,
    /// Pass it as `since` to continue from here.
    pub next: u64,
}

/// One request. Each redirect is a separate request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkRequest {
    /// Increases with every request.
    pub id: u64,
    /// When it started.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// The tab.
    pub tab: TabId,
    /// HTTP method.
    pub method: String,
    /// The URL, without user and password.
    pub url: String,
    /// What the request is for.
    pub kind: RequestKind,
    /// Status of the response, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there is no response, or only a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Media type of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Bytes transferred, including headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Duration in milliseconds; absent while the request is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Whether the response came from the browser's cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
}

/// Export the recorded requests as a HAR 1.2 document for DevTools and HAR viewers: headers,
/// cookies, timings and sizes. Response bodies are not recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportHar {
    /// Only requests of this tab, open or closed; defaults to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Only requests that started, were answered or ended after this `next` of `browser_network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Include cookies, tokens in headers and posted data. Otherwise they are replaced by `•••` or
    /// left out. Not allowed while a person drives. Passwords of HTTP authentication and data that
    /// a person posted are never included.
    #[serde(default)]
    pub secrets: bool,
}
action!(browser ExportHar, "browser_har", Har, drives |this: &Self| this.secrets);

/// A HAR 1.2 document.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Har {
    /// `version`, `creator`, `pages` and `entries`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub log: Value,
}
