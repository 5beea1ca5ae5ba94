//! Errors of the guest.

use std::io;

use helmdeck_browser::BrowserError;
use helmdeck_display::DisplayError;
use helmdeck_wire::{ErrorBody, ErrorCode};

/// A failure inside the sandbox.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// A program of the session could not be started.
    #[error("{program} cannot be started: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A program of the session ended while it was starting.
    #[error("{0} ended before it was ready")]
    Ended(&'static str),
    /// A program of the session was not ready in time.
    #[error("{program} is not ready after {seconds} s")]
    NotReady {
        /// The program.
        program: &'static str,
        /// The time waited.
        seconds: u64,
    },
    /// The nested sandbox is gone.
    #[error("the nested sandbox is gone")]
    NestGone,
    /// An operation on a file or socket failed.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] io::Error),
    /// An error of the display.
    #[error(transparent)]
    Display(#[from] DisplayError),
    /// An error of the browser.
    #[error(transparent)]
    Browser(#[from] BrowserError),
    /// The browser refused an extension.
    #[error("extension {name:?} cannot be loaded: {reason}")]
    Extension {
        /// The extension.
        name: String,
        /// The browser's message.
        reason: String,
    },
    /// The session has begun already.
    #[error("the session has already begun")]
    BegunAlready,
    /// The session is not ready for actions.
    #[error("the session is not ready")]
    NotBegun,
    /// A request of the agent was refused.
    #[error("{0}")]
    Refused(ErrorBody),
}

impl GuestError {
    /// The code of the error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Display(error) => error.code(),
            Self::Browser(error) => error.code(),
            Self::Refused(body) => body.error,
            Self::NotBegun => ErrorCode::SessionStarting,
            Self::NestGone => ErrorCode::GuestLost,
            Self::NotReady { .. } => ErrorCode::Timeout,
            Self::Spawn { .. }
            | Self::Ended(_)
            | Self::Io(..)
            | Self::Extension { .. }
            | Self::BegunAlready => ErrorCode::Internal,
        }
    }

    /// The error as the caller receives it.
    pub fn body(self) -> ErrorBody {
        match self {
            Self::Display(error) => error.into(),
            Self::Browser(error) => error.body(),
            Self::Refused(body) => body,
            other => ErrorBody::new(other.code(), other.to_string()),
        }
    }
}
