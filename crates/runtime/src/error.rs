//! Why a sandbox could not be had.

use std::{io, path::PathBuf};

/// A failure of a runtime.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// A sandbox name with characters that must not stand in paths.
    #[error("{0:?} is not a sandbox name")]
    BadName(String),
    /// A sandbox of this name exists.
    #[error("the sandbox exists already")]
    Exists,
    /// The sandbox is over, or never was.
    #[error("the sandbox is gone{}", last_words(.0))]
    Gone(String),
    /// The sandbox ended before its guest ran.
    #[error("the sandbox did not start{}", last_words(.0))]
    NotStarted(String),
    /// A program we need is not installed.
    #[error("{0} cannot be run: install what `helmdeck doctor` names")]
    Missing(&'static str, #[source] io::Error),
    /// The sandbox did not end when it was killed.
    #[error("the sandbox does not end")]
    Stuck,
    /// A file operation failed.
    #[error("{action} {}", .path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
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

/// Names what was tried, for the error message.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, RuntimeError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, RuntimeError> {
        self.map_err(|e| RuntimeError::File { action, path: path.into(), source: e.into() })
    }
}
