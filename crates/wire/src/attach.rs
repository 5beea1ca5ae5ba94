//! The handshake between `helmdeck attach` and the server, before the link takes over.
//!
//! The program connects to [`CONTROL`] and sends one [`Attach`]. The server answers with
//! [`AttachReply`]s. Then the program keeps a few connections to [`stream`] open, with the secret
//! in the header [`SECRET`]. The server uses one whenever the link needs a connection: the binary
//! messages carry the link's bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorBody, SessionId};

/// Path of the control connection.
pub const CONTROL: &str = "/api/v1/attach";
/// Header that carries the session's secret and authenticates a stream.
pub const SECRET: &str = "x-helmdeck-attach";
/// Close reason on the control connection that ends the session.
pub const GOODBYE: &str = "detached";

/// Path of a session's streams.
pub fn stream(id: &SessionId) -> String {
    format!("{CONTROL}/{id}/stream")
}

/// An attached display or browser. It holds no address that could be used to connect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// The X display, for example `:0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub display: Option<String>,
    /// Whether the display can be watched live. Otherwise there are only screenshots.
    #[serde(default)]
    pub live_view: bool,
    /// Host and port of the browser's debugging protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub cdp: Option<String>,
}

/// The only message that the program sends.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// A name for people.
    #[serde(default)]
    pub label: String,
    /// What is attached.
    pub attached: Attached,
    /// Secret of a session to resume. Without it, a new session is created.
    #[serde(default)]
    #[schemars(extend("x-secret" = true))]
    pub secret: Option<String>,
}

/// A message from the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachReply {
    /// The session exists. The program opens streams now.
    Attached {
        /// The session's id.
        session_id: SessionId,
        /// Authenticates streams, and resumes the session later.
        secret: String,
        /// Page that shows the session.
        url: String,
    },
    /// The session is ready for calls.
    Ready,
    /// The server refused to attach, with the reason.
    Refused(ErrorBody),
}
