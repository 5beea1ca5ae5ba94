//! Errors of calls over the link.

use std::time::Duration;

use helmdeck_wire::ErrorBody;

/// A failed call.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The guest could not be connected to.
    #[error("the guest cannot be reached")]
    Connect(#[source] std::io::Error),
    /// The connection broke during the call.
    #[error("the connection to the guest was lost")]
    Broken(#[source] hyper::Error),
    /// The request body ended early.
    #[error("the request body ended early")]
    BrokeOff,
    /// The guest did not answer before the deadline.
    #[error("the guest did not answer within {} s", .0.as_secs())]
    Deadline(Duration),
    /// The guest answered with an error.
    #[error("{0}")]
    Refused(ErrorBody),
    /// The guest's answer could not be parsed.
    #[error("the guest's answer is invalid: {0}")]
    Nonsense(String),
}
