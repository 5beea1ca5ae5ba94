//! Why the guest could not do what was asked.

use std::io;

use helmdeck_browser::BrowserError;
use helmdeck_display::DisplayError;
use helmdeck_wire::{ErrorBody, ErrorCode};

/// A failure inside the sandbox.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// A program of the session itself could not be started.
    #[error("{program} cannot be started: {source}")]
    Spawn {
        /// Which program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program of the session ended while it was starting.
    #[error("{0} ended before it was ready")]
    Ended(&'static str),
    /// A program of the session is not ready in time.
    #[error("{program} is not ready after {seconds} s")]
    NotReady {
        /// Which program.
        program: &'static str,
        /// How long was waited.
        seconds: u64,
    },
    /// The nested sandbox is gone.
    #[error("the nested sandbox is gone")]
    NestGone,
    /// A file or socket failed.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// The X server refused or is gone.
    #[error(transparent)]
    Display(#[from] DisplayError),
    /// The structured browser could not.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The browser does not load an extension.
    #[error("extension {name:?} cannot be loaded: {reason}")]
    Extension {
        /// Which one.
        name: String,
        /// The browser's words.
        reason: String,
    },
    /// The session has begun already.
    #[error("the session has begun already")]
    BegunAlready,
    /// The session is not ready for actions.
    #[error("the session is not ready")]
    NotBegun,
    /// The agent asked for something that is not possible.
    #[error("{0}")]
    Refused(ErrorBody),
}

impl GuestError {
    /// What the caller is told.
    pub fn body(self) -> ErrorBody {
        let code = match &self {
            Self::Display(_) | Self::Browser(_) | Self::Refused(_) => return self.into_refusal(),
            Self::NotBegun => ErrorCode::SessionStarting,
            Self::NestGone => ErrorCode::GuestLost,
            Self::NotReady { .. } => ErrorCode::Timeout,
            Self::Spawn { .. }
            | Self::Ended(_)
            | Self::Io(..)
            | Self::Extension { .. }
            | Self::BegunAlready => ErrorCode::Internal,
        };
        ErrorBody::new(code, self.to_string())
    }

    fn into_refusal(self) -> ErrorBody {
        match self {
            Self::Display(error) => error.into(),
            Self::Browser(error) => error.body(),
            Self::Refused(body) => body,
            other => ErrorBody::new(ErrorCode::Internal, other.to_string()),
        }
    }
}
