//! Errors of a display, and their public codes.

use std::time::Duration;

use helmdeck_wire::{ErrorBody, ErrorCode};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};

/// A failed action. The message states what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// A point is off the screen.
    #[error(
        "({x}, {y}) is not on the screen, which is {width}x{height}: x must be 0 to {}, y 0 to {}",
        width - 1, height - 1
    )]
    OffScreen {
        /// The field of the coordinate that is off the screen.
        field: String,
        /// The point.
        x: i32,
        /// The point.
        y: i32,
        /// The screen's size.
        width: u16,
        /// The screen's size.
        height: u16,
    },
    /// One of two coordinates is missing, or an end of a drag.
    #[error("{expected}")]
    IncompletePoint {
        /// The missing field.
        field: &'static str,
        /// What is expected.
        expected: &'static str,
    },
    /// The region is empty or extends beyond the screen.
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
    /// A scroll amount of zero.
    #[error("amount is 0; use 1 to 50 wheel notches")]
    ZeroAmount,
    /// A modifier click without modifiers.
    #[error("modifiers is empty: expected at least one of shift, ctrl, alt, super")]
    MissingModifiers,
    /// A key action without keys.
    #[error("keys is empty: expected a key such as Return or a chord such as ctrl+a")]
    MissingKeys,
    /// An unknown key name.
    #[error(
        "{0:?} is not a key: expected X keysym names such as Return, Page_Up, F5 or a, joined by \
         + into chords such as ctrl+shift+t; use type for text"
    )]
    UnknownKey(String),
    /// Several chords where one is allowed.
    #[error("hold_key holds one chord: {0:?} names several")]
    SeveralChords(String),
    /// An empty text.
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
    /// The text exceeds the limit of one action.
    #[error("the text is too long: expected at most {limit} {unit}")]
    TextTooLong {
        /// The most that is allowed.
        limit: usize,
        /// The unit of the limit.
        unit: &'static str,
    },
    /// The text needs more spare keys than the keyboard has.
    #[error("the keyboard has no free key to type {0:?} with")]
    NoFreeKey(String),
    /// No managed window has this id.
    #[error("no window has the id {0}; use an id listed by windows")]
    WindowNotFound(u32),
    /// The window manager did not focus the window.
    #[error("the window manager did not focus window {0}")]
    FocusRefused(u32),
    /// An unsupported screen size.
    #[error("{width}x{height} is not a screen size: expected 320x200 to 7680x4320")]
    Geometry {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
    },
    /// A condition was not met in time.
    #[error("{what} did not happen within {waited:?}")]
    Timeout {
        /// The condition.
        what: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The X server is gone or does not answer.
    #[error("the session's display is gone")]
    Lost(#[source] std::io::Error),
    /// The X server lacks a required feature.
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
    /// The public code of this error.
    pub fn code(&self) -> ErrorCode {
        // No `_` arm: a new variant must choose its public code.
        match self {
            Self::OffScreen { .. } | Self::IncompletePoint { .. } => ErrorCode::InvalidCoordinates,
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

    /// The invalid field of the request, if that is the reason.
    fn field(&self) -> Option<&str> {
        match self {
            Self::OffScreen { field, .. } => Some(field),
            Self::IncompletePoint { field, .. } => Some(field),
            Self::ZeroAmount => Some("amount"),
            Self::MissingModifiers => Some("modifiers"),
            Self::MissingKeys
            | Self::UnknownKey(_)
            | Self::SeveralChords(_)
            | Self::TextTooLong { unit: "chords", .. } => Some("keys"),
            Self::MissingText
            | Self::UntypableText { .. }
            | Self::TextTooLong { unit: "characters", .. } => Some("text"),
            Self::WindowNotFound(_) => Some("window_id"),
            _ => None,
        }
    }
}

impl From<DisplayError> for ErrorBody {
    fn from(error: DisplayError) -> Self {
        let field = error.field().map(str::to_owned);
        Self { field, ..Self::new(error.code(), error.to_string()) }
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
