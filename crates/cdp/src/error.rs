//! Why a call to the browser failed.

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub enum CdpError {
    /// The browser answered, and the answer is no.
    #[error("the browser refused {method}: {message} ({code})")]
    Refused {
        /// What was asked.
        method: String,
        /// The protocol's number for the reason.
        code: i64,
        /// The browser's words.
        message: String,
    },
    /// The page or worker was closed, has crashed, or its session was ended.
    #[error("the page is gone")]
    TargetGone,
    /// The pipe is closed: the browser has ended, or will.
    #[error("the browser is gone")]
    BrowserGone,
    /// There is no browser at this address, or none that lets us in.
    #[error("no browser answers there")]
    Unreachable(#[source] std::io::Error),
    /// There was no answer in time, or the browser did not even read the question.
    #[error("the browser did not answer {method} in time")]
    Deadline {
        /// What was asked.
        method: String,
    },
    /// The browser answered something we do not understand.
    #[error("the browser's answer makes no sense")]
    Nonsense(#[source] serde_json::Error),
    /// The parameters have no form in JSON.
    #[error("the parameters cannot be written")]
    Parameters(#[source] serde_json::Error),
    /// The question is longer than the browser can read, or the answer longer than we do.
    #[error("the message is too large")]
    TooLarge,
}
