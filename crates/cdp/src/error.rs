//! Why a call to the browser failed.

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub enum CdpError {
    /// The browser answered with an error.
    #[error("the browser refused {method}: {message} ({code})")]
    Refused {
        /// The method.
        method: String,
        /// The protocol's error code.
        code: i64,
        /// The browser's message.
        message: String,
    },
    /// The page or worker was closed or crashed, or its session ended.
    #[error("the page is gone")]
    TargetGone,
    /// The pipe is closed: the browser has ended, or will.
    #[error("the browser is gone")]
    BrowserGone,
    /// There is no browser at this address, or it refuses the connection.
    #[error("no browser answers at this address")]
    Unreachable(#[source] std::io::Error),
    /// The browser did not answer, or not even read the call, in time.
    #[error("the browser did not answer {method} in time")]
    Deadline {
        /// The method.
        method: String,
    },
    /// The answer could not be parsed.
    #[error("the browser's answer could not be understood")]
    Nonsense(#[source] serde_json::Error),
    /// The parameters cannot be serialized.
    #[error("the parameters could not be serialized")]
    Parameters(#[source] serde_json::Error),
    /// The call is too large for the browser, or the answer for us.
    #[error("the message is too large")]
    TooLarge,
}
