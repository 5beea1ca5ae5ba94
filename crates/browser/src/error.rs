//! What can go wrong in the browser, and which public code each failure has.

use helmdeck_cdp::CdpError;
use helmdeck_wire::{ErrorBody, ErrorCode};

/// A failed action. The message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// There is no browser, and none came in time.
    #[error("the session's browser cannot be reached now: try again in a few seconds")]
    Unavailable,
    /// There is no browser, and it is known when the next is tried.
    #[error(
        "the session's browser ended ({how}) again and again; it is started again in {seconds} s: \
         try again then"
    )]
    Absent {
        /// How the last one ended.
        how: String,
        /// Until the next is tried.
        seconds: u64,
    },
    /// The browser died under the call.
    #[error("the browser died during the call and is being started again: try again")]
    Restarted,
    /// The tab crashed or was closed under the call.
    #[error(
        "the page crashed or was closed during the call: navigate again, or use another tab \
         that tabs lists"
    )]
    PageGone,
    /// No tab has this id.
    #[error("there is no tab {0}: expected an id that tabs lists")]
    TabNotFound(String),
    /// CSS that cannot be read.
    #[error("{selector:?} is no selector: {why}")]
    InvalidSelector {
        /// As it was given.
        selector: String,
        /// The browser's words.
        why: String,
    },
    /// No such element came in time.
    #[error("no element matches {selector}: {page}")]
    ElementNotFound {
        /// As it was given.
        selector: String,
        /// What the page shows.
        page: String,
    },
    /// A ref of a page that is gone, or of none.
    #[error("{0} names nothing on the page as it is now: take a new snapshot")]
    StaleRef(String),
    /// The element is there and cannot be used.
    #[error("{selector} is {element}, which {why}")]
    NotActionable {
        /// As it was given.
        selector: String,
        /// What was found.
        element: String,
        /// What is in the way.
        why: String,
    },
    /// The page could not be loaded.
    #[error("{url} could not be loaded: {why}")]
    Navigation {
        /// Where to.
        url: String,
        /// The browser's words.
        why: String,
    },
    /// A person has the browser for themselves.
    #[error("{by} signs in privately: the browser is theirs until that ends; wait and try again")]
    Private {
        /// Who it is.
        by: String,
    },
    /// A person drives, and has been asked something.
    #[error("a dialog is open ({0:?}), and the person who drives answers it: try again later")]
    DialogOpen(String),
    /// The script threw, or could not be read.
    #[error("the script failed: {0}")]
    Script(String),
    /// Something did not happen in time.
    #[error("{0}")]
    Timeout(String),
    /// Neither an address nor a step in the history.
    #[error("expected url, or history: back, forward or reload")]
    MissingUrl,
    /// A key action without keys.
    #[error("keys is empty: expected a key such as Enter or a chord such as Control+a")]
    MissingKeys,
    /// A name that no key has.
    #[error(
        "{0:?} is not a key: expected names such as Enter, ArrowDown, F5 or a, joined by + into \
         chords such as Control+Shift+t; use browser_type for text"
    )]
    UnknownKey(String),
    /// A file to upload that is not there.
    #[error("there is no file {0} in the session's home")]
    FileNotFound(String),
    /// A field that is missing for what was asked.
    #[error("{0}")]
    Invalid(&'static str),
    /// A field with a value that only the browser knows to be wrong.
    #[error("{field}: {why}")]
    Field {
        /// Where it stands.
        field: String,
        /// What is wrong, without what it says if that is a secret.
        why: String,
    },
    /// The browser refused what it should have done.
    #[error("the browser did not do as asked")]
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
            Self::Invalid(_) | Self::Field { .. } => ErrorCode::InvalidInput,
            Self::Browser(_) => ErrorCode::Internal,
        }
    }

    /// The failure as clients get it.
    pub fn body(self) -> ErrorBody {
        let message = match &self {
            Self::Browser(error) => format!("{self}: {error}"),
            _ => self.to_string(),
        };
        ErrorBody::new(self.code(), message)
    }
}

impl From<CdpError> for BrowserError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::BrowserGone => Self::Restarted,
            CdpError::TargetGone => Self::PageGone,
            CdpError::Deadline { .. } => Self::Timeout(
                "the page did not answer in time: it may be busy; look at it, or wait longer with \
                 timeout_s"
                    .to_owned(),
            ),
            error => Self::Browser(error),
        }
    }
}
