//! What can go wrong on a display, and which public code each failure has.

use std::time::Duration;

use helmdeck_wire::{ErrorBody, ErrorCode};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};

/// A failed action. The message says what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// A point is off the screen.
    #[error(
        "({x}, {y}) is not on the screen, which is {width}x{height}: x must be 0 to {}, y 0 to {}",
        width - 1, height - 1
    )]
    OffScreen {
        /// The point.
        x: i32,
        /// The point.
        y: i32,
        /// The screen's size.
        width: u16,
        /// The screen's size.
        height: u16,
    },
    /// Only one of two coordinates was given, or an end of a drag is missing.
    #[error("{0}")]
    IncompletePoint(&'static str),
    /// The region is empty or sticks out of the screen.
    #[error(
        "the region has no area or lies off the screen, which is {width}x{height}: \
         the corners must differ in x and y, with x from 0 to {width} and y from 0 to {height}"
    )]
    Region {
        /// The screen's size.
        width: u16,
        /// The screen's size.
        height: u16,
    },
    /// Scrolling by nothing.
    #[error("amount is 0: expected 1 to 50 notches of the wheel")]
    ZeroAmount,
    /// A click with modifiers that names none.
    #[error("modifiers is empty: expected at least one of shift, ctrl, alt, super")]
    MissingModifiers,
    /// A key action without keys.
    #[error("keys is empty: expected a key such as Return or a chord such as ctrl+a")]
    MissingKeys,
    /// A name that no key has.
    #[error(
        "{0:?} is not a key: expected X keysym names such as Return, Page_Up, F5 or a, joined by \
         + into chords such as ctrl+shift+t; use type for text"
    )]
    UnknownKey(String),
    /// More than one chord cannot be held.
    #[error("hold_key holds one chord: {0:?} names several")]
    SeveralChords(String),
    /// Typing nothing.
    #[error("text is empty: expected at least one character")]
    MissingText,
    /// A character without a key.
    #[error(
        "the text holds U+{code:04X} at character {at}, which no key can type: expected printable \
         characters, newline and tab"
    )]
    UntypableText {
        /// The character's code point.
        code: u32,
        /// Its place in the text, from 0.
        at: usize,
    },
    /// More text than one action may carry.
    #[error("the text is too long: expected at most {limit} {unit}")]
    TextTooLong {
        /// The most that is allowed.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
    /// More characters are missing from the keyboard than it has room for.
    #[error("the keyboard has no free key to type {0:?} with")]
    NoFreeKey(String),
    /// No managed window has this id.
    #[error("no window has the id {0}: expected an id that windows lists")]
    WindowNotFound(u32),
    /// The window manager did not do as asked.
    #[error("the window manager did not focus window {0}")]
    FocusRefused(u32),
    /// The screen cannot have this size.
    #[error("{width}x{height} is not a screen size: expected 320x200 to 7680x4320")]
    Geometry {
        /// What was asked for.
        width: u32,
        /// What was asked for.
        height: u32,
    },
    /// Something did not happen in time.
    #[error("{what} did not happen within {waited:?}")]
    Timeout {
        /// What was waited for.
        what: String,
        /// For how long.
        waited: Duration,
    },
    /// The X server is gone or does not answer.
    #[error("the session's display is gone")]
    Lost(#[source] std::io::Error),
    /// The X server lacks something we need.
    #[error("the X server lacks {0}")]
    Unsupported(&'static str),
    /// The X server refused a request.
    #[error("the X server refused a request: {0}")]
    Refused(String),
    /// A picture could not be encoded.
    #[error("the picture could not be encoded")]
    Encode(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl DisplayError {
    /// The public code of this failure.
    pub fn code(&self) -> ErrorCode {
        // No `_` arm: a new variant must choose its public code.
        match self {
            Self::OffScreen { .. } | Self::IncompletePoint(_) => ErrorCode::InvalidCoordinates,
            Self::Region { .. } => ErrorCode::InvalidRegion,
            Self::ZeroAmount => ErrorCode::InvalidAmount,
            Self::MissingModifiers => ErrorCode::MissingModifiers,
            Self::MissingKeys => ErrorCode::MissingKeys,
            Self::UnknownKey(_) | Self::SeveralChords(_) => ErrorCode::InvalidKeys,
            Self::MissingText => ErrorCode::MissingText,
            Self::UntypableText { .. } => ErrorCode::InvalidText,
            Self::TextTooLong { .. } => ErrorCode::PayloadTooLarge,
            Self::WindowNotFound(_) => ErrorCode::WindowNotFound,
            Self::FocusRefused(_) => ErrorCode::FocusRefused,
            Self::Geometry { .. } => ErrorCode::InvalidGeometry,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Lost(_) => ErrorCode::DisplayLost,
            Self::NoFreeKey(_) | Self::Unsupported(_) | Self::Refused(_) | Self::Encode(_) => {
                ErrorCode::Internal
            }
        }
    }
}

impl From<DisplayError> for ErrorBody {
    fn from(error: DisplayError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<ConnectionError> for DisplayError {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::UnsupportedExtension => Self::Unsupported("an extension"),
            ConnectionError::MaximumRequestLengthExceeded => {
                Self::Refused("it is too long".to_owned())
            }
            ConnectionError::IoError(error) => Self::Lost(error),
            other => Self::Lost(std::io::Error::other(other)),
        }
    }
}

impl From<ReplyError> for DisplayError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => Self::Refused(format!(
                "{:?} for {}",
                error.error_kind,
                error.request_name.unwrap_or("a request")
            )),
        }
    }
}

impl From<ReplyOrIdError> for DisplayError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => ReplyError::X11Error(error).into(),
            ReplyOrIdError::IdsExhausted => Self::Refused("no ids are left".to_owned()),
        }
    }
}

impl From<ConnectError> for DisplayError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::IoError(error) => Self::Lost(error),
            other => Self::Lost(std::io::Error::other(other)),
        }
    }
}
