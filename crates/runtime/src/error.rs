//! Errors of a runtime.

use std::{io, path::PathBuf};

/// A failed runtime operation.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// A sandbox name with characters that paths must not contain.
    #[error("{0:?} is not a sandbox name")]
    BadName(String),
    /// A sandbox of this name exists.
    #[error("the sandbox already exists")]
    Exists,
    /// The sandbox has ended, or never existed.
    #[error("the sandbox is gone{}", last_words(.0))]
    Gone(String),
    /// The sandbox ended before its guest ran.
    #[error("the sandbox did not start{}", last_words(.0))]
    NotStarted(String),
    /// A required program is not installed.
    #[error("{0} cannot be run; install the packages that `helmdeck doctor` lists")]
    Missing(&'static str, #[source] io::Error),
    /// The backend runs no programs beside its sandboxes.
    #[error("{0} cannot run beside the sandboxes of this runtime")]
    CannotIsolate(&'static str),
    /// The sandbox did not end after it was killed.
    #[error("the sandbox does not end")]
    Stuck,
    /// A file operation failed.
    #[error("{action} {}", .path.display())]
    File {
        /// The attempted operation.
        action: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A system call failed.
    #[error("{0}")]
    System(&'static str, #[source] io::Error),
}

fn last_words(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(": {log}") }
}

/// Adds the attempted operation to an error.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, RuntimeError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, RuntimeError> {
        self.map_err(|e| RuntimeError::File { action, path: path.into(), source: e.into() })
    }
}
