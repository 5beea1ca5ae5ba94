//! Errors of the browser, and their public codes.

use helmdeck_cdp::CdpError;
use helmdeck_wire::{ErrorBody, ErrorCode};

/// A failed action. The message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// No browser is running, and none started in time.
    #[error("the session's browser is not reachable now; try again in a few seconds")]
    Unavailable,
    /// No browser is running, and the time of the next start is known.
    #[error(
        "the session's browser keeps ending ({how}); it restarts in {seconds} s; try again then"
    )]
    Absent {
        /// How the last browser ended.
        how: String,
        /// Time until the next start.
        seconds: u64,
    },
    /// The browser died during the call.
    #[error("the browser died during the call and is restarting; try again")]
    Restarted,
    /// The tab crashed or was closed during the call.
    #[error(
        "the page crashed or was closed during the call; navigate again, or use another tab \
         listed by tabs"
    )]
    PageGone,
    /// No tab has this id.
    #[error("there is no tab {0}; use an id listed by tabs")]
    TabNotFound(String),
    /// An invalid CSS selector.
    #[error("{selector:?} is not a selector: {why}")]
    InvalidSelector {
        /// The selector as given.
        selector: String,
        /// The browser's message.
        why: String,
    },
    /// No matching element appeared in time.
    #[error("no element matches {selector}: {page}")]
    ElementNotFound {
        /// The selector as given.
        selector: String,
        /// What the page shows instead.
        page: String,
    },
    /// A ref to a page that is gone, or one that never existed.
    #[error("{0} does not match anything on the current page; take a new snapshot")]
    StaleRef(String),
    /// The element exists but cannot be used.
    #[error("{selector} is {element}, which {why}")]
    NotActionable {
        /// The selector as given.
        selector: String,
        /// The element that was found.
        element: String,
        /// What prevents the use.
        why: String,
    },
    /// The page could not be loaded.
    #[error("{url} could not be loaded: {why}")]
    Navigation {
        /// The target address.
        url: String,
        /// The browser's message.
        why: String,
    },
    /// A person is using the browser for a private sign-in.
    #[error("{by} is signing in privately and has the browser until that ends; try again later")]
    Private {
        /// The person.
        by: String,
    },
    /// A person has control and must answer an open dialog.
    #[error("a dialog is open ({0:?}) and the person in control must answer it; try again later")]
    DialogOpen(String),
    /// The script threw, or is not valid.
    #[error("the script failed: {0}")]
    Script(String),
    /// A condition was not met in time.
    #[error("{0}")]
    Timeout(String),
    /// Neither an address nor a step in the history.
    #[error("expected url, or history: back, forward or reload")]
    MissingUrl,
    /// A key action without keys.
    #[error("keys is empty: expected a key such as Enter or a chord such as Control+a")]
    MissingKeys,
    /// An unknown key name.
    #[error(
        "{0:?} is not a key: expected names such as Enter, ArrowDown, F5 or a, joined by + into \
         chords such as Control+Shift+t; use browser_type for text"
    )]
    UnknownKey(String),
    /// The file to upload does not exist.
    #[error("there is no file {0} in the session's home")]
    FileNotFound(String),
    /// A missing or conflicting field.
    #[error("{message}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What is expected.
        message: &'static str,
    },
    /// A value that only the browser can reject.
    #[error("{field}: {why}")]
    Field {
        /// The path of the field.
        field: String,
        /// What is wrong. Secret values are not repeated.
        why: String,
    },
    /// The browser refused a command.
    #[error("the browser refused the command")]
    Browser(#[source] CdpError),
}

impl BrowserError {
    /// The public code of this failure.
    pub fn code(&self) -> ErrorCode {
        // No `_` arm: a new variant must choose its public code.
        match self {
            Self::Unavailable | Self::Absent { .. } => ErrorCode::CdpUnavailable,
            Self::Restarted => ErrorCode::BrowserRestarted,
            Self::PageGone => ErrorCode::PageCrashed,
            Self::TabNotFound(_) => ErrorCode::TabNotFound,
            Self::InvalidSelector { .. } => ErrorCode::InvalidSelector,
            Self::ElementNotFound { .. } | Self::StaleRef(_) => ErrorCode::ElementNotFound,
            Self::NotActionable { .. } => ErrorCode::ElementNotActionable,
            Self::Navigation { .. } => ErrorCode::NavigationFailed,
            Self::Private { .. } => ErrorCode::Private,
            Self::DialogOpen(_) => ErrorCode::ControlHeld,
            Self::Script(_) => ErrorCode::ScriptFailed,
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::MissingUrl => ErrorCode::MissingUrl,
            Self::MissingKeys => ErrorCode::MissingKeys,
            Self::UnknownKey(_) => ErrorCode::InvalidKeys,
            Self::FileNotFound(_) => ErrorCode::FileNotFound,
            Self::Invalid { .. } | Self::Field { .. } => ErrorCode::InvalidInput,
            Self::Browser(_) => ErrorCode::Internal,
        }
    }

    /// The invalid field of the request, if that is the reason.
    fn field(&self) -> Option<&str> {
        match self {
            Self::Field { field, .. } => Some(field),
            Self::Invalid { field, .. } => Some(field),
            Self::InvalidSelector { .. } => Some("selector"),
            Self::MissingUrl => Some("url"),
            Self::MissingKeys | Self::UnknownKey(_) => Some("keys"),
            Self::FileNotFound(_) => Some("files"),
            _ => None,
        }
    }

    /// The error as clients receive it.
    pub fn body(self) -> ErrorBody {
        let message = match &self {
            Self::Browser(error) => format!("{self}: {error}"),
            _ => self.to_string(),
        };
        let field = self.field().map(str::to_owned);
        ErrorBody { field, ..ErrorBody::new(self.code(), message) }
    }
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::BrowserGone => Self::Restarted,
            CdpError::TargetGone => Self::PageGone,
            CdpError::Deadline { .. } => Self::Timeout(
                "the page did not answer in time: it may be busy; take a screenshot, or raise \
                 timeout_s"
                    .to_owned(),
            ),
            error => Self::Browser(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_field_that_is_wrong() {
        let why = String::from("no");
        for (error, field) in [
            (BrowserError::Field { field: "state.cookies[1]".to_owned(), why }, "state.cookies[1]"),
            (BrowserError::MissingUrl, "url"),
            (BrowserError::UnknownKey("f".to_owned()), "keys"),
        ] {
            assert_eq!(error.body().field.as_deref(), Some(field));
        }
        assert_eq!(BrowserError::PageGone.body().field, None);
    }
}
