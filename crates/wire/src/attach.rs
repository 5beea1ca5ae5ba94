//! What `helmdeck attach` and a server say to each other, before the link takes over.
//!
//! The program connects to [`CONTROL`] and sends one [`Attach`]; the server answers with
//! [`AttachReply`]s. Then the program keeps a few connections to [`stream`] open, with the secret in
//! the header [`SECRET`]; the server takes one whenever the link needs a connection, and the bytes of
//! its binary messages are the link's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorBody, SessionId};

/// Where a program attaches what it has.
pub const CONTROL: &str = "/api/v1/attach";
/// The header that shows a stream to be of the program that attached.
pub const SECRET: &str = "x-helmdeck-attach";
/// What the program closes its first connection with when the session shall end.
pub const GOODBYE: &str = "detached";

/// Where the streams of a session are opened.
pub fn stream(id: &SessionId) -> String {
    format!("{CONTROL}/{id}/stream")
}

/// An attached display or browser, without addresses that open anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// The X display, for example `:0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub display: Option<String>,
    /// Whether the display can be watched live, and not by screenshots only.
    #[serde(default)]
    pub live_view: bool,
    /// Host and port of the browser's debugging protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub cdp: Option<String>,
}

/// The program's one message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// A name for people.
    #[serde(default)]
    pub label: String,
    /// What it brings.
    pub attached: Attached,
    /// Of a session that shall come back; else there will be a new one.
    #[serde(default)]
    pub secret: Option<String>,
}

/// What the server answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachReply {
    /// It is a session now, and streams are wanted.
    Attached {
        /// Which one.
        session_id: SessionId,
        /// Opens streams, and brings the session back.
        secret: String,
        /// The page that shows it.
        url: String,
    },
    /// The session answers calls.
    Ready,
    /// It is none, and why.
    Refused(ErrorBody),
}
