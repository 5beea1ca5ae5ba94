//! What pages said and asked the network for, recorded while they did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::OffsetDateTime;

use super::TabId;
use crate::action::action;

/// What pages wrote to their console: calls of `console`, uncaught errors, and complaints of
/// the browser, of frames and workers too. Recorded from the first call of the structured browser
/// on, and what open pages said before; a few thousand lines are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadConsole {
    /// Only of this tab, open or closed; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// This level and worse; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<ConsoleLevel>,
    /// Only what came after the entry with this id: the `next` of an earlier reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// The most entries, 100 if not given: the first after `since`, or the last without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}
action!(browser ReadConsole, "browser_console", ConsoleLog, drives |_: &Self| false);

/// How bad a line of the console is, worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConsoleLevel {
    /// `console.error`, an uncaught error, a resource that failed.
    Error,
    /// `console.warn`, and what the browser advises against.
    Warning,
    /// `console.log`, `console.info` and the rest.
    Info,
    /// `console.debug`.
    Debug,
}

/// What was written.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConsoleLog {
    /// Oldest first.
    pub entries: Vec<ConsoleEntry>,
    /// How many entries of any tab and level after `since` are not kept any more.
    pub dropped: u64,
    /// For `since`, to go on from here.
    pub next: u64,
}

/// One line of the console.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsoleEntry {
    /// Grows with every entry.
    pub id: u64,
    /// When it was written.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// Where; not there if it is about the browser itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// How bad it is.
    pub level: ConsoleLevel,
    /// What a person would read, cut after 8 KiB.
    pub text: String,
    /// The script or the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The line of it, counted from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What pages asked the network for, and what came of it. Recorded from the first call of the
/// structured browser on; a few thousand requests are kept, without their bodies. The first requests
/// of a worker or of a frame of another site may be missing.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadNetwork {
    /// Only of this tab, open or closed; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Only requests that began, were answered or ended after the reply with this `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// The most requests, 100 if not given: the first after `since`, or the last without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Only those that failed: without a response, or with a status of 400 and more.
    #[serde(default)]
    pub failed: bool,
    /// Only of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RequestKind>,
}
action!(browser ReadNetwork, "browser_network", NetworkLog, drives |_: &Self| false);

/// What a page wants something for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// A page or a frame.
    Document,
    /// A style sheet.
    Stylesheet,
    /// A picture.
    Image,
    /// Sound or video.
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
    /// Something for later.
    Prefetch,
    /// `EventSource`.
    EventSource,
    /// The handshake of a WebSocket.
    WebSocket,
    /// The manifest of an application.
    Manifest,
    /// A beacon.
    Ping,
    /// The question whether another site may be asked.
    Preflight,
    /// Anything else.
    #[default]
    Other,
}

impl RequestKind {
    /// Its name, in one word.
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

/// What was asked for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkLog {
    /// Oldest first; with `since`, by when something happened to them last.
    pub requests: Vec<NetworkRequest>,
    /// How many requests of any tab that changed after `since` are not kept any more.
    pub dropped: u64,
    /// For `since`, to go on from here.
    pub next: u64,
}

/// One request. Each redirect is a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkRequest {
    /// Grows with every request.
    pub id: u64,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: OffsetDateTime,
    /// Where.
    pub tab: TabId,
    /// GET and so on.
    pub method: String,
    /// What; a user and password in it are left out.
    pub url: String,
    /// What for.
    pub kind: RequestKind,
    /// The status of the response, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there is no response, or only a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the response is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// How many bytes were transferred, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long it took; not there while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Whether the browser had it already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
}

/// The recorded requests as a HAR 1.2 document, for DevTools and HAR viewers: headers, cookies,
/// timings, sizes. Bodies of responses are not recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportHar {
    /// Only of this tab, open or closed; all if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<TabId>,
    /// Only requests that began, were answered or ended after this `next` of `browser_network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// With cookies, tokens in headers and what was posted; else these are `•••` or left out. Not
    /// while a person drives; passwords of HTTP itself and what a person posted are never told.
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
