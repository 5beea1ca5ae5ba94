//! Where sandboxes come from.

use async_trait::async_trait;

/// Where sandboxes come from.
#[async_trait]
pub trait Runtime: Send + Sync + 'static {}

/// Why a sandbox could not be had.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The machine lacks something.
    #[error("{0}")]
    Unavailable(String),
}
